"""From rows to arrays: the bridge between the tables and the statistics.

A campaign may have millions of ratings, so they are not turned into model instances. PostgreSQL copies rows out
in its binary format, which NumPy reads directly; SQLite's rows go from the cursor into arrays, a chunk at a time.
Ratings are fetched without joins to texts; columns of items and assignments are added here.
One worker's ratings are few, and come through the ORM.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper
from numpy.typing import NDArray

from analysis.stats.quality_control import NO_PARTNER
from da_platform.replica import read_much

from ..models import Assignment, Campaign, Participation, Rating, SystemOutput, Translation

Ids = NDArray[np.int64]
Moments = NDArray[np.datetime64]

# Rows turned into arrays at a time, which limits the memory for Python objects and bytes.
CHUNK_ROWS = 50_000

# Column types in NumPy, and as PostgreSQL sends them (big-endian).
_ID, _SMALL, _COUNT, _FLAG, _MOMENT = "i8", "i2", "i4", "?", "M8[us]"
_SENT = {_ID: ">i8", _SMALL: ">i2", _COUNT: ">i4", _FLAG: "?", _MOMENT: ">i8"}
_CAST = {_ID: "bigint", _SMALL: "smallint", _COUNT: "integer", _FLAG: "boolean"}
# PostgreSQL counts microseconds from this moment.
_POSTGRES_EPOCH = np.datetime64("2000-01-01T00:00:00", "us")
# Bytes before the first row of a binary copy (signature, flags, empty extension) and after the last.
_COPY_HEADER, _COPY_TRAILER = 19, 2


@dataclass(frozen=True, slots=True)
class RatingArrays:
    """The ratings of submitted assignments, one element each, ordered by assignment, then item.

    `partner` is `NO_PARTNER` for genuine items. Times are UTC. `elapsed_ms` and `active_ms` are -1 if
    the browser did not send them.
    """

    assignment: Ids
    item: Ids
    score: NDArray[np.int16]
    received: Moments
    elapsed_ms: NDArray[np.int32]
    active_ms: NDArray[np.int32]
    partner: Ids
    role: NDArray[np.int16]
    position: NDArray[np.int16]
    translation: Ids
    worker: Ids
    submitted: Moments

    def __len__(self) -> int:
        return len(self.score)


@dataclass(frozen=True, slots=True)
class AssignmentArrays:
    """Submitted assignments, one element each, ordered by key. Times are UTC."""

    assignment: Ids
    hit: Ids
    worker: Ids
    started: Moments
    submitted: Moments
    is_late: NDArray[np.bool_]
    is_rejected: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.assignment)


@dataclass(frozen=True, slots=True)
class OutputArrays:
    """Which system produced which translation. A translation shared by systems has a row for each."""

    translation: Ids
    system: NDArray[np.str_]
    segment: Ids

    def __len__(self) -> int:
        return len(self.translation)


def load_ratings(campaign: Campaign) -> RatingArrays:
    """Load every rating of the campaign's submitted assignments.

    Parameters
    ----------
    campaign : Campaign

    Returns
    -------
    RatingArrays
        As of the moment the assignments were read: their ratings are frozen, and assignments
        submitted later are left out.
    """
    assignments = load_assignments(campaign)
    items = _fetch(_ITEMS, campaign)
    ratings = _in_order(_fetch(_RATINGS, campaign))
    is_loaded, at_assignment = _look_up(assignments.assignment, ratings["assignment"])
    if not is_loaded.all():
        ratings = {name: values[is_loaded] for name, values in ratings.items()}
        at_assignment = at_assignment[is_loaded]
    _, at_item = _look_up(items.pop("item"), ratings["item"])
    return RatingArrays(
        **ratings,
        **{name: values[at_item] for name, values in items.items()},
        worker=assignments.worker[at_assignment],
        submitted=assignments.submitted[at_assignment],
    )


def load_assignments(campaign: Campaign) -> AssignmentArrays:
    """Load the campaign's submitted assignments."""
    return AssignmentArrays(**_fetch(_ASSIGNMENTS, campaign))


def load_worker_ratings(participation: Participation) -> NDArray[Any]:
    """Load one worker's counted ratings in a campaign, as a structured array ordered by assignment and position.

    `received` is in seconds since the epoch; `claimed` is the time in view that the browser reported, in
    seconds, or NaN.
    """
    rows = Rating.objects.filter(
        assignment__hit__campaign=participation.campaign_id,
        assignment__worker=participation.worker_id,
        assignment__in=Assignment.objects.counted().of(participation),
    ).values_list(
        "assignment_id",
        "item__position",
        "item_id",
        "item__partner_id",
        "item__role",
        "score",
        "received_at",
        "active_ms",
    )
    rows = rows.exclude(assignment__hold__in=Assignment.NOT_COUNTED)
    ints = ("assignment", "position", "item", "partner", "role", "score")
    return np.array(
        sorted(
            (
                *keys,
                NO_PARTNER if partner is None else partner,
                role,
                score,
                received.timestamp(),
                np.nan if active_ms is None else active_ms / 1000,
            )
            for *keys, partner, role, score, received, active_ms in rows
        ),
        dtype=[*((name, "i8") for name in ints), ("received", "f8"), ("claimed", "f8")],
    )


