"""Validation of input arrays. Error messages name the parameter in backticks.

Missing scores: a NaN in the *gold* means that a segment has no gold score. The segment is left out,
and `n` counts the remaining ones. A NaN or infinity in a *metric* or in *predictions* raises an error
if the segment has gold, since a metric could gain by scoring only easy segments. An infinite gold
score always raises an error.
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
    """Return `values` as a vector of floats; NaN is allowed only with `missing`."""
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
    """Return True if the sum is finite, which is a cheap way to see that no value is missing."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum()))


def as_keys(name: str, values: ArrayLike) -> Keys:
    """Return `values` as a vector of integers or strings."""
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
    """Return `values` as a vector of booleans."""
    flags = np.asarray(values)
    _check_one_row(name, flags)
    if flags.size and flags.dtype.kind != "b":
        raise ValueError(f"`{name}` must hold True and False, not {flags.dtype}.")
    return flags.astype(np.bool_, copy=False)


def as_roles(name: str, values: ArrayLike) -> Keys:
    """Return `values` as a vector of role numbers.

    Other values would match no role, and the campaign would seem to have no quality control.
    """
    roles = as_keys(name, values)
    if roles.size and (roles.dtype.kind not in "iu" or roles.min() < 0 or roles.max() > max(Role)):
        raise ValueError(f"`{name}` must hold the numbers of `Role`, 0 to {max(Role)}.")
    return roles


def check_same_kind(**keys: Keys) -> None:
    """Refuse to compare integer keys with strings: 7 and "7" would silently never match."""
    kinds = {name: key.dtype.kind in "US" for name, key in keys.items() if key.size}
    if len(set(kinds.values())) > 1:
        kind_of_each = ", ".join(
            f"`{name}` {'strings' if text else 'integers'}" for name, text in kinds.items()
        )
        raise ValueError(f"Keys that are compared must be of one kind: {kind_of_each}.")


def check_same_length(**arrays: NDArray[Any]) -> None:
    """Refuse arrays of different lengths."""
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        length_of_each = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        raise ValueError(f"Parallel arrays differ in length: {length_of_each}.")


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Refuse a value that is not strictly between `low` and `high`."""
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
    """Return scores as a float array; refuse any other number of dimensions than `ndim`."""
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
    """Return gold as a float array; NaN marks a missing score, infinity is refused."""
    array = as_scores(gold, "gold", ndim=ndim)
    if np.isinf(array).any():
        raise ValueError("`gold` has infinite scores; use NaN for a missing one")
    return array


def with_gold(
    scores: ArrayLike, gold: ArrayLike, name: str, *, at_least: int, ndim: int = 1
) -> tuple[Floats, Floats]:
    """Return scores and gold of the segments that have gold.

    Segments are the last axis of `scores`; `gold` is one-dimensional.
    """
    array, truth = as_scores(scores, name, ndim=ndim), gold_scores(gold)
    if array.shape[-1] != len(truth):
        raise ValueError(f"`{name}` scores {array.shape[-1]} segments but `gold` has {len(truth)}")
    has_gold = ~np.isnan(truth)
    if has_gold.sum() < at_least:
        raise ValueError(
            f"`gold` has {int(has_gold.sum())} score(s); at least {at_least} are needed"
        )
    return check_complete(array[..., has_gold], name), truth[has_gold]


def directed(scores: Floats, higher_is_better: bool) -> Floats:
    """Flip the sign of lower-is-better scores, so that higher is better."""
    return scores if higher_is_better else -scores


def directions(higher_is_better: bool | ArrayLike, n_metrics: int) -> Floats:
    """Return +1 or -1 per metric, from one flag for all metrics or one flag for each."""
    flags = np.asarray(higher_is_better, dtype=bool)
    if flags.shape not in {(), (n_metrics,)}:
        raise ValueError(f"`higher_is_better` must be one flag or {n_metrics}")
    return np.where(np.broadcast_to(flags, (n_metrics,)), 1.0, -1.0)


def direction_name(higher_is_better: bool) -> str:
    """Return the direction as written in signatures."""
    return "higher" if higher_is_better else "lower"
