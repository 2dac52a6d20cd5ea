"""The columns of exports, and the SQL queries that fill them.

Plain SQL, because an export of ten million rows is too large for model instances.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.db import connection

from analysis.models import GoldRun
from analysis.stats.roles import Role
from hits.models import Assignment, Campaign, Participation
from hits.post_editing.checked import checked_editions
from hits.rating.places import with_standing


class Kind(Enum):
    """The type of a column's cells, any of which may be empty."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    # Text such as 2026-03-01T09:30:00.000000Z, always UTC.
    TIME = "time"
    # Several texts.
    NAMES = "names"
    # Ids that are replaced by pseudonyms.
    WORKER = "worker"
    ASSIGNMENT = "assignment"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an export, and the SQL expression for its cells if a query fills it."""

    name: str
    kind: Kind
    sql: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A query and its columns."""

    columns: tuple[Column, ...]
    tables: str
    parameters: Sequence[Any]
    before: str = ""

    @property
    def sql(self) -> str:
        cells = ", ".join(column.sql for column in self.columns)
        return f"{self.before} SELECT {cells} {self.tables}"


# --- differences between the databases ------------------------------------------------------------


def _is_postgresql() -> bool:
    return connection.vendor == "postgresql"


def _time(name: str) -> str:
    """Format a time as text in SQL: converting it in Python would cost more than all the rest."""
    if _is_postgresql():
        return f"""to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
    # SQLite stores text, without a fraction if it is zero.
    fraction = f"CASE length({name}) WHEN 19 THEN '.000000Z' ELSE 'Z' END"
    return f"replace({name}, ' ', 'T') || {fraction}"


def _json_list(name: str) -> str:
    """Aggregate texts into a JSON list, since any separator may occur in a text."""
    return f"json_agg({name})::text" if _is_postgresql() else f"json_group_array({name})"


def _hex_code(name: str) -> str:
    """Format a UUID as 32 digits, as SQLite stores it."""
    return f"replace({name}::text, '-', '')" if _is_postgresql() else name


# --- ratings and evidence -------------------------------------------------------------------------

_WORKER = Column("worker", Kind.WORKER, "w.provider || ':' || w.external_id")
# A decision by hand, or else the evidence: see Participation.state.
_WORKER_STATE = Column(
    "worker_state", Kind.TEXT, "coalesce(nullif(p.decision, ''), p.trust, 'unproven')"
)
# The worker drifted, no person decided otherwise, and the campaign leaves this rating out: see `with_standing`.
_IS_LEFT_OUT_BY_DRIFT = f"""
    CASE WHEN p.decision = '' AND p.trust = '{Participation.Trust.DRIFTING}' AND (
        c.drift = '{Campaign.Drift.LEAVE_OUT}'
        OR (c.drift = '{Campaign.Drift.LEAVE_OUT_SINCE}'
            AND (a.submitted_at IS NULL OR p.drifted_at <= a.submitted_at)))
    THEN 1 ELSE 0 END"""
_ROLE_NAMES = " ".join(f"WHEN {role.value} THEN '{role.name.lower()}'" for role in Role)
# Only for the items that showed it: the same text in every rating of the segment would make files many times larger,
# and with published degradation references are shown as they are.
_SECOND_REFERENCE = f"""
    CASE WHEN i.role = {Role.REFERENCE.value} AND i.text = f.second_reference THEN i.text ELSE '' END"""


_PLACE = (
    Column("campaign", Kind.TEXT, "c.name"),
    Column("hit", Kind.INTEGER, "h.number"),
    Column("assignment", Kind.ASSIGNMENT, _hex_code("a.code")),
    _WORKER,
    Column("provider", Kind.TEXT, "w.provider"),
    _WORKER_STATE,
    Column("position", Kind.INTEGER, "i.position"),
    Column("role", Kind.TEXT, f"CASE i.role {_ROLE_NAMES} END"),
    Column("segment", Kind.TEXT, "f.segment"),
    Column("document", Kind.TEXT, "f.document"),
    Column("systems", Kind.NAMES, "f.systems"),
)
_TIMES_AND_STATE = (
    Column("received_at", Kind.TIME, _time("r.received_at")),
    Column("elapsed_ms", Kind.INTEGER, "r.elapsed_ms"),
    Column("active_ms", Kind.INTEGER, "r.active_ms"),
    Column("assignment_status", Kind.TEXT, "a.status"),
    Column("is_late", Kind.FLAG, "a.is_late"),
    Column("is_rejected", Kind.FLAG, "a.is_rejected"),
    Column("hold", Kind.TEXT, "a.hold"),
    Column("hold_reason", Kind.TEXT, "a.hold_reason"),
    Column("is_left_out_by_drift", Kind.FLAG, _IS_LEFT_OUT_BY_DRIFT),
)


def ratings(campaign: Campaign) -> Query:
    """Select every rating, by HIT and assignment, in the order of the items."""
    score = Column("score", Kind.INTEGER, "r.score")
    second_reference = Column("second_reference", Kind.TEXT, _SECOND_REFERENCE)
    place = Column("place", Kind.INTEGER, "r.place")
    columns = (*_PLACE, score, *_TIMES_AND_STATE, second_reference, place)
    return _answers(campaign, "hits_rating", columns)


def document_ratings(campaign: Campaign) -> Query:
    """Select every score of a whole document, at the place of its run's last item."""
    score = Column("score", Kind.INTEGER, "r.score")
    n_segments = Column(
        "n_segments",
        Kind.INTEGER,
        "(SELECT count(*) FROM hits_item n WHERE n.hit_id = i.hit_id AND n.run = i.run)",
    )
    columns = (*_PLACE, n_segments, score, *_TIMES_AND_STATE)
    return _answers(campaign, "hits_documentrating", columns)