def load_worker_assignments(participation: Participation) -> NDArray[Any]:
    """Load one worker's counted assignments in a campaign, in order of submission; times in seconds."""
    assignments = Assignment.objects.counted().of(participation).order_by("submitted_at", "pk")
    return np.array(
        [
            (pk, hit, started.timestamp(), submitted.timestamp(), is_rejected)
            for pk, hit, started, submitted, is_rejected in assignments.values_list(
                "pk", "hit_id", "started_at", "submitted_at", "is_rejected"
            )
            if submitted
        ],
        dtype=[
            ("pk", "i8"),
            ("hit", "i8"),
            ("started", "f8"),
            ("submitted", "f8"),
            ("rejected", "?"),
        ],
    )


def load_scores(assignments: Mapping[int, int]) -> NDArray[Any]:
    """Load all ratings of these assignments, given with their workers, as a structured array."""
    rows = Rating.objects.filter(assignment__in=list(assignments)).values_list(
        "assignment_id", "item_id", "score"
    )
    ratings = np.array(list(rows), dtype=np.int64).reshape(-1, 3)
    columns = [("assignment", "i8"), ("item", "i8"), ("score", "i8"), ("worker", "i8")]
    scores = np.empty(len(ratings), dtype=columns)
    scores["assignment"], scores["item"], scores["score"] = ratings.T
    scores["worker"] = [assignments[pk] for pk in ratings[:, 0].tolist()]
    return scores


def load_outputs(campaign: Campaign) -> OutputArrays:
    """Load each translation to rate with the name of a system that produced it, and its segment."""
    rows = SystemOutput.objects.to_rate(campaign).order_by("translation", "system")
    outputs = list(rows.values_list("translation_id", "system__name", "segment_id"))
    return OutputArrays(
        translation=np.array([pk for pk, _, _ in outputs], dtype=np.int64),
        system=np.array([name for _, name, _ in outputs], dtype=np.str_),
        segment=np.array([segment for _, _, segment in outputs], dtype=np.int64),
    )


def load_translations(campaign: Campaign) -> Ids:
    """Load the keys of all translations to rate, rated already or not, in order."""
    rows = Translation.objects.to_rate(campaign).order_by("pk")
    return np.fromiter(rows.values_list("pk", flat=True).iterator(CHUNK_ROWS), dtype=np.int64)


# Queries --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Query:
    """Columns (name, type, SQL), none of which is ever NULL, and where the rows come from."""

    columns: tuple[tuple[str, str, str], ...]
    source: str
    order: str = ""


# The SQL of `AssignmentQuerySet.counted`.
_IS_COUNTED = (
    f"assignment.status = '{Assignment.Status.SUBMITTED}'"
    f" AND assignment.hold NOT IN {tuple(str(hold) for hold in Assignment.NOT_COUNTED)}"
)
_RATINGS = _Query(
    columns=(
        ("assignment", _ID, "rating.assignment_id"),
        ("item", _ID, "rating.item_id"),
        ("score", _SMALL, "rating.score"),
        ("received", _MOMENT, "rating.received_at"),
        ("elapsed_ms", _COUNT, "COALESCE(rating.elapsed_ms, -1)"),
        ("active_ms", _COUNT, "COALESCE(rating.active_ms, -1)"),
    ),
    source=f"""
        hits_rating rating
        JOIN hits_assignment assignment ON assignment.id = rating.assignment_id
        JOIN hits_hit hit ON hit.id = assignment.hit_id
        WHERE hit.campaign_id = {{campaign}} AND {_IS_COUNTED}
    """,
)
_ITEMS = _Query(
    columns=(
        ("item", _ID, "item.id"),
        ("partner", _ID, f"COALESCE(item.partner_id, {NO_PARTNER})"),
        ("role", _SMALL, "item.role"),
        ("position", _SMALL, "item.position"),
        ("translation", _ID, "item.translation_id"),
    ),
    source="hits_item item JOIN hits_hit hit ON hit.id = item.hit_id WHERE hit.campaign_id = {campaign}",
    order="item.id",
)
_ASSIGNMENTS = _Query(
    columns=(
        ("assignment", _ID, "assignment.id"),
        ("hit", _ID, "assignment.hit_id"),
        ("worker", _ID, "assignment.worker_id"),
        ("started", _MOMENT, "assignment.started_at"),
        ("submitted", _MOMENT, "assignment.submitted_at"),
        ("is_late", _FLAG, "assignment.is_late"),
        ("is_rejected", _FLAG, "assignment.is_rejected"),
    ),
    source=f"""
        hits_assignment assignment JOIN hits_hit hit ON hit.id = assignment.hit_id
        WHERE hit.campaign_id = {{campaign}} AND {_IS_COUNTED}
    """,
    order="assignment.id",
)


