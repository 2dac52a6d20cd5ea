"""How fast a HIT was really rated, by the server's clock rather than the browser's claims."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._validation import as_keys, as_numbers, check_same_length

# A text that is read and rated takes longer than this, in seconds.
FAST_SECONDS = 2.0
# Ratings that may reach the server together: an offline browser keeps up to 15 of them.
BURST = 30
# Less than this, in seconds, for a burst of `BURST` ratings cannot be reading: 15 of them were
# waiting in the browser at most, and the others took at least a second each.
IMPOSSIBLE_BURST_SECONDS = 15.0
# Claims may exceed the time that passed by this share, and by this many seconds: clocks differ.
CLAIM_TOLERANCE = 1.1
CLAIM_SLACK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ObservedTimes:
    """When the ratings of one HIT reached the server; NaN where there are too few of them.

    `fastest_burst` is the shortest time in which `BURST` ratings in a row arrived, `claimed` the
    reading time that the browser reported and `passed` the time from taking the HIT to the last rating,
    all in seconds.
    """

    n_ratings: int
    median_gap: float
    share_fast: float
    fastest_burst: float
    claimed: float
    passed: float

    @property
    def is_impossible(self) -> bool:
        """Whether nobody can have read the texts in this time."""
        return self.is_too_fast or self.claims_too_much

    @property
    def is_too_fast(self) -> bool:
        """Whether a burst of ratings arrived faster than anyone can read, even after working offline."""
        return self.fastest_burst < IMPOSSIBLE_BURST_SECONDS

    @property
    def claims_too_much(self) -> bool:
        """Whether the browser reported more reading time than passed."""
        return claims_too_much(self.claimed, self.passed)


def claims_too_much(claimed: float, passed: float) -> bool:
    """Whether more reading time was reported than passed, in seconds, with room for clocks that differ."""
    return claimed > CLAIM_TOLERANCE * passed + CLAIM_SLACK_SECONDS


def observed_times(
    positions: ArrayLike, received: ArrayLike, claimed: ArrayLike, *, started: float
) -> ObservedTimes:
    """Measure the pace of one HIT.

    Parameters
    ----------
    positions : array_like of int, shape (n,)
        The places of the rated items in the HIT.
    received : array_like, shape (n,)
        When each rating reached the server, in seconds since any moment.
    claimed : array_like, shape (n,)
        Seconds for which the browser says the item was in view; NaN where it said nothing.
    started : float
        When the HIT was taken, on the same clock as `received`.

    Returns
    -------
    ObservedTimes
        The gaps are between neighbouring items in the order shown. A rating that seems to arrive before
        the one above it, or before the start, counts as arriving together with it.
    """
    positions = as_keys("positions", positions)
    received, claimed = (
        as_numbers("received", received),
        as_numbers("claimed", claimed, missing=True),
    )
    check_same_length(positions=positions, received=received, claimed=claimed)
    # A clock that was set back must not make time negative.
    moments = np.maximum.accumulate(np.maximum(received[np.argsort(positions)], started))
    gaps = np.diff(moments)
    bursts = moments[BURST - 1 :] - moments[: max(0, len(moments) - BURST + 1)]
    return ObservedTimes(
        n_ratings=len(moments),
        median_gap=float(np.median(gaps)) if len(gaps) else np.nan,
        share_fast=float((gaps < FAST_SECONDS).mean()) if len(gaps) else np.nan,
        fastest_burst=float(bursts.min()) if len(bursts) else np.nan,
        claimed=float(np.nansum(claimed)),
        passed=float(moments[-1] - started) if len(moments) else 0.0,
    )