def ranks(campaign: Campaign) -> Query:
    """Select every rank, screen by screen in the order shown; the last column is the translation."""
    own = (
        Column("screen", Kind.INTEGER, "i.screen"),
        Column("place", Kind.INTEGER, "r.place"),
        Column("rank", Kind.INTEGER, "r.rank"),
        Column("skip", Kind.TEXT, "r.skip"),
    )
    trusted, parameters = _trusted(campaign)
    translation = Column("translation", Kind.INTEGER, "i.translation_id")
    return _answers(
        campaign,
        "hits_rank",
        (*_PLACE, *own, *_TIMES_AND_STATE, _IS_TRUSTED, translation),
        joins=f"LEFT JOIN ({trusted}) q ON q.id = a.id",
        parameters=parameters,
        order="h.number, a.id, i.screen, r.place",
    )


# Whether an answer counts: of those that `_trusted` finds, joined as q.
_IS_TRUSTED = Column("is_trusted", Kind.FLAG, "CASE WHEN q.id IS NULL THEN 0 ELSE 1 END")


def _trusted(campaign: Campaign) -> tuple[str, Sequence[Any]]:
    """Return SQL that finds the assignments of trusted workers that count, with its parameters."""
    counted = with_standing(Assignment.objects.counted().filter(hit__campaign=campaign))
    rows = counted.filter(is_trusted=True).values("id").query
    sql, parameters = rows.get_compiler(connection=connection).as_sql()
    return sql, parameters


def rating_query(campaign: Campaign, texts: tuple[Column, ...], condition: str) -> Query:
    """Select ratings with these texts, only those under a condition in SQL."""
    score = Column("score", Kind.INTEGER, "r.score")
    columns = (*_PLACE, *texts, score, *_TIMES_AND_STATE)
    return _answers(campaign, "hits_rating", columns, condition=condition)


