"""Every operation of the reference has examples that work as they stand: with curl and with the client."""

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client as Browser
from django.urls import reverse

from da_client import Client, client
from da_platform.api_examples import example_of
from tests.addresses import api_schema
from tests.api.callers import Caller, caller

pytestmark = pytest.mark.django_db

SCHEMA = api_schema()
ORIGIN = "http://testserver"
OPERATIONS = {
    operation["operationId"]: (path, method, operation)
    for path, methods in SCHEMA["paths"].items()
    for method, operation in methods.items()
}


@dataclass
class Call:
    """What a curl command sends."""

    method: str
    path: str
    body: Any = None
    form: dict[str, Any] = field(default_factory=dict)


def parsed(command: str) -> Call:
    words = shlex.split(command.replace("$TOKEN", "token"))
    assert words[0] == "curl" and "Authorization: Bearer token" in words
    call = Call("GET", words[-1].removeprefix(f"{ORIGIN}/api/v1"))
    for option, value in zip(words, words[1:], strict=False):
        if option == "-X":
            call.method = value
        elif option == "--json":
            call.body = json.loads(value)
            call.method = "POST" if call.method == "GET" else call.method
        elif option == "-F":
            name, _, text = value.partition("=")
            is_file = text.startswith("@")
            call.form[name] = SimpleUploadedFile(text[1:], b"x") if is_file else text
            call.method = "POST"
    return call


def example(name: str):
    path, method, operation = OPERATIONS[name]
    return example_of(path, method, operation, SCHEMA, origin=ORIGIN)


@pytest.fixture
def superuser() -> Caller:
    return caller("superuser")


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_curl_command_is_understood(superuser, name):
    call = parsed(example(name).curl)
    if call.form:
        answer = superuser.upload(call.path, call.form)
        # The example's file is empty, but every field has been read.
        assert answer.status_code in (202, 404, 422) and "not known" not in answer.content.decode()
        return
    if call.method == "GET":
        answer = superuser.get(call.path)
    else:
        answer = superuser.send(call.method.lower(), call.path, call.body)
    # 404 or 409, because there is nothing with the example's codes.
    assert answer.status_code in (200, 201, 202, 404, 409), answer.content


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_python_call_sends_the_same(name, tmp_path, monkeypatch):
    sent: list[httpx.Request] = []

    def platform(request: httpx.Request) -> httpx.Response:
        if request.url.path == client.DESCRIPTION:
            return httpx.Response(200, json=SCHEMA)
        sent.append(request)
        return httpx.Response(200, json={"items": [], "count": 0})

    monkeypatch.chdir(tmp_path)
    command = parsed(example(name).curl)
    for file in (part for part in command.form.values() if hasattr(part, "name")):
        Path(file.name).write_bytes(b"x")
    da = Client(ORIGIN, "token", transport=httpx.MockTransport(platform))
    eval(example(name).python, {"da": da})
    [request] = sent
    assert request.method == command.method
    assert request.url.path == "/api/v1" + command.path.partition("?")[0]
    if command.body is not None:
        assert json.loads(request.content) == command.body


def test_the_reference_shows_both_examples_of_every_operation():
    page = Browser().get(reverse("api_reference")).content.decode()
    assert page.count('aria-label="Example with curl"') == len(OPERATIONS)
    assert page.count('aria-label="Example with da_client"') == len(OPERATIONS)
    assert re.search(r"curl .*http://testserver/api/v1/campaigns", page)
