"""Compute the evidence about all workers of a collection at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.flags import AssignmentColumns, RatingColumns, flag_workers
from analysis.stats.quality_control import NO_PARTNER, quality_control

from ..models import Campaign
from ..workers.weighing import evidence_fields, evidence_signature
from .records import Collection


@dataclass(frozen=True, slots=True)
class _Columns:
    """Parallel arrays, one row per rating. Items are numbered across all HITs."""

    scores: np.ndarray
    workers: np.ndarray
    roles: np.ndarray
    assignments: np.ndarray
    items: np.ndarray
    partners: np.ndarray
    positions: np.ndarray


def weigh_workers(collection: Collection, campaign: Campaign) -> dict[str, dict[str, Any]]:
    """Return the fields of `Evidence` for each worker, as `hits.workers.weighing` computes them one by one.

    Only what the published rule needs: texts, and the times at which ratings were received, are unknown.

    Drift is only checked if dates are known: it looks at a worker's latest HITs. If the order of items
    is unknown, `longest_run` is 0, which it never is otherwise.
    """
    names = collection.workers
    codes = {name: code for code, name in enumerate(names)}
    assignment_workers = np.array([codes[work.worker] for work in collection.assignments])
    started, submitted = (
        np.array([moment.timestamp() for moment in moments])
        for moments in zip(
            *((work.started_at, work.submitted_at) for work in collection.assignments), strict=True
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
            np.array([work.is_rejected for work in collection.assignments]),
        ),
    )
    named = {"signature": evidence_signature(qc.signature, campaign)}
    evidence = [evidence_fields(qc, flags, code) | named for code in range(len(names))]
    if not collection.knows_order:
        for fields in evidence:
            fields |= {"longest_run": 0, "has_sequence_flag": False}
    return dict(zip(names, evidence, strict=True))


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
            (offsets[work.hit] + rating.item, rating.score, number)
            for number, work in enumerate(collection.assignments)
            for rating in work.ratings
        ],
        dtype=np.int64,
    ).T
    hits = np.array([work.hit for work in collection.assignments])[assignments]
    return _Columns(
        scores=scores,
        workers=assignment_workers[assignments],
        roles=roles[items],
        assignments=assignments,
        items=items,
        partners=partners[items],
        positions=items - offsets[hits] + 1,
    )