def post_editions(campaign: Campaign) -> Query:
    """Select every post-edition, by HIT and assignment, in the order of the items."""
    texts = (
        Column("source", Kind.TEXT, "s.source"),
        Column("reference", Kind.TEXT, "s.reference"),
        Column("shown", Kind.TEXT, "i.text"),
        Column("post_edition", Kind.TEXT, "r.text"),
    )
    counts = tuple(
        Column(name, Kind.INTEGER, f"r.{name}") for name in ("field_ms", "keys", "pastes", "pasted")
    )
    # Empty unless a trusted worker has checked it in another campaign.
    check = (
        Column("checked_text", Kind.TEXT, "k.text"),
        Column("checker", Kind.WORKER, "coalesce(kw.provider || ':' || kw.external_id, '')"),
    )
    checks, parameters = (
        checked_editions(campaign)
        .values("assignment_id", "item_id", "text", "checker")
        .query.get_compiler(connection=connection)
        .as_sql()
    )
    trusted, parameters_of_trust = _trusted(campaign)
    joins = f"""
        LEFT JOIN ({checks}) k ON k.assignment_id = a.id AND k.item_id = i.id
        LEFT JOIN hits_worker kw ON kw.id = k.checker
        LEFT JOIN ({trusted}) q ON q.id = a.id"""
    # Whether gold is made from it, if it is of an output.
    columns = (*_PLACE, *texts, *counts, *_TIMES_AND_STATE, *check, _IS_TRUSTED)
    return _answers(
        campaign,
        "hits_postedition",
        columns,
        joins=joins,
        parameters=[*parameters, *parameters_of_trust],
    )


def _answers(
    campaign: Campaign,
    table: str,
    columns: tuple[Column, ...],
    *,
    joins: str = "",
    parameters: Sequence[Any] = (),
    condition: str = "",
    order: str = "h.number, a.id, i.position",
) -> Query:
    # A translation is rated some twenty times, so its facts are collected once.
    facts = f"""
        WITH facts (translation_id, segment_id, segment, document, second_reference, systems) AS MATERIALIZED (
            SELECT t.id, s.id, s.name, s.document, s.second_reference, {_json_list("y.name")}
            FROM hits_segment s
            JOIN hits_translation t ON t.segment_id = s.id
            LEFT JOIN hits_systemoutput o ON o.translation_id = t.id
            LEFT JOIN hits_system y ON y.id = o.system_id
            WHERE s.campaign_id = %s
            GROUP BY t.id, s.id)"""
    needs_texts = any(column.sql.startswith("s.") for column in columns)
    segments = "JOIN hits_segment s ON s.id = f.segment_id" if needs_texts else ""
    tables = f"""
        FROM hits_campaign c
        JOIN hits_hit h ON h.campaign_id = c.id
        JOIN hits_assignment a ON a.hit_id = h.id
        JOIN {table} r ON r.assignment_id = a.id
        JOIN hits_item i ON i.id = r.item_id
        JOIN facts f ON f.translation_id = i.translation_id
        {segments}
        JOIN hits_worker w ON w.id = a.worker_id
        LEFT JOIN hits_participation p ON p.worker_id = w.id AND p.campaign_id = c.id
        {joins}
        WHERE c.id = %s {condition}
        ORDER BY {order}"""
    return Query(columns, tables, [campaign.pk, *parameters, campaign.pk], before=facts)


def reports(campaign: Campaign) -> Query:
    """Select what workers reported about texts, in the order of the HITs."""
    columns = (
        Column("campaign", Kind.TEXT, "c.name"),
        Column("hit", Kind.INTEGER, "h.number"),
        Column("assignment", Kind.ASSIGNMENT, _hex_code("a.code")),
        _WORKER,
        Column("provider", Kind.TEXT, "w.provider"),
        _WORKER_STATE,
        Column("position", Kind.INTEGER, "i.position"),
        Column("role", Kind.TEXT, f"CASE i.role {_ROLE_NAMES} END"),
        Column("segment", Kind.TEXT, "s.name"),
        Column("text", Kind.TEXT, "i.text"),
        Column("reason", Kind.TEXT, "e.reason"),
        Column("reported_at", Kind.TIME, _time("e.reported_at")),
    )
    tables = """
        FROM hits_textreport e
        JOIN hits_item i ON i.id = e.item_id
        JOIN hits_translation t ON t.id = i.translation_id
        JOIN hits_segment s ON s.id = t.segment_id
        JOIN hits_assignment a ON a.id = e.assignment_id
        JOIN hits_hit h ON h.id = a.hit_id
        JOIN hits_campaign c ON c.id = h.campaign_id
        JOIN hits_worker w ON w.id = a.worker_id
        LEFT JOIN hits_participation p ON p.worker_id = w.id AND p.campaign_id = c.id
        WHERE c.id = %s
        ORDER BY h.number, a.id, i.position"""
    return Query(columns, tables, [campaign.pk])


