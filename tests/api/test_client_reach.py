"""The client without a server: every operation is a method, and how it handles responses."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from da_client import ApiError, Client, TooOften, client
from tests.addresses import api_schema
from tests.subprocesses import CHECKOUT

DESCRIPTION = api_schema()
OPERATIONS = {
    operation["operationId"]: (method.upper(), path)
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
}


class Platform:
    """Returns the given responses one by one and records the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == client.DESCRIPTION:
            return httpx.Response(200, json=DESCRIPTION)
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def connect(platform: Platform) -> Client:
    return Client("http://platform", "token", transport=httpx.MockTransport(platform))


def answer(content: Any, status: int = 200, **headers: str) -> httpx.Response:
    return httpx.Response(status, json=content, headers=headers)


def page(*rows: int, count: int) -> httpx.Response:
    return answer({"items": [{"n": row} for row in rows], "count": count})


@pytest.fixture(autouse=True)
def pauses(monkeypatch) -> list[float]:
    seconds: list[float] = []
    monkeypatch.setattr(client.time, "sleep", seconds.append)
    return seconds


def test_every_operation_is_a_documented_method():
    da = connect(Platform())
    helpers = {"campaign", "close", "frame", "wait"}
    public = {name for name in dir(da) if not name.startswith("_")}
    assert public == helpers | OPERATIONS.keys() and not helpers & OPERATIONS.keys()
    for name, (method, path) in OPERATIONS.items():
        assert f"{method} {path}" in inspect.getdoc(getattr(da, name))


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_sent_to_its_address_in_the_schema(name, tmp_path):
    platform = Platform(answer({"items": [], "count": 0}))
    call = getattr(connect(platform), name)
    method, path = OPERATIONS[name]
    file = tmp_path / "file.txt"
    file.write_text("text")
    files = {Path: file, list[Path]: [file]}
    needed = {
        parameter.name: files.get(parameter.annotation, f"<{parameter.name}>")
        for parameter in inspect.signature(call).parameters.values()
        if parameter.default is inspect.Parameter.empty
    }
    call(**needed)
    (request,) = platform.requests
    places = {key: value for key, value in needed.items() if f"{{{key}}}" in path}
    assert (request.method, request.url.path) == (method, path.format(**places))
    sent = request.url.query + request.read()
    assert all(key.encode() in sent for key in needed.keys() - places.keys())


def test_an_unknown_operation_or_argument_is_refused_with_suggestions():
    platform = Platform()
    with pytest.raises(AttributeError, match=r"no operation 'build_golds'.*build_gold, "):
        connect(platform).build_golds("code")
    with pytest.raises(TypeError, match=r"'minimun'\. Its arguments are: code, method, minimum"):
        connect(platform).build_gold("code", minimun=1)
    assert not platform.requests


def test_a_list_is_read_to_its_end_or_to_a_limit(monkeypatch):
    monkeypatch.setattr(client, "PAGE_SIZE", 2)
    platform = Platform(page(1, 2, count=3), page(3, count=3), page(2, count=3))
    da = connect(platform)
    assert [row.n for row in da.list_jobs(state="done")] == [1, 2, 3]
    assert [row.n for row in da.list_jobs(limit=1, offset=1)] == [2]
    pages = [
        (request.url.params["limit"], request.url.params["offset"]) for request in platform.requests
    ]
    assert pages == [("2", "0"), ("2", "2"), ("1", "1")]


def test_null_is_sent_in_json_and_left_out_of_a_query():
    platform = Platform(answer({}), page(count=0))
    da = connect(platform)
    da.change_settings("code", spending_cap=None)
    da.list_jobs(state=None, campaign="code")
    assert platform.requests[0].content == b'{"spending_cap":null}'
    assert "state" not in platform.requests[1].url.params


def test_a_refusal_lists_its_problems():
    problems = [{"file": "a.tsv", "line": 1, "reason": "Empty."}]
    da = connect(Platform(answer({"detail": "Wrong.", "problems": problems}, 422)))
    with pytest.raises(ApiError, match="422: Wrong") as refusal:
        da.create_campaign(name="News", source_language="de", target_language="en")
    assert refusal.value.problems == problems


def test_only_reading_is_retried(pauses):
    lost = httpx.ConnectError("Refused.")
    da = connect(Platform(lost, answer({}, 502), answer({"name": "News"}), lost))
    assert da.get_campaign("code").name == "News"
    assert pauses == [0.5, 1.0]
    with pytest.raises(httpx.ConnectError):
        da.build_hits("code")


def test_it_waits_as_long_as_retry_after_says_within_reason(pauses):
    too_often = answer({"detail": "Slow down."}, 429, **{"Retry-After": "7"})
    da = connect(Platform(too_often, page(count=0), answer({}, 429, **{"Retry-After": "3600"})))
    assert da.list_jobs() == [] and pauses == [7]
    with pytest.raises(TooOften) as refusal:
        da.list_jobs()
    assert refusal.value.retry_after == 3600


def test_creating_a_campaign_waits_for_its_import_job():
    job = {"code": "j", "kind": "import_campaign", "state": "queued", "error": ""}
    done = {**job, "state": "done", "result": {"campaign": "c"}}
    platform = Platform(answer(job, 202), answer(done), answer({"code": "c"}))
    campaign = connect(platform).create_campaign(
        name="N", source_language="de", target_language="en"
    )
    assert campaign.code == "c"
    assert platform.requests[-1].url.path == "/api/v1/campaigns/c"


def test_importing_it_loads_httpx_but_neither_the_platform_nor_pandas():
    code = "import sys, da_client; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "httpx" in loaded
    assert not loaded & {"django", "hits", "analysis", "da_platform", "numpy", "pandas"}
