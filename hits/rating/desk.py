"""What a worker's browser gets to rate: the same few fields for every item, whatever its role."""

import json
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from ..hit_sizes import MOST_BEYOND_A_SET, SET_SIZE
from ..models import HIT, Assignment, Campaign, Recruitment, Worker
from ..task_facts import kinds, known_tasks
from ..task_kinds import Place, ShownItem, TaskKind, kind_of

# The most items sent ahead, so that a worker can continue while the network is down.
N_AHEAD = SET_SIZE + MOST_BEYOND_A_SET


def place_of(assignment: Assignment) -> Place:
    return kind_of(assignment.hit.campaign).place_of(assignment)


# Whether an item is the last of several segments of a document. SQLite and PostgreSQL find each in an index.
ENDS_RUN = """(
    EXISTS (
        SELECT 1 FROM hits_item earlier
        WHERE earlier.hit_id = item.hit_id AND earlier.position = item.position - 1 AND earlier.run = item.run
    ) AND NOT EXISTS (
        SELECT 1 FROM hits_item later
        WHERE later.hit_id = item.hit_id AND later.position = item.position + 1 AND later.run = item.run
    )
)"""
# Columns of an item.
N_OF_ITEM = 8


class _Queries(NamedTuple):
    own_desk: str
    shown_items: str


@cache
def queries() -> _Queries:
    """Return the queries of the desk, which depend on the kinds of task that there are.

    Written in SQL because every rating runs the first: building it with the ORM takes ten times as long as
    running it.
    """
    by_task = " ".join(
        f"WHEN '{task.value}' THEN '{task.shows}'" for task in known_tasks().values()
    )
    shows = (
        f"CASE campaign.shows WHEN '' THEN CASE campaign.task {by_task} END ELSE campaign.shows END"
    )
    # The gray text, and the source if both are shown. What kind of media the source is, with a mark if it has
    # captions; null for a text. Only a campaign that scores documents says which segment is a run's last.
    item = f"""
        item.code, item.position, item.text,
        CASE {shows} WHEN 'source' THEN segment.source WHEN 'nothing' THEN '' ELSE segment.reference END,
        CASE {shows} WHEN 'both' THEN segment.source ELSE '' END,
        item.run, CASE WHEN campaign.scores_documents THEN {ENDS_RUN} END,
        CASE WHEN segment.media_id IS NOT NULL AND {shows} IN ('source', 'both') THEN (
            SELECT media.kind FROM hits_mediafile media WHERE media.id = segment.media_id
        ) || CASE WHEN segment.captions_id IS NULL THEN '' ELSE '+' END END
    """
    return _Queries(
        _OWN_DESK.format(item=item, how_far_ahead=_how_far_ahead()), _SHOWN_ITEMS.format(item=item)
    )


def _how_far_ahead() -> str:
    """How far from the item that is rated the next one is that the browser does not hold yet.

    Null where a screen holds several items: the kind of task then sends what is ahead.
    """
    cases = []
    for (presentation, task), kind in kinds().items():
        if not kind.has_large_screens:
            sizes = known_tasks()[task].sizes
            by_size = " ".join(f"WHEN {size} THEN {kind.items_ahead(task, size)}" for size in sizes)
            cases.append(
                f"WHEN campaign.presentation = '{presentation}' AND campaign.task = '{task}' "
                f"THEN CASE hit.size {by_size} END"
            )
    return " ".join(cases)


_OWN_DESK = f"""
    SELECT assignment.id, assignment.hit_id, assignment.status, assignment.started_at, hit.size,
           worker.id, campaign.id, campaign.code, campaign.task, campaign.shows, campaign.presentation,
           campaign.scores_documents, campaign.outputs_per_screen, recruitment.provider, recruitment.settings,
           {{item}}
    FROM hits_assignment assignment
    JOIN hits_worker worker ON worker.id = assignment.worker_id
    JOIN hits_hit hit ON hit.id = assignment.hit_id
    JOIN hits_campaign campaign ON campaign.id = hit.campaign_id
    LEFT JOIN hits_recruitment recruitment
      ON recruitment.campaign_id = campaign.id AND recruitment.provider = worker.provider
      AND recruitment.provider <> '{Recruitment.Provider.LINK.value}'
    LEFT JOIN hits_item item
      ON item.hit_id = assignment.hit_id AND item.position = %s + CASE {{how_far_ahead}} END
    LEFT JOIN hits_translation translation ON translation.id = item.translation_id
    LEFT JOIN hits_segment segment ON segment.id = translation.segment_id
    WHERE assignment.code = %s AND worker.code = %s
"""
_SHOWN_ITEMS = """
    SELECT {item}
    FROM hits_item item
    JOIN hits_translation translation ON translation.id = item.translation_id
    JOIN hits_segment segment ON segment.id = translation.segment_id
    JOIN hits_campaign campaign ON campaign.id = segment.campaign_id
    WHERE item.hit_id = %s AND item.screen BETWEEN %s AND %s
    ORDER BY item.position
"""
# In the order of the model's fields, as `from_db` expects them.
_ASSIGNMENT_FIELDS = ["id", "hit_id", "code", "status", "started_at"]
_CAMPAIGN_FIELDS = [
    "id",
    "code",
    "task",
    "shows",
    "presentation",
    "scores_documents",
    "outputs_per_screen",
]