_EVIDENCE_COLUMNS = (
    ("origin", Kind.TEXT),
    ("verdict", Kind.TEXT),
    ("n_hits", Kind.INTEGER),
    ("n_pairs", Kind.INTEGER),
    ("mean_difference", Kind.NUMBER),
    ("t", Kind.NUMBER),
    ("p", Kind.NUMBER),
    ("wilcoxon_p", Kind.NUMBER),
    ("n_repeats", Kind.INTEGER),
    ("repeat_mean_difference", Kind.NUMBER),
    ("repeat_mean_absolute_difference", Kind.NUMBER),
    ("repeat_p", Kind.NUMBER),
    ("window_n_pairs", Kind.INTEGER),
    ("window_p", Kind.NUMBER),
    ("mean_genuine", Kind.NUMBER),
    ("mean_bad_reference", Kind.NUMBER),
    ("mean_reference", Kind.NUMBER),
    ("fastest_hit_seconds", Kind.NUMBER),
    ("longest_run", Kind.INTEGER),
    ("n_rejected", Kind.INTEGER),
    ("has_scores_flag", Kind.FLAG),
    ("has_time_flag", Kind.FLAG),
    ("has_sequence_flag", Kind.FLAG),
    ("has_rejection_flag", Kind.FLAG),
    ("n_agreement_items", Kind.INTEGER),
    ("agreement_r", Kind.NUMBER),
    ("agreement_p", Kind.NUMBER),
    ("likeness_measure", Kind.TEXT),
    ("likeness_r", Kind.NUMBER),
    ("has_likeness_flag", Kind.FLAG),
    ("median_gap_seconds", Kind.NUMBER),
    ("share_fast", Kind.NUMBER),
    ("claimed_seconds", Kind.NUMBER),
    ("passed_seconds", Kind.NUMBER),
    ("n_held_hits", Kind.INTEGER),
    ("drifted_at", Kind.TIME),
    ("signature", Kind.TEXT),
)


def evidence(campaign: Campaign, *, history: bool) -> Query:
    """Select the latest evidence of each worker, or the evidence after every HIT."""
    columns = (
        Column("campaign", Kind.TEXT, "c.name"),
        _WORKER,
        Column("provider", Kind.TEXT, "w.provider"),
        _WORKER_STATE,
        Column("decision", Kind.TEXT, "p.decision"),
        Column("assignment", Kind.ASSIGNMENT, _hex_code("a.code")),
        Column("hit", Kind.INTEGER, "h.number"),
        Column("computed_at", Kind.TIME, _time("e.computed_at")),
        *(
            Column(name, kind, _time(f"e.{name}") if kind == Kind.TIME else f"e.{name}")
            for name, kind in _EVIDENCE_COLUMNS
        ),
        # Numbers that only some kinds of task have, as JSON.
        Column("details", Kind.TEXT, "CAST(e.details AS TEXT)"),
    )
    only_latest = """AND e.id = (SELECT max(latest.id) FROM hits_evidence latest
                                 WHERE latest.participation_id = p.id)"""
    tables = f"""
        FROM hits_participation p
        JOIN hits_campaign c ON c.id = p.campaign_id
        JOIN hits_worker w ON w.id = p.worker_id
        JOIN hits_evidence e ON e.participation_id = p.id
        JOIN hits_assignment a ON a.id = e.assignment_id
        JOIN hits_hit h ON h.id = a.hit_id
        WHERE p.campaign_id = %s {"" if history else only_latest}
        ORDER BY p.id, e.id"""
    return Query(columns, tables, [campaign.pk])


