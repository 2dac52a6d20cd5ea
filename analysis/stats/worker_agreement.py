"""Does a worker's scoring follow that of the others? Random scores with clever pairs do not."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ._groups import ROUNDING, counts, divide, factorise, moments, sums
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_flags,
    as_keys,
    as_numbers,
    check_at_least,
    check_same_length,
)
from .signature import signature
from .thresholds import COHERENT_P, FEWEST_AGREEMENT_ITEMS, FEWEST_OTHERS


@dataclass(frozen=True, slots=True)
class WorkerAgreement:
    """Each worker's correlation with the others; a small p-value speaks for the worker.

    `n_items` counts the items with enough ratings by others. With fewer than
    `FEWEST_AGREEMENT_ITEMS` of them, or where the others do not agree with each other, `r` and
    `pvalue` are NaN. Where only the worker's own scores never vary, `r` is NaN and `pvalue` is 1.
    `coherence_pvalue` is that of the F-test of the others: a small one means that they agree.
    """

    workers: Keys
    n_items: Ints
    r: Floats
    pvalue: Floats
    coherence_pvalue: Floats
    signature: str


def agreement_with_others(
    scores: ArrayLike,
    workers: ArrayLike,
    assignments: ArrayLike,
    items: ArrayLike,
    is_trusted: ArrayLike,
    *,
    fewest_others: int = FEWEST_OTHERS,
) -> WorkerAgreement:
    """Correlate each worker's scores with the mean of the other trusted workers on the same items.

    Parameters
    ----------
    scores, workers, assignments, items : array_like, shape (n,)
        One row per rating of a genuine item. Scores are standardised within their assignment, so
        that everyone's use of the scale drops out. An assignment with equal scores throughout says
        nothing about its items: it counts against its own worker and is left out of the means.
    is_trusted : array_like of bool, shape (n,)
        Whether the rating's worker is trusted so far. Nobody is compared with untrusted workers.
    fewest_others : int
        Trusted ratings by others that an item needs to count.

    Returns
    -------
    WorkerAgreement
        About every worker in `workers`: Pearson's r and its one-sided p-value, from Student's t with
        n - 2 degrees of freedom.

    Notes
    -----
    If scripts come first and pass the pairs, a reader who comes later must not be judged by their
    noise. So the others are a measure only if they agree with each other: a one-way analysis of
    variance of their scores by item gives p below `COHERENT_P`.

    References
    ----------
    .. [1] Graham, Baldwin, Moffat and Zobel. Can machine translation systems be evaluated by the
       crowd alone. Natural Language Engineering 23(1), 2017.
    """
    scores = as_numbers("scores", scores)
    workers, assignments = as_keys("workers", workers), as_keys("assignments", assignments)
    items, trusted = as_keys("items", items), as_flags("is_trusted", is_trusted)
    check_same_length(
        scores=scores, workers=workers, assignments=assignments, items=items, is_trusted=trusted
    )
    check_at_least("fewest_others", fewest_others, 1)
    labels, codes = factorise(workers)
    z = _standardised(scores, assignments)
    counted = trusted & np.isfinite(z)
    others, n_others = _mean_of_others(z, codes, items, counted)
    rows = n_others >= fewest_others
    known_z = np.where(np.isfinite(z), z, 0.0)
    r, pvalue, n_items = _correlate(known_z[rows], others[rows], codes[rows], len(labels))
    sums_of_others = _sums_of_others(z, codes, items, counted).at(rows)
    coherence = _coherence(sums_of_others, codes[rows], len(labels))
    is_silent = (n_items < FEWEST_AGREEMENT_ITEMS) | ~(coherence < COHERENT_P)
    r[is_silent], pvalue[is_silent] = np.nan, np.nan
    return WorkerAgreement(
        workers=labels,
        n_items=n_items,
        r=r,
        pvalue=pvalue,
        coherence_pvalue=coherence,
        signature=signature(
            agreement=("pearson", "leave-one-out", f"others>={fewest_others}"),
            items=f">={FEWEST_AGREEMENT_ITEMS}",
            coherence=("anova", f"p<{COHERENT_P:g}"),
        ),
    )


@dataclass(frozen=True, slots=True)
class ScoresBesideOthers:
    """One worker's standardised scores and the others' means, for a picture of the agreement."""

    z: Floats
    others: Floats
    n_others: Ints


def scores_beside_others(
    scores: ArrayLike,
    workers: ArrayLike,
    assignments: ArrayLike,
    items: ArrayLike,
    is_trusted: ArrayLike,
    *,
    worker: object,
    fewest_others: int = FEWEST_OTHERS,
) -> ScoresBesideOthers:
    """Return the points that `agreement_with_others` correlates for one worker.

    Parameters
    ----------
    scores, workers, assignments, items, is_trusted : array_like, shape (n,)
        As for `agreement_with_others`.
    worker
        One of `workers`.

    Returns
    -------
    ScoresBesideOthers
        One element per rating of the worker whose item has enough trusted ratings by others. An
        assignment with equal scores throughout has 0 everywhere.
    """
    scores, workers = as_numbers("scores", scores), as_keys("workers", workers)
    assignments, items = as_keys("assignments", assignments), as_keys("items", items)
    trusted = as_flags("is_trusted", is_trusted)
    check_same_length(
        scores=scores, workers=workers, assignments=assignments, items=items, is_trusted=trusted
    )
    check_at_least("fewest_others", fewest_others, 1)
    z = _standardised(scores, assignments)
    others, n_others = _mean_of_others(z, factorise(workers)[1], items, trusted & np.isfinite(z))
    own = (workers == worker) & (n_others >= fewest_others)
    return ScoresBesideOthers(
        z=np.where(np.isfinite(z), z, 0.0)[own], others=others[own], n_others=n_others[own]
    )


def _standardised(scores: Floats, assignments: Keys) -> Floats:
    """Return z-scores within assignments; NaN where all scores of one are equal."""
    labels, codes = factorise(assignments)
    groups = moments(scores, codes, len(labels))
    return divide(scores - groups.mean[codes], groups.sd[codes])


def _mean_of_others(z: Floats, codes: Ints, items: Keys, counted: Bools) -> tuple[Floats, Ints]:
    """Return for each row the mean of the other workers' counted z on its item, and how many they are."""
    others = _sums_of_others(z, codes, items, counted)
    return divide(others.total, others.n), others.n


