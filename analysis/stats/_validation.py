"""Checks on the arrays that the statistics are given; a refusal names the parameter in backticks.

One rule for what is missing where metrics are held against gold: a NaN in the *gold* says "this
segment has no gold score" and the segment is left out, with `n` saying how many remained. A NaN or
infinity in a *metric* or in *predictions* is refused where there is gold, since a metric that scores
only the segments it likes would gain by it. An infinite gold score is always refused.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .roles import Role

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Keys = NDArray[Any]


def as_numbers(name: str, values: ArrayLike, *, missing: bool = False) -> Floats:
    """Return `values` as one row of floats; NaN is let through only where `missing` says so."""
    numbers = np.asarray(values)
    if numbers.size and numbers.dtype.kind not in "iuf":
        raise ValueError(f"`{name}` must hold numbers, not {numbers.dtype}.")
    _check_one_row(name, numbers)
    numbers = numbers.astype(np.float64, copy=False)
    if not is_all_finite(numbers):
        wrong = np.isinf(numbers) if missing else ~np.isfinite(numbers)
        if wrong.any():
            raise ValueError(f"`{name}` must be finite; position {int(wrong.argmax())} is not.")
    return numbers


def is_all_finite(numbers: Floats) -> bool:
    """Return True when a sum, which costs nothing, already shows that nothing is missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum()))


def as_keys(name: str, values: ArrayLike) -> Keys:
    """Return `values` as one row of integers or strings."""
    keys = np.asarray(values)
    if keys.dtype.kind == "O":
        keys = np.array(keys.tolist())
    _check_one_row(name, keys)
    if not keys.size:
        return keys.astype(np.int64) if keys.dtype.kind not in "iuUS" else keys
    if keys.dtype.kind not in "iuUS":
        raise ValueError(f"`{name}` must hold integers or strings, not {keys.dtype}.")
    return keys


def as_flags(name: str, values: ArrayLike) -> Bools:
    """Return `values` as one row of yes and no."""
    flags = np.asarray(values)
    _check_one_row(name, flags)
    if flags.size and flags.dtype.kind != "b":
        raise ValueError(f"`{name}` must hold True and False, not {flags.dtype}.")
    return flags.astype(np.bool_, copy=False)


def as_roles(name: str, values: ArrayLike) -> Keys:
    """Return `values` as one row of role numbers.

    Checked, because a role by another name would match none, and a campaign would look as if it had
    no quality control.
    """
    roles = as_keys(name, values)
    if roles.size and (roles.dtype.kind not in "iu" or roles.min() < 0 or roles.max() > max(Role)):
        raise ValueError(f"`{name}` must hold the numbers of `Role`, 0 to {max(Role)}.")
    return roles


def check_same_kind(**keys: Keys) -> None:
    """Refuse integer keys beside strings: 7 and "7" would never meet, and nobody would notice."""
    kinds = {name: key.dtype.kind in "US" for name, key in keys.items() if key.size}
    if len(set(kinds.values())) > 1:
        told = ", ".join(
            f"`{name}` {'strings' if text else 'integers'}" for name, text in kinds.items()
        )
        raise ValueError(f"Keys that are compared must be of one kind: {told}.")


def check_same_length(**arrays: NDArray[Any]) -> None:
    """Refuse arrays that do not run in parallel."""
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        raise ValueError(f"Parallel arrays differ in length: {told}.")


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Refuse a share that is not strictly between the bounds."""
    if not low < value < high:
        raise ValueError(f"`{name}` must lie between {low:g} and {high:g}, not {value!r}.")


def check_at_least(name: str, value: int, least: int) -> None:
    """Refuse a count below `least`."""
    if value < least:
        raise ValueError(f"`{name}` must be at least {least}, not {value!r}.")


def _check_one_row(name: str, values: NDArray[Any]) -> None:
    if values.ndim != 1:
        raise ValueError(f"`{name}` must have one dimension, not {values.ndim}.")


# Metrics against gold -------------------------------------------------------------------------


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


def direction_name(higher_is_better: bool) -> str:
    """Return the direction as a signature spells it."""
    return "higher" if higher_is_better else "lower"