# --- signals --------------------------------------------------------------------------------------

# In the order of `hits.rating.signals.COUNTS`.
_SIGNAL_COUNTS = ("pointer", "keys", "touches", "focus_lost", "scripted")


def signals(campaign: Campaign) -> Query:
    """Select what the browser counted for each item; a HIT without usable counts has one row without a position."""
    if _is_postgresql():
        items = "LEFT JOIN LATERAL jsonb_array_elements(s.items) WITH ORDINALITY e(counts, place) ON TRUE"
        position, count = "e.place::int", "(e.counts ->> {})::int"
    else:
        items = "LEFT JOIN json_each(s.items) e"
        position, count = "e.key + 1", "json_extract(e.value, '$[{}]')"
    columns = (
        Column("campaign", Kind.TEXT, "c.name"),
        Column("hit", Kind.INTEGER, "h.number"),
        Column("assignment", Kind.ASSIGNMENT, _hex_code("a.code")),
        _WORKER,
        Column("provider", Kind.TEXT, "w.provider"),
        _WORKER_STATE,
        Column("position", Kind.INTEGER, position),
        *(
            Column(name, Kind.INTEGER, count.format(place))
            for place, name in enumerate(_SIGNAL_COUNTS)
        ),
        Column("comment_pastes", Kind.INTEGER, "s.n_comment_pastes"),
        # Empty if there was no canary, so not a flag.
        Column(
            "followed_canary",
            Kind.INTEGER,
            "CASE WHEN s.followed_canary THEN 1 WHEN NOT s.followed_canary THEN 0 END",
        ),
    )
    tables = f"""
        FROM hits_campaign c
        JOIN hits_hit h ON h.campaign_id = c.id
        JOIN hits_assignment a ON a.hit_id = h.id
        JOIN hits_inputsignals s ON s.assignment_id = a.id
        {items}
        JOIN hits_worker w ON w.id = a.worker_id
        LEFT JOIN hits_participation p ON p.worker_id = w.id AND p.campaign_id = c.id
        WHERE c.id = %s
        ORDER BY h.number, a.id, {position}"""
    return Query(columns, tables, [campaign.pk])


# --- answers about themselves -------------------------------------------------------------------------


def answers(campaign: Campaign) -> Query:
    """Select what workers answered to the questionnaire, one row for each answer."""
    given = "jsonb_each_text(q.answers)" if _is_postgresql() else "json_each(q.answers)"
    columns = (
        Column("campaign", Kind.TEXT, "c.name"),
        _WORKER,
        Column("provider", Kind.TEXT, "w.provider"),
        _WORKER_STATE,
        Column(
            "is_screened_out",
            Kind.FLAG,
            "CASE WHEN p.screened_out_at IS NULL THEN 0 ELSE 1 END",
        ),
        Column("moment", Kind.TEXT, "q.moment"),
        Column("question", Kind.TEXT, "e.key"),
        Column("answer", Kind.TEXT, "CAST(e.value AS TEXT)"),
        Column("answered_at", Kind.TIME, _time("q.answered_at")),
    )
    tables = f"""
        FROM hits_questionnairereply q
        JOIN hits_participation p ON p.id = q.participation_id
        JOIN hits_campaign c ON c.id = p.campaign_id
        JOIN hits_worker w ON w.id = p.worker_id
        JOIN {given} e ON TRUE
        WHERE p.campaign_id = %s
        ORDER BY q.id, e.key"""
    return Query(columns, tables, [campaign.pk])


# --- gold -----------------------------------------------------------------------------------------


