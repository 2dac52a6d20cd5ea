"""Four warning flags per worker and the numbers behind them. They advise the admin and decide nothing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import counts, divide, factorise, lengths_of_runs, starts_of_runs, sums
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_flags,
    as_keys,
    as_numbers,
    as_roles,
    check_same_kind,
    check_same_length,
)
from .roles import Role
from .signature import signature
from .thresholds import FASTEST_HIT_SECONDS

# A reference shown as a translation should get a high score; a worker whose mean score for references
# is below this may not be reading (Graham et al., 2017).
LOWEST_REFERENCE_MEAN = 90
# A longer run of equal scores looks like clicking through.
LONGEST_EQUAL_RUN = 8


@dataclass(frozen=True, slots=True)
class WorkerFlags:
    """The numbers behind the flags, one row per worker; NaN where there are no ratings or HITs."""

    workers: Keys
    mean_bad_reference: Floats
    mean_genuine: Floats
    mean_reference: Floats
    n_hits: Ints
    fastest_seconds: Floats
    most_open_at_once: Ints
    longest_equal_run: Ints
    n_rejected: Ints
    signature: str
    # For the flag of time.
    least_seconds: float = FASTEST_HIT_SECONDS

    @property
    def scores(self) -> Bools:
        """True where the means by role are in the wrong order, or references are scored low."""
        return (
            (self.mean_bad_reference >= self.mean_genuine)
            | (self.mean_genuine >= self.mean_reference)
            | (self.mean_reference < LOWEST_REFERENCE_MEAN)
        )

    @property
    def time(self) -> Bools:
        """True where the fastest HIT was too fast to have been read."""
        return self.fastest_seconds < self.least_seconds

    @property
    def sequence(self) -> Bools:
        """True where too many consecutive scores are equal."""
        return self.longest_equal_run > LONGEST_EQUAL_RUN

    @property
    def rejected(self) -> Bools:
        """True where any of the worker's assignments was rejected."""
        return self.n_rejected > 0


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """One row per rating: score, worker, the item's role, assignment and position in it."""

    scores: ArrayLike
    workers: ArrayLike
    roles: ArrayLike
    assignments: ArrayLike
    positions: ArrayLike


@dataclass(frozen=True, slots=True)
class AssignmentColumns:
    """One row per assignment: worker, start and end in seconds, and whether it was rejected."""

    workers: ArrayLike
    started: ArrayLike
    submitted: ArrayLike
    rejected: ArrayLike


def flag_workers(ratings: RatingColumns, assignments: AssignmentColumns) -> WorkerFlags:
    """Compute the numbers behind the four flags.

    Parameters
    ----------
    ratings : RatingColumns
        All ratings, including those of quality-control items.
    assignments : AssignmentColumns
        All assignments of the same workers.

    Returns
    -------
    WorkerFlags
        One row for every worker in either. A role that the campaign does not have (a fluency campaign
        has no references) raises no flag.

    References
    ----------
    .. [1] Graham, Baldwin, Moffat and Zobel. Can machine translation systems be evaluated by the
       crowd alone. Natural Language Engineering 23(1), 2017.
    """
    rated_by, done_by = as_keys("workers", ratings.workers), as_keys("workers", assignments.workers)
    check_same_kind(**{"ratings.workers": rated_by, "assignments.workers": done_by})
    both = [column for column in (rated_by, done_by) if len(column)] or [rated_by]
    labels, codes = factorise(np.concatenate(both))
    rater_codes, doer_codes = codes[: len(rated_by)], codes[len(rated_by) :]
    means = _means_by_role(ratings, rater_codes, len(labels))
    seconds, n_open = corrected_seconds(done_by, assignments.started, assignments.submitted)
    rejected = as_flags("rejected", assignments.rejected)
    check_same_length(workers=done_by, rejected=rejected)
    fastest, most_open = np.full(len(labels), np.inf), np.zeros(len(labels), dtype=np.int64)
    np.fmin.at(fastest, doer_codes, seconds)
    np.maximum.at(most_open, doer_codes, n_open)
    return WorkerFlags(
        workers=labels,
        mean_bad_reference=means[Role.BAD_REFERENCE],
        mean_genuine=means[Role.GENUINE],
        mean_reference=means[Role.REFERENCE],
        n_hits=counts(doer_codes, len(labels)),
        fastest_seconds=np.where(np.isinf(fastest), np.nan, fastest),
        most_open_at_once=most_open,
        longest_equal_run=_longest_equal_runs(ratings, rater_codes, len(labels)),
        n_rejected=counts(doer_codes[rejected], len(labels)),
        signature=signature(
            flags=(
                f"ref<{LOWEST_REFERENCE_MEAN}",
                f"time<{FASTEST_HIT_SECONDS}s",
                f"run>{LONGEST_EQUAL_RUN}",
            )
        ),
    )


