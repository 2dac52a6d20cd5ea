"""An unknown field in a request's body is refused by name: it may be a misspelt one."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from hits.models import Campaign
from tests.addresses import api_schema
from tests.api.callers import Caller, caller
from tests.factories import make_campaign

pytestmark = pytest.mark.django_db

UNKNOWN = "no_such_field"
SCHEMA = api_schema()
PLACES = {"uuid": "00000000-0000-4000-8000-000000000001", "integer": "1", "string": "x"}


def operations(content_type: str) -> list[tuple[str, str]]:
    """The method and path of every operation with such a body."""
    return [
        (method, path)
        for path, methods in SCHEMA["paths"].items()
        for method, operation in methods.items()
        if content_type in operation.get("requestBody", {}).get("content", {})
    ]


def filled(method: str, path: str) -> str:
    """The path below `/api/v1`, with something that fits in each place."""
    for parameter in SCHEMA["paths"][path][method].get("parameters", []):
        kind = parameter["schema"].get("format") or parameter["schema"].get("type", "string")
        path = path.replace(f"{{{parameter['name']}}}", PLACES.get(kind, "x"))
    return path.removeprefix("/api/v1")


def schemas_in(part: Any) -> Iterator[str]:
    """The names of all schemas that a part of the description refers to, at any depth."""
    if isinstance(part, list):
        for inner in part:
            yield from schemas_in(inner)
    elif isinstance(part, dict):
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            yield name
            yield from schemas_in(SCHEMA["components"]["schemas"][name])
        for inner in part.values():
            yield from schemas_in(inner)


@pytest.fixture
def superuser() -> Caller:
    return caller("superuser")


def test_there_are_bodies_to_check():
    assert len(operations("application/json")) > 15
    assert len(operations("multipart/form-data")) == 11


@pytest.mark.parametrize(("method", "path"), operations("application/json"))
def test_every_operation_refuses_an_unknown_field_by_name(superuser, method, path):
    answer = superuser.send(method, filled(method, path), {UNKNOWN: 1})
    assert answer.status_code == 422, answer.content
    problems = [problem for problem in answer.json()["detail"] if problem["loc"][-1] == UNKNOWN]
    assert [problem["type"] for problem in problems] == ["extra_forbidden"]


def test_a_new_campaign_with_an_unknown_field_is_refused_by_name(superuser):
    fields = {"name": "New", "source_language": "de", "target_language": "en", "hit_sise": 50}
    answer = superuser.upload("/campaigns", fields)
    assert answer.status_code == 422 and not Campaign.objects.exists()
    assert answer.json()["problems"][0]["reason"] == "hit_sise: This field is not known."


def test_scores_with_an_unknown_field_are_refused_by_name(superuser):
    file = SimpleUploadedFile("m.tsv", b"system\tsegment\tscore\nA\t1\t0.5\n")
    path = f"/campaigns/{make_campaign().code}/metrics"
    answer = superuser.upload(path, {"file": file, "lowwer": "m", "notes": file})
    assert answer.status_code == 422
    assert [problem["reason"].partition(":")[0] for problem in answer.json()["problems"]] == [
        "lowwer",
        "notes",
    ]


def test_no_part_of_a_body_accepts_unknown_fields():
    bodies = [
        operation["requestBody"]["content"]["application/json"]
        for methods in SCHEMA["paths"].values()
        for operation in methods.values()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    objects = {
        name: schema
        for name in schemas_in(bodies)
        if "properties" in (schema := SCHEMA["components"]["schemas"][name])
    }
    lenient = [name for name, schema in objects.items() if schema.get("additionalProperties", True)]
    assert len(objects) > 15 and not lenient


def test_a_misspelt_setting_changes_nothing(superuser):
    campaign = make_campaign(min_ratings=15)
    changes = {"min_ratings": 7, "trust_ruel": "published"}
    answer = superuser.send("patch", f"/campaigns/{campaign.code}/settings", changes)
    assert answer.status_code == 422 and "trust_ruel" in answer.content.decode()
    campaign.refresh_from_db()
    assert campaign.min_ratings == 15


QUERIES = [
    (method, path)
    for path, methods in SCHEMA["paths"].items()
    for method, operation in methods.items()
    if method == "get"
]


@pytest.mark.parametrize(("method", "path"), QUERIES)
def test_every_operation_refuses_an_unknown_parameter_by_name(superuser, method, path):
    answer = superuser.get(f"{filled(method, path)}?{UNKNOWN}=1")
    assert answer.status_code == 422, answer.content
    [problem] = answer.json()["problems"]
    assert problem["reason"] == f"{UNKNOWN}: This parameter is not known."


def test_a_misspelt_parameter_of_a_change_is_refused_too(superuser):
    answer = superuser.send("post", f"/campaigns/{make_campaign().code}/gold?minimun=1", {})
    assert answer.status_code == 422 and "minimun" in answer.json()["detail"]


def test_known_parameters_are_accepted(superuser):
    assert superuser.get("/jobs?state=done&limit=5&offset=0").status_code == 200