def _fetch(query: _Query, campaign: Campaign) -> dict[str, NDArray[Any]]:
    """Run a query and return its columns."""

    def fetch(connection: BaseDatabaseWrapper) -> list[dict[str, NDArray[Any]]]:
        chunks_of = _copied_chunks if connection.vendor == "postgresql" else _fetched_chunks
        return [_columns_of(chunk, query) for chunk in chunks_of(connection, query, campaign)]

    chunks = read_much(fetch)
    return {
        name: np.concatenate([np.zeros(0, kind), *(chunk.pop(name) for chunk in chunks)])
        for name, kind, _ in query.columns
    }


def _columns_of(chunk: NDArray[Any], query: _Query) -> dict[str, NDArray[Any]]:
    """Split a chunk of rows into columns, each a separate copy."""
    columns = {}
    for name, kind, _ in query.columns:
        values = chunk[name]
        if kind == _MOMENT and values.dtype.kind == "i":
            values = _POSTGRES_EPOCH + values.astype("m8[us]")
        columns[name] = values.astype(kind)
    return columns


# PostgreSQL -----------------------------------------------------------------------------------


def _copied_chunks(
    connection: BaseDatabaseWrapper, query: _Query, campaign: Campaign
) -> Iterator[NDArray[Any]]:
    """Yield rows in the layout of a binary copy: a count of fields, then the size and bytes of each.

    No column is NULL and all have a fixed width, so every row has the same layout.
    """
    row = np.dtype(
        [("n_fields", ">i2")]
        + [
            part
            for name, kind, _ in query.columns
            for part in ((f"size of {name}", ">i4"), (name, _SENT[kind]))
        ]
    )
    waiting = bytearray()
    n_to_skip = _COPY_HEADER
    with connection.cursor() as cursor, cursor.copy(_copy_statement(query, campaign)) as copy:
        for block in copy:
            waiting += block
            if len(waiting) > n_to_skip + CHUNK_ROWS * row.itemsize:
                n_rows = (len(waiting) - n_to_skip) // row.itemsize
                # The last chunk may contain the trailer, which is shorter than any row.
                end = n_to_skip + n_rows * row.itemsize
                yield np.frombuffer(bytes(waiting[n_to_skip:end]), row)
                del waiting[:end]
                n_to_skip = 0
    yield np.frombuffer(bytes(waiting[n_to_skip:-_COPY_TRAILER]), row)


def _copy_statement(query: _Query, campaign: Campaign) -> str:
    columns = ", ".join(
        f"({sql})::{_CAST[kind]}" if kind in _CAST else sql for _, kind, sql in query.columns
    )
    order = f"ORDER BY {query.order}" if query.order else ""
    # COPY takes no parameters. The key is a number; `int` makes sure of it.
    source = query.source.format(campaign=int(campaign.pk))
    return f"COPY (SELECT {columns} FROM {source} {order}) TO STDOUT (FORMAT BINARY)"


# SQLite ---------------------------------------------------------------------------------------


def _fetched_chunks(
    connection: BaseDatabaseWrapper, query: _Query, campaign: Campaign
) -> Iterator[NDArray[Any]]:
    """Yield rows from a plain cursor."""
    # The cast keeps times as text, which NumPy parses faster than Python does.
    columns = ", ".join(
        f"CAST({sql} AS TEXT)" if kind == _MOMENT else sql for _, kind, sql in query.columns
    )
    order = f"ORDER BY {query.order}" if query.order else ""
    row = np.dtype([(name, kind) for name, kind, _ in query.columns])
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {columns} FROM {query.source.format(campaign='%s')} {order}", [campaign.pk]
        )
        while rows := cursor.fetchmany(CHUNK_ROWS):
            yield np.fromiter(rows, dtype=row, count=len(rows))


# Joining --------------------------------------------------------------------------------------


def _in_order(ratings: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Sort by assignment, then item, since the query does not order its rows."""
    assignments, items = ratings["assignment"], ratings["item"]
    step, same = np.diff(assignments), np.diff(assignments) == 0
    if (step >= 0).all() and (np.diff(items)[same] > 0).all():
        return ratings
    order = np.lexsort((items, assignments))
    return {name: values[order] for name, values in ratings.items()}


def _look_up(keys: Ids, wanted: Ids) -> tuple[NDArray[np.bool_], Ids]:
    """Return whether each wanted key is among the sorted keys, and where."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.bool_), np.zeros(len(wanted), dtype=np.int64)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return keys[places] == wanted, places
