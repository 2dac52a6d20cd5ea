"""Turn results into JSON types, and restore them."""

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

# Names of fields in results that were stored earlier.
_FORMER_NAMES = {"estimates": "r"}


def restored(kind: Any, facts: Any) -> Any:
    """Restore an object of a type from JSON types. A field that is not stored has its default."""
    if is_dataclass(kind):
        return kind(  # type: ignore[operator]
            **{
                name: restored(hint, facts[stored])
                for name, hint in _hints(kind).items()  # type: ignore[arg-type]
                if (stored := name if name in facts else _FORMER_NAMES.get(name)) in facts
            }
        )
    origin, parts = get_origin(kind), get_args(kind)
    if origin is tuple:
        # Rows of numbers, by far the most of a result, need no look at each one.
        if parts[0] == float | None:
            return tuple(facts)
        return tuple(restored(parts[0], item) for item in facts)
    if origin in (Union, types.UnionType):
        if facts is None:
            return None
        return restored(next(part for part in parts if part is not type(None)), facts)
    return facts


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def as_dict(result: Any) -> dict[str, Any]:
    """Return the fields of a result; `asdict` would copy every number of every matrix."""
    return {field.name: getattr(result, field.name) for field in fields(result)}
