"""Rank ranges and clusters of systems over repeated runs of a ranking."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._validation import Floats, Ints, as_scores, check_at_least, check_complete

# The share of runs left out at each end.
RANGE_SHARE = 0.025


@dataclass(frozen=True, slots=True)
class RankRanges:
    """The best and worst rank of each system, and its cluster, from 1; in the order of the scores."""

    best: Ints
    worst: Ints
    clusters: Ints


def rank_ranges(scores: ArrayLike, *, share: float = RANGE_SHARE) -> RankRanges:
    """Return in which ranks systems end up over the runs.

    Parameters
    ----------
    scores : array_like, shape (runs, k)
        Scores of systems that are sorted from best to worst mean; higher is better.
    share : float
        Of the runs that are left out at each end.

    Returns
    -------
    RankRanges
        Ranks without the ceil(share * runs) best and worst runs of each system. With fewer than three runs nothing
        can be left out, so all of them count. A cluster ends below a system whose worst rank is better than
        the best rank of everyone below.

    References
    ----------
    .. [1] Koehn. Simulating human judgment in machine translation evaluation campaigns. IWSLT 2012.
    """
    values: Floats = check_complete(as_scores(scores, "scores", ndim=2), "scores")
    n_runs, n_systems = values.shape
    check_at_least("scores", n_runs, 1)
    order = np.argsort(-values, axis=1, kind="stable")
    ranks = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(1, n_systems + 1)[None, :], axis=1)
    ranks.sort(axis=0)
    left_out = int(np.ceil(share * n_runs)) if n_runs > 2 else 0
    best, worst = ranks[left_out], ranks[n_runs - 1 - left_out]
    ends = worst[:-1] < np.minimum.accumulate(best[::-1])[::-1][1:]
    return RankRanges(best=best, worst=worst, clusters=np.cumsum(np.r_[1, ends])[:n_systems])
