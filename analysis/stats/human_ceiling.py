"""How well people agree with the gold of other people, for comparison with metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import counts, divide, factorise, places_in_group, sums
from ._validation import Bools, Floats, Ints, Keys, as_keys, check_at_least
from .segments import Method, average_repeats
from .signature import signature

# Numbers of workers whose mean is compared with the gold of the others.
SIZES = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Scores of some workers, and gold from all others, for the same translations.

    Attributes
    ----------
    translations : ndarray, shape (n,)
    gold : ndarray, shape (n,)
        Mean of the workers that were not held out.
    n_gold : ndarray of int, shape (n,)
        Their number, or that of their ratings if the gold counts every rating.
    sizes : ndarray of int, shape (m,)
    scores : ndarray, shape (m, n)
        Mean of the first 1, 2, ... held-out workers, in the order of `sizes`.
    signature : str
    """

    translations: Keys
    gold: Floats
    n_gold: Ints
    sizes: Ints
    scores: Floats
    signature: str


def sizes_for(minimum: int) -> tuple[int, ...]:
    """Return the sizes that leave at least half of `minimum` ratings for the gold."""
    return tuple(size for size in SIZES if 2 * size <= minimum)


def hold_out(
    values: ArrayLike,
    workers: ArrayLike,
    translations: ArrayLike,
    *,
    rng: np.random.Generator,
    sizes: Sequence[int] = SIZES,
    method: Method = "per_worker",
) -> HeldOut:
    """Split the ratings of every translation into those of a few workers and gold from the others.

    A metric and a worker can only be compared against gold that contains neither. Each translation's workers
    are put in random order; the first `max(sizes)` are held out, and the mean of the others is the gold. The
    worker is another one for each translation, so the scores are those of a typical worker, not of one person.

    Parameters
    ----------
    values, workers, translations : array_like, shape (n,)
        Score (raw or z), worker and translation of each rating. Rows with a NaN are left out.
    rng : numpy.random.Generator
        Chooses the workers.
    sizes : sequence of int
        Numbers of held-out workers to average.
    method : {"per_worker", "pooled"}
        Whether a worker's repeats are averaged first or every rating counts, as in `segments.segment_scores`. All
        ratings of a worker stay on the same side.

    Returns
    -------
    HeldOut
        For translations with at least twice as many workers as are held out. The order of rows does not
        matter.
    """
    for size in sizes:
        check_at_least("sizes", size, 1)
    n_held_out = max(sizes, default=0)
    check_at_least("sizes", n_held_out, 1)
    means, _, units = average_repeats(values, workers, translations)
    labels, codes = factorise(units)
    weights = np.ones(len(codes))
    if method == "pooled":
        weights = _ratings_of_each(values, workers, translations)
    order = np.lexsort((rng.random(len(codes)), codes))
    places = places_in_group(codes, len(labels), order)
    enough = counts(codes, len(labels)) >= 2 * n_held_out

    def total(values: Floats, chosen: Bools) -> Floats:
        return sums(values[chosen], codes[chosen], len(labels))[enough]

    def mean_of(chosen: Bools) -> Floats:
        return divide(total(weights * means, chosen), total(weights, chosen))

    return HeldOut(
        translations=labels[enough],
        gold=mean_of(places >= n_held_out),
        n_gold=total(weights, places >= n_held_out).astype(np.int64),
        sizes=np.array(sizes, dtype=np.int64),
        scores=np.array([mean_of(places < size) for size in sizes]).reshape(len(sizes), -1),
        signature=signature(held_out=n_held_out, per="translation", seg=method),
    )


def _ratings_of_each(values: ArrayLike, workers: ArrayLike, translations: ArrayLike) -> Floats:
    """Return the number of ratings behind each row of `average_repeats`."""
    rated = ~np.isnan(np.asarray(values, dtype=np.float64))
    worker_labels, worker_codes = factorise(as_keys("workers", workers)[rated])
    _, codes = factorise(as_keys("translations", translations)[rated])
    n = np.unique(codes * len(worker_labels) + worker_codes, return_counts=True)[1]
    return n.astype(np.float64)
