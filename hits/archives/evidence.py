"""What the ratings of a collection say about its workers, all of them at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.flags import AssignmentColumns, RatingColumns, WorkerFlags, flag_workers
from analysis.stats.quality_control import NO_PARTNER, QualityControl, quality_control

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
    """Return the fields of `Evidence` for each worker, as `hits.trust` would find them one by one.

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
    found = [_fields(qc, flags, code) for code in range(len(names))]
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


def _fields(qc: QualityControl, flags: WorkerFlags, code: int) -> dict[str, Any]:
    latest = qc.latest
    return {
        "verdict": str(qc.verdicts[code]),
        "n_hits": int(flags.n_hits[code]),
        "n_pairs": int(qc.degraded.n_pairs[code]),
        "mean_difference": _number(qc.degraded.mean_difference[code]),
        "t": _number(qc.degraded.statistic[code]),
        "p": _number(qc.degraded.pvalue[code]),
        "wilcoxon_p": _number(qc.degraded_ranks.pvalue[code]),
        "n_repeats": int(qc.repeats.n_pairs[code]),
        "repeat_mean_difference": _number(qc.repeats.mean_difference[code]),
        "repeat_mean_absolute_difference": _number(qc.repeats.mean_absolute_difference[code]),
        "repeat_p": _number(qc.repeats.pvalue[code]),
        "window_n_pairs": int(latest.n_pairs[code]) if latest else 0,
        "window_p": _number(latest.pvalue[code]) if latest else None,
        "mean_genuine": _number(flags.mean_genuine[code]),
        "mean_bad_reference": _number(flags.mean_bad_reference[code]),
        "mean_reference": _number(flags.mean_reference[code]),
        "fastest_hit_seconds": _number(flags.fastest_seconds[code]),
        "longest_run": int(flags.longest_equal_run[code]),
        "n_rejected": int(flags.n_rejected[code]),
        "has_scores_flag": bool(flags.scores[code]),
        "has_time_flag": bool(flags.time[code]),
        "has_sequence_flag": bool(flags.sequence[code]),
        "has_rejection_flag": bool(flags.rejected[code]),
        "signature": qc.signature,
    }


def _number(value: float) -> float | None:
    """Return None for what could not be computed; an infinite t is as good as none to store."""
    return float(value) if np.isfinite(value) else None
