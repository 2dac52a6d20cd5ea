"""Example calls of every operation of the API, made from its OpenAPI schema: with curl and with `da_client`."""

import json
import shlex
from dataclasses import dataclass
from typing import Any

CODE = "3f0c2a9e-6f1b-4c8e-9d37-5a1e0b7c4d21"
# Values for text, by the name of the field.
WORDS = {
    "name": "News 2026",
    "source_language": "de",
    "target_language": "en",
    "package": "campaign.zip",
    "file": "scores.tsv",
    "reason": "Checked by hand.",
    "email": "ada@example.org",
    "username": "ada",
    "digest": "4f2c9b1d" * 8,
    "fingerprint": "4f2c9b1d" * 8,
    "seen": "4f2c9b1d" * 8,
    "label": "Reading group",
}
TEXT = "text"
# A table or a figure, named in an address.
PICTURE = "system-ranking"


@dataclass(frozen=True, slots=True)
class Example:
    """How to call an operation in a terminal and from Python."""

    curl: str
    python: str


def example_of(
    path: str, method: str, operation: dict[str, Any], schema: dict[str, Any], *, origin: str
) -> Example:
    """Return an example with all required fields, and optional ones that have a default."""
    values = _Values(schema["components"]["schemas"])
    parameters = operation.get("parameters", [])
    in_path = {
        parameter["name"]: values.of(parameter["name"], parameter["schema"])
        if parameter["name"] != "name"
        else PICTURE
        for parameter in parameters
        if parameter["in"] == "path"
    }
    query = {
        parameter["name"]: values.of(parameter["name"], parameter["schema"])
        for parameter in parameters
        if parameter["in"] == "query" and parameter.get("required")
    }
    content = operation.get("requestBody", {}).get("content", {})
    kind, body = next(iter(content.items()), ("", {}))
    fields = values.fields_of(body.get("schema", {})) if kind else {}
    if method == "patch" and not fields:
        # Everything is optional, but something has to change.
        fields = values.first_field_of(body["schema"])
    address = origin + path.format(**in_path)
    if query:
        address += "?" + "&".join(f"{name}={value}" for name, value in query.items())
    is_file = not any(
        "application/json" in answer.get("content", {})
        for answer in operation["responses"].values()
    )
    files = values.files_of(body.get("schema", {})) if kind else {}
    return Example(
        _curl(method.upper(), address, kind, fields, files, is_file=is_file),
        _python(operation["operationId"], list(in_path.values()), query | fields | files),
    )


class _Values:
    """Example values for the shapes of a schema."""

    def __init__(self, schemas: dict[str, Any]) -> None:
        self._schemas = schemas

    def of(self, name: str, shape: dict[str, Any]) -> Any:
        """Return a value for a field."""
        shape = self._resolved(shape)
        for choices in ("enum", "const"):
            if choices in shape:
                return shape["enum"][0] if choices == "enum" else shape["const"]
        if shape.get("default"):
            return shape["default"]
        if "properties" in shape:
            return self.fields_of(shape)
        if shape.get("type") == "object":
            # Any fields; none are an example, too.
            return {}
        if shape.get("type") == "array":
            return [self.of(name.removesuffix("s"), shape.get("items", {}))]
        simple = {"boolean": True, "integer": max(1, shape.get("minimum", 1)), "number": 0.5}
        if shape.get("type") in simple:
            return simple[shape["type"]]
        if shape.get("format") == "uuid":
            return CODE
        return WORDS.get(name, TEXT)

    def fields_of(self, shape: dict[str, Any]) -> dict[str, Any]:
        """Return values for the fields of an object that an example should show, without files."""
        shape = self._resolved(shape)
        required = shape.get("required", [])
        return {
            name: self.of(name, field)
            for name, field in shape.get("properties", {}).items()
            if not self._is_file(field) and (name in required or field.get("default"))
        }

    def first_field_of(self, shape: dict[str, Any]) -> dict[str, Any]:
        name, field = next(iter(self._resolved(shape)["properties"].items()))
        return {name: self.of(name, field)}

    def files_of(self, shape: dict[str, Any]) -> dict[str, str]:
        """Return file names: of the required files, or of the first one."""
        shape = self._resolved(shape)
        files = [
            name for name, field in shape.get("properties", {}).items() if self._is_file(field)
        ]
        required = [name for name in files if name in shape.get("required", [])]
        return {name: WORDS.get(name, f"{name}.txt") for name in required or files[:1]}

    def _is_file(self, field: dict[str, Any]) -> bool:
        return "binary" in json.dumps(self._resolved(field))

    def _resolved(self, shape: dict[str, Any]) -> dict[str, Any]:
        """Follow references, and take the first choice that is not null."""
        while True:
            if "$ref" in shape:
                shape = self._schemas[shape["$ref"].rpartition("/")[2]]
            elif "allOf" in shape:
                shape = shape["allOf"][0] | {k: v for k, v in shape.items() if k != "allOf"}
            elif "anyOf" in shape:
                shape = next(part for part in shape["anyOf"] if part.get("type") != "null")
            else:
                return shape


def _curl(
    method: str,
    address: str,
    kind: str,
    fields: dict[str, Any],
    files: dict[str, str],
    *,
    is_file: bool,
) -> str:
    parts = ["curl"]
    if method not in ("GET", "POST") or (method == "POST" and not kind):
        parts.append(f"-X {method}")
    parts.append('-H "Authorization: Bearer $TOKEN"')
    if kind == "application/json":
        parts.append(f"--json {shlex.quote(json.dumps(fields, ensure_ascii=False))}")
    for name, value in fields.items() if kind.startswith("multipart") else ():
        for item in value if isinstance(value, list) else [value]:
            text = str(item).lower() if isinstance(item, bool) else str(item)
            parts.append(f"-F {shlex.quote(f'{name}={text}')}")
    parts += [f"-F {name}=@{file}" for name, file in files.items()]
    if is_file and method == "GET":
        # The name that the server gives the file.
        parts.append("-OJ")
    return " ".join([*parts, shlex.quote(address)])


def _python(name: str, positional: list[Any], named: dict[str, Any]) -> str:
    arguments = [repr(value) for value in positional]
    arguments += [f"{key}={value!r}" for key, value in named.items()]
    return f"da.{name}({', '.join(arguments)})"
