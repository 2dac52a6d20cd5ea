"""What the ratings of a collection say about its workers, all of them at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.flags import AssignmentColumns, RatingColumns, flag_workers
from analysis.stats.quality_control import NO_PARTNER, quality_control

from ..workers.trust import evidence_fields
from .records import Collection


@dataclass(frozen=True, slots=True)
class _Columns:
    """Parallel arrays, one row per rating; items are numbered through all HITs."""

    scores: np.ndarray
    workers: np.ndarray
    roles: np.ndarray
    assignments: np.ndarray
    items: np.ndarray
    partners: np.ndarray
    positions: np.ndarray


def weigh_workers(collection: Collection) -> dict[str, dict[str, Any]]:
    """Return the fields of `Evidence` for each worker, as `hits.workers.trust` would find them one by one.

    Without dates there is no window of the latest HITs, and nobody is found drifting. Without the
    order of items there is no run of equal scores: its length is then 0, which no rating gives.
    """
    names = collection.workers
    codes = {name: code for code, name in enumerate(names)}
    assignment_workers = np.array([codes[one.worker] for one in collection.assignments])
    started, submitted = (
        np.array([moment.timestamp() for moment in moments])
        for moments in zip(
            *((one.started_at, one.submitted_at) for one in collection.assignments), strict=True
        )
    )
    ratings = _columns(collection, assignment_workers)
    qc = quality_control(
        ratings.scores,
        ratings.workers,
        ratings.roles,
        ratings.assignments,
        ratings.items,
        ratings.partners,
        submitted=submitted[ratings.assignments] if collection.knows_dates else None,
    )
    flags = flag_workers(
        RatingColumns(
            ratings.scores, ratings.workers, ratings.roles, ratings.assignments, ratings.positions
        ),
        AssignmentColumns(
            assignment_workers,
            started,
            submitted,
            np.array([one.is_rejected for one in collection.assignments]),
        ),
    )
    found = [evidence_fields(qc, flags, code) for code in range(len(names))]
    if not collection.knows_order:
        for fields in found:
            fields |= {"longest_run": 0, "has_sequence_flag": False}
    return dict(zip(names, found, strict=True))


def _columns(collection: Collection, assignment_workers: np.ndarray) -> _Columns:
    sizes = [len(hit.items) for hit in collection.hits]
    offsets = np.cumsum([0, *sizes])
    roles = np.array([item.role for hit in collection.hits for item in hit.items])
    partners = np.array(
        [
            NO_PARTNER if partner is None else partner + offset
            for hit, offset in zip(collection.hits, offsets, strict=False)
            for partner in hit.partners()
        ]
    )
    items, scores, assignments = np.array(
        [
            (offsets[one.hit] + rating.item, rating.score, number)
            for number, one in enumerate(collection.assignments)
            for rating in one.ratings
        ],
        dtype=np.int64,
    ).T
    hits = np.array([one.hit for one in collection.assignments])[assignments]
    return _Columns(
        scores=scores,
        workers=assignment_workers[assignments],
        roles=roles[items],
        assignments=assignments,
        items=items,
        partners=partners[items],
        positions=items - offsets[hits] + 1,
    )
