"""Does a worker's scoring follow that of the others? Random scores with clever pairs do not."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from ._groups import counts, divide, factorise, moments, sums
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
from .thresholds import FEWEST_AGREEMENT_ITEMS, FEWEST_OTHERS


@dataclass(frozen=True, slots=True)
class WorkerAgreement:
    """Each worker's correlation with the others; a small p-value speaks for the worker.

    `n_items` counts the items with enough ratings by others. With fewer than
    `FEWEST_AGREEMENT_ITEMS` of them, or where scores never vary, `r` and `pvalue` are NaN.
    """

    workers: Keys
    n_items: Ints
    r: Floats
    pvalue: Floats
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
        that everyone's use of the scale drops out.
    is_trusted : array_like of bool, shape (n,)
        Whether the rating's worker is trusted so far. Untrusted workers are compared with the
        trusted ones, but nobody is compared with them.
    fewest_others : int
        Trusted ratings by others that an item needs to count.

    Returns
    -------
    WorkerAgreement
        About every worker in `workers`: Pearson's r and its one-sided p-value, from Student's t with
        n - 2 degrees of freedom.
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
    others, n_others = _mean_of_others(z, codes, items, trusted & np.isfinite(z))
    rows = np.isfinite(z) & (n_others >= fewest_others)
    r, n_items = _correlate(z[rows], others[rows], codes[rows], len(labels))
    r[n_items < FEWEST_AGREEMENT_ITEMS] = np.nan
    return WorkerAgreement(
        workers=labels,
        n_items=n_items,
        r=r,
        pvalue=_pvalues(r, n_items),
        signature=signature(
            agreement=("pearson", "leave-one-out", f"others>={fewest_others}"),
            items=f">={FEWEST_AGREEMENT_ITEMS}",
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
    """Return for each row the mean of the other workers' counted z on its item, and how many they are.

    A worker's own ratings of an item, however many, are left out.
    """
    item_labels, item_codes = factorise(items)
    own_labels, own_codes = factorise(codes * len(item_labels) + item_codes)
    weights = np.where(counted, z, 0.0)
    total = sums(weights, item_codes, len(item_labels))
    own_total = sums(weights, own_codes, len(own_labels))
    n = counts(item_codes[counted], len(item_labels))
    n_own = counts(own_codes[counted], len(own_labels))
    n_others = n[item_codes] - n_own[own_codes]
    return divide(total[item_codes] - own_total[own_codes], n_others), n_others


def _correlate(x: Floats, y: Floats, codes: Ints, n_groups: int) -> tuple[Floats, Ints]:
    """Return Pearson's r and the number of rows of each group."""
    x_groups, y_groups = moments(x, codes, n_groups), moments(y, codes, n_groups)
    products = (x - x_groups.mean[codes]) * (y - y_groups.mean[codes])
    spread = np.sqrt(x_groups.ss * y_groups.ss)
    r = divide(sums(products, codes, n_groups), spread)
    return np.clip(r, -1, 1), x_groups.n


def _pvalues(r: Floats, n: Ints) -> Floats:
    df = np.maximum(n - 2, 1)
    with np.errstate(divide="ignore"):
        t = r * np.sqrt(df / (1 - r**2))
    return special.stdtr(df, -t)
