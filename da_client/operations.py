"""Operations as the API's description (OpenAPI) defines them."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any, Literal, get_args

Shape = dict[str, Any]

TYPES = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "object": dict,
    "null": None,
}


@dataclass(frozen=True)
class Operation:
    """What to send where: `places` has path, query, json, form or file for each argument."""

    name: str
    method: str
    path: str
    doc: str
    signature: Signature
    places: dict[str, str]

    def bind(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return arguments by name; `TypeError` lists the arguments that there are."""
        try:
            return self.signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            names = ", ".join(self.signature.parameters)
            raise TypeError(f"{self.name}: {error}. Its arguments are: {names}.") from None

    def sent_in(self, place: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments for one place. None is null in JSON and left out elsewhere."""
        return {
            name: value
            for name, value in arguments.items()
            if self.places.get(name) == place and (value is not None or place == "json")
        }


def read_operations(description: dict[str, Any]) -> list[Operation]:
    schemas = description["components"]["schemas"]
    return [
        _operation(method.upper(), path, entry, schemas)
        for path, methods in description["paths"].items()
        for method, entry in methods.items()
    ]


def _operation(method: str, path: str, entry: Shape, schemas: Shape) -> Operation:
    places, parameters = {}, []
    for place, name, shape, is_required in _arguments(entry, schemas):
        annotation = _annotation(shape, schemas)
        is_file = place == "form" and Path in (annotation, *get_args(annotation))
        places[name] = "file" if is_file else place
        kind = Parameter.POSITIONAL_OR_KEYWORD if place == "path" else Parameter.KEYWORD_ONLY
        # The API's limit is for a page; the client's is for the whole list.
        default = None if name == "limit" else shape.get("default")
        default = Parameter.empty if is_required else default
        parameters.append(Parameter(name, kind, default=default, annotation=annotation))
    doc = f"{entry['description']}\n\n{method} {path}"
    return Operation(entry["operationId"], method, path, doc, Signature(parameters), places)


def _arguments(entry: Shape, schemas: Shape) -> Iterator[tuple[str, str, Shape, bool]]:
    """Yield each argument's place, name, shape and whether it is required."""
    for parameter in entry.get("parameters", []):
        yield parameter["in"], parameter["name"], parameter["schema"], parameter["required"]
    for media_type, content in entry.get("requestBody", {}).get("content", {}).items():
        body = _resolved(content["schema"], schemas)
        for name, shape in body["properties"].items():
            place = "json" if media_type == "application/json" else "form"
            yield place, name, shape, name in body.get("required", [])
    if any("application/json" not in answer["content"] for answer in entry["responses"].values()):
        yield "download", "save_to", {"anyOf": [{"format": "binary"}, {"type": "null"}]}, False


def _resolved(shape: Shape, schemas: Shape) -> Shape:
    return schemas[shape["$ref"].rpartition("/")[2]] if "$ref" in shape else shape


def _annotation(shape: Shape, schemas: Shape) -> Any:
    shape = _resolved(shape, schemas)
    if options := shape.get("anyOf") or shape.get("allOf"):
        return reduce(operator.or_, (_annotation(option, schemas) for option in options))
    if "enum" in shape:
        return Literal.__getitem__(tuple(shape["enum"]))
    if shape.get("format") == "binary":
        return Path
    if shape.get("type") == "array":
        return list[_annotation(shape["items"], schemas)]  # type: ignore[misc]
    return TYPES.get(shape.get("type", ""), Any)
