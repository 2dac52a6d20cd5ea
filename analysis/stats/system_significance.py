"""Is one system's score higher than another's by more than chance? Three resampling tests.

All three accept segment scores, whose mean is the system score, or sufficient statistics: numbers per
segment whose *sums* give the corpus score, such as BLEU's matches, totals and lengths.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ._validation import Floats, check_complete, direction_name
from .resampling import (
    DEFAULT_RESAMPLES,
    ROUNDING,
    bootstrap_counts,
    monte_carlo_pvalue,
    percentile_interval,
    swap_masks,
)
from .signature import signature

# Turns sums of statistics, shape (resamples, k), into corpus scores, shape (resamples,).
CorpusScore: TypeAlias = Callable[[Floats], Floats]

# One segment cannot be resampled.
MIN_SEGMENTS = 2


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two systems on the same segments; a small p-value favours the first.

    `statistic` is the difference in scores, positive if the first system is better; resampling tests have
    no degrees of freedom. `low` and `high` bound the difference and are NaN for approximate
    randomisation, which gives no interval.
    """

    statistic: float
    low: float
    high: float
    pvalue: float
    first: float
    second: float
    n: int
    higher_is_better: bool
    signature: str


def paired_bootstrap_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rng: np.random.Generator,
    score: CorpusScore | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
    higher_is_better: bool = True,
) -> PairComparison:
    """Test with the share of bootstrap test sets in which the first system is not better.

    Parameters
    ----------
    first, second : array_like, shape (n,) or (n, k)
        Segment scores, or with `score` k statistics per segment, for the same segments.
    rng : numpy.random.Generator
    score : callable, optional
        Turns sums of statistics, shape (resamples, k), into corpus scores, shape (resamples,).
    n_resamples : int
    confidence : float
    higher_is_better : bool
        False for an error rate such as TER.

    Returns
    -------
    PairComparison
        A small p-value favours the first system. A resample in which both are equal counts against
        it. The interval is the percentile interval of the difference.

    References
    ----------
    .. [1] Koehn. Statistical Significance Tests for Machine Translation Evaluation. EMNLP 2004.
    """
    pair = _Pair.of(first, second, score, higher_is_better)
    resampled = pair.bootstrapped(n_resamples, rng)
    not_better = int((resampled <= _rounding(pair)).sum())
    return pair.result(
        pvalue=float(monte_carlo_pvalue(not_better, n_resamples)),
        interval=percentile_interval(resampled, confidence),
        how=f"paired-bootstrap,{n_resamples}",
        confidence=confidence,
    )


def shifted_bootstrap_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rng: np.random.Generator,
    score: CorpusScore | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
    confidence: float = 0.95,
    higher_is_better: bool = True,
) -> PairComparison:
    """Test the observed difference against the bootstrap distribution shifted to a mean of 0.

    Parameters
    ----------
    first, second, rng, score, n_resamples, confidence, higher_is_better
        As in `paired_bootstrap_test`.

    Returns
    -------
    PairComparison
        A small p-value favours the first system. It is the share of resamples whose difference, less
        the mean over all resamples, is at least the observed one.

    References
    ----------
    .. [1] Riezler and Maxwell. On Some Pitfalls in Automatic Evaluation and Significance Testing for MT.
       ACL Workshop on Intrinsic and Extrinsic Evaluation Measures, 2005.
    .. [2] Graham, Mathur and Baldwin. Randomized Significance Tests in Machine Translation. WMT 2014.
    """
    pair = _Pair.of(first, second, score, higher_is_better)
    resampled = pair.bootstrapped(n_resamples, rng)
    shifted = resampled - resampled.mean()
    as_extreme = int((shifted >= pair.difference - _rounding(pair)).sum())
    return pair.result(
        pvalue=float(monte_carlo_pvalue(as_extreme, n_resamples)),
        interval=percentile_interval(resampled, confidence),
        how=f"shifted-bootstrap,{n_resamples}",
        confidence=confidence,
    )


