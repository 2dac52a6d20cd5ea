"""The API reference, generated from the OpenAPI schema."""

from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from hits.people.access import for_anyone

from .api import api
from .api_examples import example_of


@require_GET
@for_anyone
def api_reference(request: HttpRequest) -> HttpResponse:
    origin = f"{request.scheme}://{request.get_host()}"
    info = api.get_openapi_schema()["info"]
    context = {"info": info, "groups": _groups(origin), "origin": origin}
    return render(request, "hits/api_reference.html", context)


@lru_cache(maxsize=4)
def _groups(origin: str) -> dict[str, list[dict[str, Any]]]:
    schema = api.get_openapi_schema()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            entry = {
                "path": path,
                "method": method.upper(),
                "text": operation.get("description", ""),
                "example": example_of(path, method, operation, schema, origin=origin),
                "fields": [*_parameters(operation, schema), *_body(operation, schema)],
            }
            groups.setdefault(operation.get("tags", ["Other"])[0], []).append(entry)
    return groups


def _parameters(operation: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": parameter["name"],
            "place": parameter["in"],
            "is_needed": parameter.get("required", False),
            "kind": _kind(parameter.get("schema", {}), schema),
        }
        for parameter in operation.get("parameters", [])
    ]


def _body(operation: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields in the body of an operation."""
    fields = []
    for content in operation.get("requestBody", {}).get("content", {}).values():
        shape = _resolved(content.get("schema", {}), schema)
        needed = shape.get("required", [])
        fields += [
            {
                "name": name,
                "place": "body",
                "is_needed": name in needed,
                "kind": _kind(field, schema),
            }
            for name, field in shape.get("properties", {}).items()
        ]
    return fields


def _resolved(shape: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = shape.get("$ref", "").rpartition("/")[2]
    return schema["components"]["schemas"].get(name, shape)


def _kind(shape: dict[str, Any], schema: dict[str, Any]) -> str:
    """Describe the type of a field in words."""
    shape = _resolved(shape, schema)
    if "enum" in shape:
        return ", ".join(map(str, shape["enum"]))
    if "allOf" in shape:
        return _kind(shape["allOf"][0], schema)
    if "anyOf" in shape:
        return " or ".join(_kind(option, schema) for option in shape["anyOf"])
    if shape.get("type") == "array":
        return f"list of {_kind(shape.get('items', {}), schema)}"
    return str(shape.get("format") or shape.get("const") or shape.get("type", "anything"))
