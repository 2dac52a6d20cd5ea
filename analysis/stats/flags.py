"""Four warnings about a worker, with the numbers behind them. Advice to the admin, never a verdict."""

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

# A reference shown as if it were a translation should be scored near the top; a worker whose mean
# for references lies below this may not be reading (Graham et al., 2017).
LOWEST_REFERENCE_MEAN = 90
# A HIT of a hundred items done faster than this, in seconds of working time, was hardly read.
FASTEST_HIT_SECONDS = 300
# Equal scores in a row that can still be honest; one more looks like clicking through.
LONGEST_EQUAL_RUN = 8


@dataclass(frozen=True, slots=True)
class WorkerFlags:
    """The numbers behind the flags, one row per worker; NaN where there is nothing to measure."""

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
        """True where the fastest HIT was done too fast to have been read."""
        return self.fastest_seconds < FASTEST_HIT_SECONDS

    @property
    def sequence(self) -> Bools:
        """True where too many equal scores follow each other."""
        return self.longest_equal_run > LONGEST_EQUAL_RUN

    @property
    def rejected(self) -> Bools:
        """True where work of the worker was rejected before."""
        return self.n_rejected > 0


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """One row per rating: the score, who gave it, the item's role, and where in which assignment."""

    scores: ArrayLike
    workers: ArrayLike
    roles: ArrayLike
    assignments: ArrayLike
    positions: ArrayLike


@dataclass(frozen=True, slots=True)
class AssignmentColumns:
    """One row per assignment: whose, from when to when (in seconds), and whether it was rejected."""

    workers: ArrayLike
    started: ArrayLike
    submitted: ArrayLike
    rejected: ArrayLike


def flag_workers(ratings: RatingColumns, assignments: AssignmentColumns) -> WorkerFlags:
    """Gather the numbers behind the four flags.

    Parameters
    ----------
    ratings : RatingColumns
        All ratings, quality-control items included.
    assignments : AssignmentColumns
        All assignments of the same workers.

    Returns
    -------
    WorkerFlags
        About every worker named in either. A role the campaign does not have (there is no reference
        in a fluency campaign) raises no flag.

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
    np.minimum.at(fastest, doer_codes, seconds)
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
    """Share working time between the HITs a worker had open at once.

    Parameters
    ----------
    workers : array_like, shape (n,)
        Who did the assignment.
    started, submitted : array_like, shape (n,)
        When it began and ended, in seconds since any moment.

    Returns
    -------
    seconds : ndarray, shape (n,)
        Time from start to end divided by `n_open`.
    n_open : ndarray of int, shape (n,)
        How many assignments of the worker overlap this one in time, itself included. One that ends
        as another begins does not overlap it.
    """
    workers = as_keys("workers", workers)
    begins, ends = as_numbers("started", started), as_numbers("submitted", submitted)
    check_same_length(workers=workers, started=begins, submitted=ends)
    if (ends < begins).any():
        raise ValueError(
            f"`submitted` lies before `started` in row {int((ends < begins).argmax())}."
        )
    if not len(workers):
        return begins, np.zeros(0, dtype=np.int64)
    _, codes = factorise(workers)
    # Workers are laid end to end on one line of time, far enough apart never to meet.
    apart = codes * (ends.max() - begins.min() + 1)
    line_begins, line_ends = begins - begins.min() + apart, ends - begins.min() + apart
    begun = np.searchsorted(np.sort(line_begins), line_ends, side="left")
    ended = np.searchsorted(np.sort(line_ends), line_begins, side="right")
    n_open = np.maximum(begun - ended, 1)
    return (ends - begins) / n_open, n_open


def _means_by_role(ratings: RatingColumns, codes: Ints, n_workers: int) -> dict[Role, Floats]:
    scores, roles = as_numbers("scores", ratings.scores), as_roles("roles", ratings.roles)
    check_same_length(scores=scores, roles=roles, workers=codes)
    means = {}
    for role in Role:
        own = codes[roles == role]
        total = sums(scores[roles == role], own, n_workers)
        means[role] = divide(total, counts(own, n_workers))
    return means


def _longest_equal_runs(ratings: RatingColumns, codes: Ints, n_workers: int) -> Ints:
    """Return each worker's longest run of equal scores within one assignment, in the order shown."""
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