def segments(run: GoldRun) -> Query:
    """Select the score of every output, by system, including outputs without ratings."""
    columns = (
        Column("campaign", Kind.TEXT, "c.name"),
        Column("system", Kind.TEXT, "y.name"),
        Column("segment", Kind.TEXT, "s.name"),
        Column("position", Kind.INTEGER, "s.position"),
        Column("document", Kind.TEXT, "s.document"),
        Column("raw", Kind.NUMBER, "g.raw"),
        Column("z", Kind.NUMBER, "g.z"),
        Column("raw_se", Kind.NUMBER, "g.raw_se"),
        Column("z_se", Kind.NUMBER, "g.z_se"),
        Column("z_low", Kind.NUMBER, "g.z_low"),
        Column("z_high", Kind.NUMBER, "g.z_high"),
        Column("n", Kind.INTEGER, "coalesce(g.n, 0)"),
        Column("n_ratings", Kind.INTEGER, "coalesce(g.n_ratings, 0)"),
        Column("is_complete", Kind.FLAG, "coalesce(g.is_complete, %s)"),
        # Rows with the same translation share one score and are not independent.
        Column("translation", Kind.INTEGER, "o.translation_id"),
    )
    tables = """
        FROM hits_system y
        JOIN hits_campaign c ON c.id = y.campaign_id
        JOIN hits_systemoutput o ON o.system_id = y.id
        JOIN hits_segment s ON s.id = o.segment_id
        LEFT JOIN analysis_goldscore g ON g.translation_id = o.translation_id AND g.run_id = %s
        WHERE y.campaign_id = %s
        ORDER BY y.id, s.position"""
    return Query(columns, tables, [False, run.pk, run.campaign_id])


def weights(run: GoldRun) -> Query:
    """Select what each worker's ratings were worth in a weighted run, and why."""
    columns = (
        Column("campaign", Kind.TEXT, "c.name"),
        _WORKER,
        Column("provider", Kind.TEXT, "w.provider"),
        Column("weight", Kind.NUMBER, "g.weight"),
        Column("discrimination", Kind.NUMBER, "g.discrimination"),
        Column("own_discrimination", Kind.NUMBER, "g.own_discrimination"),
        Column("n_pairs", Kind.INTEGER, "g.n_pairs"),
        Column("agreement", Kind.NUMBER, "g.agreement"),
        Column("repeat_variance", Kind.NUMBER, "g.repeat_variance"),
        Column("own_repeat_variance", Kind.NUMBER, "g.own_repeat_variance"),
        Column("n_repeats", Kind.INTEGER, "g.n_repeats"),
    )
    tables = """
        FROM analysis_goldweight g
        JOIN analysis_goldrun r ON r.id = g.run_id
        JOIN hits_campaign c ON c.id = r.campaign_id
        JOIN hits_worker w ON w.id = g.worker_id
        WHERE g.run_id = %s
        ORDER BY w.id"""
    return Query(columns, tables, [run.pk])


def complete_segments(run: GoldRun) -> Query:
    """Select the outputs that have a score."""
    columns = (
        Column("system", Kind.TEXT, "y.name"),
        Column("segment", Kind.TEXT, "s.name"),
        Column("raw", Kind.NUMBER, "g.raw"),
        Column("z", Kind.NUMBER, "g.z"),
        Column("n", Kind.INTEGER, "g.n"),
    )
    tables = """
        FROM hits_system y
        JOIN hits_systemoutput o ON o.system_id = y.id
        JOIN hits_segment s ON s.id = o.segment_id
        JOIN analysis_goldscore g ON g.translation_id = o.translation_id AND g.run_id = %s
        WHERE y.campaign_id = %s AND g.is_complete
        ORDER BY y.id, s.position"""
    return Query(columns, tables, [run.pk, run.campaign_id])


def every_cell(run: GoldRun, score: str) -> Query:
    """Select a score for every system and segment, empty if it is incomplete or has no output."""
    columns = (
        Column("system", Kind.TEXT, "y.name"),
        Column("score", Kind.NUMBER, f"g.{score}"),
    )
    tables = """
        FROM hits_system y
        JOIN hits_segment s ON s.campaign_id = y.campaign_id
        LEFT JOIN hits_systemoutput o ON o.system_id = y.id AND o.segment_id = s.id
        LEFT JOIN analysis_goldscore g ON g.translation_id = o.translation_id AND g.run_id = %s
        WHERE y.campaign_id = %s
        ORDER BY y.id, s.position"""
    return Query(columns, tables, [run.pk, run.campaign_id])
