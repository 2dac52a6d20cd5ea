"""Whatever the API can do, the client has a call for: each call is made and what it asks for is noted."""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from da_client import Client
from da_platform.api import api

# What no call asks for, and why.
WITHOUT_A_CALL: dict[tuple[str, str], str] = {}
# What closes the connection or waits for jobs asks for nothing new.
NOT_CALLS = {"close", "wait", "result_of"}


class Asked(Exception):
    """Raised in place of an answer."""


@pytest.fixture
def asked() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def da(asked) -> Iterator[Client]:
    def note(request: httpx.Request) -> httpx.Response:
        asked.append((request.method, request.url.path))
        raise Asked

    with Client("http://platform", "token") as client:
        client._http = httpx.Client(
            base_url="http://platform/api/v1", transport=httpx.MockTransport(note)
        )
        yield client


def calls() -> list[str]:
    functions = inspect.getmembers(Client, inspect.isfunction)
    return [name for name, _ in functions if not name.startswith("_") and name not in NOT_CALLS]


def arguments_for(call: Any, file: Path) -> dict[str, Any]:
    """Something for every parameter that a call cannot do without."""
    return {
        name: _something(name, parameter.annotation, file)
        for name, parameter in inspect.signature(call).parameters.items()
        if parameter.default is inspect.Parameter.empty
        and parameter.kind != inspect.Parameter.VAR_KEYWORD
    }


def _something(name: str, kind: Any, file: Path) -> Any:
    if name == "path":
        return file
    if kind in (int, bool):
        return 1
    if kind is str:
        return "x"
    if name == "workers":
        return ["x"]
    # A plan, a run or a preview: whatever of it is sent.
    return SimpleNamespace(
        code="x", kind="x", way="x", digest="x", total="x", choice="x", changes=[], fingerprint="x"
    )


@cache
def operations() -> dict[tuple[str, str], re.Pattern[str]]:
    found = {}
    for path, methods in api.get_openapi_schema()["paths"].items():
        pattern = re.compile(re.sub(r"{\w+}", "[^/]+", path))
        for method in methods:
            found[method.upper(), path] = pattern
    return found


def operation_of(method: str, path: str) -> tuple[str, str] | None:
    """The operation that a request is for; a fixed part goes before one that may be anything."""
    fitting = [
        key for key, pattern in operations().items() if key[0] == method and pattern.fullmatch(path)
    ]
    return min(fitting, key=lambda key: key[1].count("{"), default=None)


def test_every_operation_has_a_call_and_every_call_an_operation(da, asked, tmp_path):
    file = tmp_path / "file.txt"
    file.write_text("text")
    for name in calls():
        call = getattr(da, name)
        with pytest.raises(Asked):
            # Lists are read when they are walked through.
            list(call(**arguments_for(call, file)))
    reached = {operation_of(*request) for request in asked}
    assert None not in reached and len(asked) == len(calls())
    assert operations().keys() - reached == WITHOUT_A_CALL.keys()