def randomisation_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rng: np.random.Generator,
    score: CorpusScore | None = None,
    n_resamples: int = DEFAULT_RESAMPLES,
    higher_is_better: bool = True,
) -> PairComparison:
    """Test the observed difference against differences after randomly swapping the systems' segments.

    Parameters
    ----------
    first, second, rng, score, n_resamples, higher_is_better
        As in `paired_bootstrap_test`.

    Returns
    -------
    PairComparison
        A small p-value favours the first system. It is the share of random swaps whose difference
        is at least the observed one. There is no interval.

    References
    ----------
    .. [1] Riezler and Maxwell. On Some Pitfalls in Automatic Evaluation and Significance Testing for MT.
       ACL Workshop on Intrinsic and Extrinsic Evaluation Measures, 2005.
    .. [2] Noreen. Computer-Intensive Methods for Testing Hypotheses. Wiley, 1989.
    """
    pair = _Pair.of(first, second, score, higher_is_better)
    swapped = pair.swapped(n_resamples, rng)
    as_extreme = int((swapped >= pair.difference - _rounding(pair)).sum())
    return pair.result(
        pvalue=float(monte_carlo_pvalue(as_extreme, n_resamples)),
        interval=np.full(2, np.nan),
        how=f"randomisation,{n_resamples}",
        confidence=None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """The statistics of two systems per segment, and the function that scores their sums."""

    first: Floats
    second: Floats
    score: CorpusScore
    higher_is_better: bool

    @classmethod
    def of(
        cls,
        first: ArrayLike,
        second: ArrayLike,
        score: CorpusScore | None,
        higher_is_better: bool,
    ) -> "_Pair":
        a, b = _statistics(first, "first", score), _statistics(second, "second", score)
        if a.shape != b.shape:
            raise ValueError(f"`first` has shape {a.shape}, `second` {b.shape}")
        if len(a) < MIN_SEGMENTS:
            raise ValueError(f"`first` has {len(a)} segment(s); at least {MIN_SEGMENTS} are needed")
        n = len(a)
        return cls(a, b, score or (lambda sums: sums[:, 0] / n), higher_is_better)

    def scored(self, sums: Floats) -> Floats:
        """Return the corpus score of each row of sums; refuse a `score` that is not vectorised."""
        scores = np.asarray(self.score(sums), dtype=np.float64)
        if scores.shape != (len(sums),):
            raise ValueError(f"`score` returned shape {scores.shape} for {len(sums)} sums")
        return scores

    def margins(self, first_sums: Floats, second_sums: Floats) -> Floats:
        """Return by how much the first system is better, for each row of sums."""
        margin = self.scored(first_sums) - self.scored(second_sums)
        return margin if self.higher_is_better else -margin

    @property
    def difference(self) -> float:
        """By how much the first system is better on the whole test set."""
        return float(self.margins(*(s.sum(axis=0)[None] for s in (self.first, self.second)))[0])

    def bootstrapped(self, n_resamples: int, rng: np.random.Generator) -> Floats:
        blocks = (
            self.margins(counts @ self.first, counts @ self.second)
            for counts in bootstrap_counts(len(self.first), n_resamples, rng)
        )
        return np.concatenate(list(blocks))

    def swapped(self, n_resamples: int, rng: np.random.Generator) -> Floats:
        return np.concatenate(list(self._swapped_blocks(n_resamples, rng)))

    def _swapped_blocks(self, n_resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
        change = self.second - self.first
        for masks in swap_masks(len(change), n_resamples, rng):
            changes = masks @ change
            yield self.margins(self.first.sum(axis=0) + changes, self.second.sum(axis=0) - changes)

    def result(
        self, *, pvalue: float, interval: Floats, how: str, confidence: float | None
    ) -> PairComparison:
        first, second = (self.scored(s.sum(axis=0)[None])[0] for s in (self.first, self.second))
        return PairComparison(
            statistic=self.difference,
            low=float(interval[0]),
            high=float(interval[1]),
            pvalue=pvalue,
            first=float(first),
            second=float(second),
            n=len(self.first),
            higher_is_better=self.higher_is_better,
            signature=signature(
                test=how,
                sided="one",
                confidence=confidence,
                metric=direction_name(self.higher_is_better),
            ),
        )


def _statistics(values: ArrayLike, name: str, score: CorpusScore | None) -> Floats:
    """Return a complete array (segments, statistics)."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1 and score is None:
        array = array[:, None]
    elif array.ndim != 2 or score is None:
        raise ValueError(
            f"`{name}` must be segment scores, or an array (segments, statistics) with `score`"
        )
    return check_complete(array, name)


def _rounding(pair: _Pair) -> float:
    """Return the difference below which two scores of this magnitude are equal."""
    sums = np.stack([pair.first.sum(axis=0), pair.second.sum(axis=0)])
    return ROUNDING * max(1e-300, float(np.abs(pair.scored(sums)).max()))