def corrected_seconds(
    workers: ArrayLike, started: ArrayLike, submitted: ArrayLike
) -> tuple[Floats, Ints]:
    """Split working time between the HITs that a worker had open at once.

    Parameters
    ----------
    workers : array_like, shape (n,)
        The worker of each assignment.
    started, submitted : array_like, shape (n,)
        Start and end of each assignment, in seconds since any fixed moment.

    Returns
    -------
    seconds : ndarray, shape (n,)
        Time from start to end divided by `n_open`. NaN for an assignment that ends before it begins:
        the clock was set back, so its time is unknown. It overlaps no other.
    n_open : ndarray of int, shape (n,)
        How many of the worker's assignments overlap this one in time, including itself. One that
        ends when another begins does not overlap it.
    """
    workers = as_keys("workers", workers)
    begins, ends = as_numbers("started", started), as_numbers("submitted", submitted)
    check_same_length(workers=workers, started=begins, submitted=ends)
    seconds, n_open = np.full(len(workers), np.nan), np.ones(len(workers), dtype=np.int64)
    is_known = ends >= begins
    if is_known.any():
        seconds[is_known], n_open[is_known] = _shared_seconds(
            workers[is_known], begins[is_known], ends[is_known]
        )
    return seconds, n_open


def _shared_seconds(workers: Keys, begins: Floats, ends: Floats) -> tuple[Floats, Ints]:
    """Divide each assignment's time by the number of those open at once."""
    _, codes = factorise(workers)
    # Shift each worker's times so that the workers do not overlap and one search serves all.
    shifts = codes * (ends.max() - begins.min() + 1)
    line_begins, line_ends = begins - begins.min() + shifts, ends - begins.min() + shifts
    begun = np.searchsorted(np.sort(line_begins), line_ends, side="left")
    ended = np.searchsorted(np.sort(line_ends), line_begins, side="right")
    n_open = np.maximum(begun - ended, 1)
    return (ends - begins) / n_open, n_open


def _means_by_role(ratings: RatingColumns, codes: Ints, n_workers: int) -> dict[Role, Floats]:
    scores, roles = as_numbers("scores", ratings.scores), as_roles("roles", ratings.roles)
    check_same_length(scores=scores, roles=roles, workers=codes)
    means = {}
    for role in Role:
        role_codes = codes[roles == role]
        totals = sums(scores[roles == role], role_codes, n_workers)
        means[role] = divide(totals, counts(role_codes, n_workers))
    return means


def _longest_equal_runs(ratings: RatingColumns, codes: Ints, n_workers: int) -> Ints:
    """Return each worker's longest run of equal scores within one assignment."""
    scores, positions = (
        as_numbers("scores", ratings.scores),
        as_keys("positions", ratings.positions),
    )
    assignments = as_keys("assignments", ratings.assignments)
    check_same_length(scores=scores, assignments=assignments, positions=positions)
    _, assignment_codes = factorise(assignments)
    order = np.lexsort((positions, assignment_codes))
    starts = starts_of_runs(assignment_codes[order], scores[order])
    longest = np.zeros(n_workers, dtype=np.int64)
    np.maximum.at(longest, codes[order][starts], lengths_of_runs(starts, len(order)))
    return longest
