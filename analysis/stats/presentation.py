"""Effects of presentation on scores: the place on a screen or in a document, and the context."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._validation import as_keys, as_numbers, check_same_length
from .multiple_tests import holm
from .resampling import (
    DEFAULT_RESAMPLES,
    bootstrap_counts,
    monte_carlo_pvalue,
    percentile_interval,
)
from .signature import signature

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PlaceEffect:
    """Mean deviation of the scores at each place from the mean of their unit, such as a screen.

    A small `pvalue` says that places differ at all, a small `slope_pvalue` that scores rise or fall with the
    place; `slope` is per place. NaN without units of several places.
    """

    places: NDArray[np.int64]
    means: Floats
    n: NDArray[np.int64]
    slope: float
    pvalue: float
    slope_pvalue: float
    n_units: int
    signature: str


def place_effect(
    scores: ArrayLike,
    places: ArrayLike,
    units: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
) -> PlaceEffect:
    """Test whether scores depend on the place, by permuting the scores within each unit.

    Parameters
    ----------
    scores : array_like, shape (n,)
    places : array_like of int, shape (n,)
        Where each text stood, from 1.
    units : array_like, shape (n,)
        What it stood in: one worker's screen, or one document. A unit with one score says nothing.
    rng : numpy.random.Generator
    n_resamples : int

    Returns
    -------
    PlaceEffect
        On screens, whose order is random for each worker, this is an exact test. In documents the order is
        the author's: a difference between places may also be one between the texts.

    References
    ----------
    .. [1] Good. Permutation, Parametric, and Bootstrap Tests of Hypotheses. Springer, 2005. Ch. 3.
    """
    scores = as_numbers("scores", scores)
    places, units = as_keys("places", places), as_keys("units", units)
    check_same_length(scores=scores, places=places, units=units)
    unit, n_in_unit = np.unique(units, return_inverse=True, return_counts=True)[1:]
    several = n_in_unit[unit] > 1
    used, own_places = scores[several], np.asarray(places[several], dtype=np.int64)
    names, place = np.unique(own_places, return_inverse=True)
    unit = np.unique(unit[several], return_inverse=True)[1]
    signed = signature(test="permutation", within="unit", resamples=n_resamples)
    if len(names) < 2:
        nothing = np.full(len(names), np.nan)
        counts = np.bincount(place, minlength=len(names))
        return PlaceEffect(names, nothing, counts, np.nan, np.nan, np.nan, 0, signed)
    deviations = _from_means(used, unit)
    moments = _from_means(own_places.astype(np.float64), unit)
    counts = np.bincount(place)
    means = np.bincount(place, weights=deviations) / counts
    slope = float(deviations @ moments / (moments @ moments))
    spread = float(counts @ means**2)
    order = np.argsort(unit, kind="stable")
    n_spread = n_slope = 0
    for _ in range(n_resamples):
        shuffled = np.empty_like(deviations)
        shuffled[order] = deviations[np.lexsort((rng.random(len(unit)), unit))]
        n_spread += bool(_spread(shuffled, place, counts) >= spread * (1 - 1e-12))
        drawn = abs(float(shuffled @ moments / (moments @ moments)))
        n_slope += drawn >= abs(slope) * (1 - 1e-12)
    return PlaceEffect(
        places=names,
        means=means,
        n=counts,
        slope=slope,
        pvalue=float(monte_carlo_pvalue(n_spread, n_resamples)),
        slope_pvalue=float(monte_carlo_pvalue(n_slope, n_resamples)),
        n_units=int(unit.max()) + 1,
        signature=signed,
    )


def _from_means(values: Floats, unit: NDArray[np.int64]) -> Floats:
    means: Floats = np.bincount(unit, weights=values) / np.bincount(unit)
    return np.asarray(values - means[unit], dtype=np.float64)


def _spread(deviations: Floats, place: NDArray[np.int64], counts: NDArray[np.int64]) -> float:
    sums = np.bincount(place, weights=deviations)
    return float((sums**2 / counts).sum())


@dataclass(frozen=True, slots=True)
class ContextEffect:
    """Scores of the same outputs shown in two ways: each system's mean difference, first minus second.

    Intervals and p-values (two-sided, `adjusted` by Holm's method over the systems) resample documents. `r` is the
    correlation of the two scores over the outputs.
    """

    systems: NDArray[np.str_]
    first: Floats
    second: Floats
    differences: Floats
    low: Floats
    high: Floats
    pvalues: Floats
    adjusted: Floats
    n: NDArray[np.int64]
    r: float
    n_documents: int
    signature: str


def context_effect(
    first: ArrayLike,
    second: ArrayLike,
    systems: ArrayLike,
    documents: ArrayLike,
    *,
    rng: np.random.Generator,
    n_resamples: int = DEFAULT_RESAMPLES,
) -> ContextEffect:
    """Compare scores of the same outputs, such as with and without their document.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        The two scores of each output.
    systems, documents : array_like, shape (n,)
        Ratings of one document are not independent, so whole documents are drawn.
    rng : numpy.random.Generator
    n_resamples : int

    Returns
    -------
    ContextEffect
        z-scores have a mean of about 0 in each campaign, so with them a difference is one relative to the other
        systems. NaN intervals and p-values with fewer than two documents.

    References
    ----------
    .. [1] Field and Welsh. Bootstrapping clustered data. Journal of the Royal Statistical Society B 69(3), 2007.
    """
    first, second = as_numbers("first", first), as_numbers("second", second)
    systems, documents = as_keys("systems", systems), as_keys("documents", documents)
    check_same_length(first=first, second=second, systems=systems, documents=documents)
    if not len(first):
        raise ValueError("`first` is empty: no output has both scores.")
    names, system = np.unique(systems.astype(np.str_), return_inverse=True)
    document = np.unique(documents, return_inverse=True)[1]
    n_documents = int(document.max()) + 1
    sums = np.zeros((2, n_documents, len(names)))
    np.add.at(sums[0], (document, system), first - second)
    np.add.at(sums[1], (document, system), 1.0)
    differences = sums[0].sum(axis=0) / sums[1].sum(axis=0)
    low = high = pvalues = np.full(len(names), np.nan)
    if n_documents > 1:
        drawn = np.concatenate(
            [_means(counts, sums) for counts in bootstrap_counts(n_documents, n_resamples, rng)]
        )
        low, high = percentile_interval(drawn)
        # The null: as the estimates around their centre.
        extreme = np.abs(drawn - differences) >= np.abs(differences) - 1e-12
        pvalues = monte_carlo_pvalue(extreme.sum(axis=0), n_resamples)
    varies = len(first) > 2 and np.ptp(first) > 0 and np.ptp(second) > 0
    return ContextEffect(
        systems=names,
        first=np.bincount(system, weights=first) / np.bincount(system),
        second=np.bincount(system, weights=second) / np.bincount(system),
        differences=differences,
        low=low,
        high=high,
        pvalues=pvalues,
        adjusted=holm(pvalues),
        n=np.bincount(system),
        r=float(np.corrcoef(first, second)[0, 1]) if varies else np.nan,
        n_documents=n_documents,
        signature=signature(
            test="bootstrap", over="documents", resamples=n_resamples, correction="holm"
        ),
    )


def _means(counts: Floats, sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Floats = (counts @ sums[0]) / (counts @ sums[1])
    return means