@dataclass(frozen=True, slots=True)
class OwnDesk:
    """A worker's assignment, and the next item that the browser does not hold yet, if any.

    `sent_by` is the campaign's recruitment if its provider sent the worker, with only the fields that say
    whether they are trusted. It is None for someone who came by a link.
    """

    assignment: Assignment
    kind: TaskKind
    sent_by: Recruitment | None
    items_ahead: list[ShownItem]


def own_desk(code: UUID, *, worker_code: UUID, position: int) -> OwnDesk | None:
    """Fetch what a rating of the item at this position needs, in one query.

    Only a few fields of the assignment are loaded; the others load on access.
    """
    parameters: list[Any] = [position, *_stored_codes(code, worker_code)]
    with connection.cursor() as cursor:
        cursor.execute(queries().own_desk, parameters)
        row = cursor.fetchone()
    if row is None:
        return None
    pk, hit_id, status, started_at, size, *columns = row
    worker_id, campaign_id, campaign_code, *columns = columns
    *shown_as, provider, settings = columns[:-N_OF_ITEM]
    item = columns[-N_OF_ITEM:]
    if started_at.tzinfo is None:
        # SQLite does not store time zones; all times are in UTC.
        started_at = started_at.replace(tzinfo=UTC)
    assignment = Assignment.from_db(
        connection.alias, _ASSIGNMENT_FIELDS, [pk, hit_id, code, status, started_at]
    )
    assignment.hit = HIT.from_db(connection.alias, ["id", "size"], [hit_id, size])
    campaign = Campaign.from_db(
        connection.alias,
        _CAMPAIGN_FIELDS,
        [campaign_id, UUID(str(campaign_code)), *shown_as],
    )
    assignment.hit.campaign = campaign
    sent_by = None
    if provider:
        assignment.worker = Worker.from_db(
            connection.alias, ["id", "provider"], [worker_id, provider]
        )
        sent_by = Recruitment(campaign=campaign, provider=provider, settings=json.loads(settings))
    items_ahead = [] if item[0] is None else [_as_shown(*item)]
    return OwnDesk(assignment, kind_of(campaign), sent_by, items_ahead)


def shown_items(assignment: Assignment, *, first: int, last: int) -> list[ShownItem]:
    """Return the items at these positions as the browser gets them, in one query."""
    with connection.cursor() as cursor:
        cursor.execute(queries().shown_items, [assignment.hit_id, first, last])
        return [_as_shown(*row) for row in cursor.fetchall()]


def _as_shown(
    code: UUID | str,
    position: int,
    text: str,
    above: str,
    source: str,
    run: int | None,
    ends_run: bool | None,
    media: str | None,
) -> ShownItem:
    # SQLite has no UUID type and stores them as text.
    item: ShownItem = {"item": str(UUID(str(code))), "position": position, "text": text}
    item |= {"above": above} | ({"source": source} if source else {})
    if run is not None:
        item["run"] = run
    if ends_run is not None:
        item["ends_run"] = bool(ends_run)
    if media:
        item |= {"media": media.removesuffix("+"), "has_captions": media.endswith("+")}
    return item


def _stored_codes(*codes: UUID) -> list[UUID | str]:
    if connection.features.has_native_uuid_field:
        return list(codes)
    return [code.hex for code in codes]


def language_above(campaign: Campaign) -> str:
    if campaign.effective_shows == Campaign.Shows.SOURCE:
        return campaign.source_language
    return campaign.target_language


def minutes_needed(n_screens: int, *, seconds_per_screen: float) -> int:
    """About how long a HIT takes, in steps of five minutes."""
    minutes = n_screens * seconds_per_screen / 60
    return max(5, 5 * round(minutes / 5))
