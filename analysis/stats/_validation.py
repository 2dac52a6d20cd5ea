"""Checks on the arrays that the statistics are given; a refusal names the parameter in backticks."""

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
