"""Checks shared by the modules that hold metrics against gold scores.

One rule for what is missing, everywhere: a NaN in the *gold* says "this segment has no gold score"
and the segment is left out, with `n` saying how many remained. A NaN or infinity in a *metric* or
in *predictions* is refused where there is gold, since a metric that scores only the segments it likes would
gain by it. An infinite gold score is always refused.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._groups import ROUNDING

Floats: TypeAlias = NDArray[np.float64]
Booleans: TypeAlias = NDArray[np.bool_]


def as_scores(scores: ArrayLike, name: str, *, ndim: int = 1) -> Floats:
    """Return scores as a float array of `ndim` dimensions, or say which parameter is not one."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != ndim:
        raise ValueError(f"`{name}` must have {ndim} dimension(s), not {array.ndim}")
    return array


def check_complete(array: Floats, name: str) -> Floats:
    """Refuse NaN and infinity."""
    if not np.isfinite(array).all():
        n_bad = int((~np.isfinite(array)).sum())
        raise ValueError(f"`{name}` has {n_bad} missing or infinite score(s)")
    return array


def gold_scores(gold: ArrayLike, *, ndim: int = 1) -> Floats:
    """Return gold as a float array where NaN marks a missing score."""
    array = as_scores(gold, "gold", ndim=ndim)
    if np.isinf(array).any():
        raise ValueError("`gold` has infinite scores; use NaN for a missing one")
    return array


def with_gold(
    scores: ArrayLike, gold: ArrayLike, name: str, *, at_least: int, ndim: int = 1
) -> tuple[Floats, Floats]:
    """Return scores and gold of the segments that have gold.

    The last axis of `scores` runs over segments; `gold` is one-dimensional.
    """
    array, truth = as_scores(scores, name, ndim=ndim), gold_scores(gold)
    if array.shape[-1] != len(truth):
        raise ValueError(f"`{name}` scores {array.shape[-1]} segments but `gold` has {len(truth)}")
    known = ~np.isnan(truth)
    if known.sum() < at_least:
        raise ValueError(f"`gold` has {int(known.sum())} score(s); at least {at_least} are needed")
    return check_complete(array[..., known], name), truth[known]


def directed(scores: Floats, higher_is_better: bool) -> Floats:
    """Turn the sign of lower-is-better scores, so that higher is better."""
    return scores if higher_is_better else -scores


def directions(higher_is_better: bool | ArrayLike, n_metrics: int) -> Floats:
    """Return +1 or -1 per metric, from one flag for all or one flag each."""
    flags = np.asarray(higher_is_better, dtype=bool)
    if flags.shape not in {(), (n_metrics,)}:
        raise ValueError(f"`higher_is_better` must be one flag or {n_metrics}")
    return np.where(np.broadcast_to(flags, (n_metrics,)), 1.0, -1.0)


def is_constant(scores: Floats) -> Booleans:
    """Say for each row whether its scores never vary, but for what adding up equal numbers leaves behind."""
    return np.asarray(np.ptp(scores, axis=-1) <= ROUNDING * np.abs(scores).max(axis=-1))


def unit_rows(scores: Floats) -> Floats:
    """Return rows centred and of length 1, so that dot products are Pearson's r; NaN if constant."""
    # Scaling to [-1, 1] first keeps squares of very large or small scores from over- or underflowing.
    constant = is_constant(scores)[..., None]
    centred = scores - scores.mean(axis=-1, keepdims=True)
    largest = np.abs(centred).max(axis=-1, keepdims=True)
    centred = centred / np.where(constant | (largest == 0), 1.0, largest)
    length = np.sqrt((centred**2).sum(axis=-1, keepdims=True))
    undefined = constant | (length == 0)
    return np.where(undefined, np.nan, centred / np.where(undefined, 1.0, length))


def check_confidence(confidence: float) -> None:
    """Refuse a confidence level outside (0, 1)."""
    if not 0 < confidence < 1:
        raise ValueError(f"`confidence` must lie between 0 and 1, not {confidence}")


def check_resamples(n_resamples: int) -> None:
    """Refuse fewer than one resample."""
    if n_resamples < 1:
        raise ValueError(f"`n_resamples` must be at least 1, not {n_resamples}")


def direction_name(higher_is_better: bool) -> str:
    """Return the direction as a signature spells it."""
    return "higher" if higher_is_better else "lower"