@dataclass(frozen=True, slots=True)
class _Others:
    """For each row, the counted scores of other workers on its item: how many, their sum and sum of squares."""

    n: Ints
    total: Floats
    squares: Floats

    def at(self, rows: Bools) -> "_Others":
        return _Others(self.n[rows], self.total[rows], self.squares[rows])


def _sums_of_others(z: Floats, codes: Ints, items: Keys, counted: Bools) -> _Others:
    """Add up the other workers' scores; a worker's own ratings of an item, however many, are left out."""
    item_labels, item_codes = factorise(items)
    own_labels, own_codes = factorise(codes * len(item_labels) + item_codes)
    n_items, n_own = len(item_labels), len(own_labels)

    def others(values: Floats) -> Floats:
        values = np.where(counted, values, 0.0)
        return (
            sums(values, item_codes, n_items)[item_codes]
            - sums(values, own_codes, n_own)[own_codes]
        )

    n = counts(item_codes[counted], n_items)[item_codes]
    n -= counts(own_codes[counted], n_own)[own_codes]
    return _Others(n, others(z), others(np.square(z)))


def _coherence(others: _Others, codes: Ints, n_groups: int) -> Floats:
    """Return the p-value of a one-way analysis of variance by item of each worker's others."""
    k, n = counts(codes, n_groups), sums(others.n.astype(np.float64), codes, n_groups)
    by_item = sums(np.square(others.total) / others.n, codes, n_groups)
    between = by_item - divide(np.square(sums(others.total, codes, n_groups)), n)
    within = sums(others.squares, codes, n_groups) - by_item
    df_between, df_within = np.maximum(k - 1, 1), np.maximum(n - k, 1)
    # Sums of squares that should be zero may come out slightly below; without any noise F is infinite.
    f = divide(np.maximum(between, 0) / df_between, np.maximum(within, 0) / df_within)
    f[(within <= ROUNDING * n) & (between > ROUNDING * n)] = np.inf
    pvalue = np.asarray(scipy.special.fdtrc(df_between, df_within, f), dtype=np.float64)
    pvalue[k < 2] = np.nan
    return pvalue


def _correlate(x: Floats, y: Floats, codes: Ints, n_groups: int) -> tuple[Floats, Floats, Ints]:
    """Return Pearson's r, its one-sided p-value and the number of rows of each group."""
    x_groups, y_groups = moments(x, codes, n_groups), moments(y, codes, n_groups)
    products = (x - x_groups.mean[codes]) * (y - y_groups.mean[codes])
    spread = np.sqrt(x_groups.ss * y_groups.ss)
    r = np.clip(divide(sums(products, codes, n_groups), spread), -1, 1)
    pvalue = _pvalues(r, x_groups.n)
    # Equal scores for everything agree with nobody; there must be no way around the question.
    pvalue[(x_groups.ss == 0) & (y_groups.ss > 0)] = 1
    return r, pvalue, x_groups.n


def _pvalues(r: Floats, n: Ints) -> Floats:
    df = np.maximum(n - 2, 1)
    with np.errstate(divide="ignore"):
        t = r * np.sqrt(df / (1 - r**2))
    return np.asarray(scipy.special.stdtr(df, -t), dtype=np.float64)
