"""No page and no list of the API asks the database more often because there is more to show.

Made from the URL configuration and from the API's own description: whatever can be read is read on a
platform with few rows of everything, and again with three times as many. A new page has to be named
below, as one that lists rows or as one that does not.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from da_platform.api import api
from hits.people.tokens import make_token
from tests.api.callers import ALL_SCOPES
from tests.factories import make_campaign
from tests.people import make_person
from tests.plenty import Plenty, make_plenty, path_of, staff_addresses, table_name

# On one worker of a parallel run: what they all look at takes half a minute to make.
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("query counts")]

FEW, MANY = 2, 6

# Pages that list rows, and how many queries each may take.
LISTS = {
    "home": 13,
    "new_campaign": 6,
    "campaign_workers": 12,
    "campaign_worker": 14,
    "campaign_recruiting": 16,
    "campaign_payments": 22,
    "plan_payments": 16,
    "payment_run": 12,
    "audit_log": 10,
    "people": 10,
    "person": 10,
    "api_tokens": 6,
    "campaign_results": 16,
    "campaign_segments": 10,
    "campaign_report": 20,
    "campaign_metrics": 12,
    "campaign_evaluate": 10,
    "evaluations": 10,
    "evaluate_pooled": 6,
    "collection_metrics": 10,
    "collection_evaluate": 10,
    "evaluation": 8,
    "jobs": 8,
}
# Pages about one thing. They take as many queries for many rows as for few, too.
NOT_LISTS = {
    "draft_basics",
    "draft_files",
    "campaign_overview",
    "campaign_live",
    "campaign_settings",
    "campaign_instructions",
    "campaign_cost",
    "pay_assignment",
    "preview_landing",
    "preview_privacy",
    "preview_instructions",
    "preview_practice",
    "preview_check",
    "preview_item",
    "preview_finish",
    "preview_done",
    "new_collection",
    "job",
    "health",
    "password_change",
    "two_step",
    "password_change_done",
}
# Not pages: pictures, tables and other files.
FILES = {
    "worker_picture",
    "payment_list",
    "payment_ledger",
    "result_picture",
    "result_export",
    "campaign_report_pdf",
    "evaluation_json",
    "evaluation_table",
    "evaluation_picture",
    "job_progress",
}
# They lead elsewhere: to the first of several pages, or back to where there is something to do.
LEADING_ON = {"two_step_set_up", "preview", "decide_workers", "draft_settings", "draft_check"}

MOST_QUERIES_OF_THE_API = 20


@dataclass(frozen=True)
class Reading:
    """What was answered, how many rows it shows, and how often the database was asked."""

    status: int
    n_rows: int
    n_queries: int


@dataclass(frozen=True)
class Readings:
    """The same address with few rows and with many."""

    few: Reading
    many: Reading

    def assert_steady(self) -> None:
        assert self.few.status == self.many.status
        assert self.few.n_queries == self.many.n_queries

    def assert_fed(self) -> None:
        assert self.few.n_rows < self.many.n_rows, "nothing to show: see tests/plenty.py"


# Addresses ------------------------------------------------------------------------------------


def operations() -> dict[str, dict[str, Any]]:
    """What the API lets programs read, by its path."""
    paths = api.get_openapi_schema()["paths"]
    return {path: methods["get"] for path, methods in paths.items() if "get" in methods}


def is_paged(operation: dict[str, Any]) -> bool:
    content = operation["responses"][200]["content"].get("application/json", {})
    return "/Paged" in content.get("schema", {}).get("$ref", "")


def api_path(path: str, plenty: Plenty) -> str:
    of_evaluation = "/evaluations" in path
    values = {
        "code": plenty.job.code if "/jobs" in path else plenty.campaign.code,
        "worker": plenty.worker.code,
        "run": plenty.run.code,
        "kind": "ratings" if "/exports" in path else "bonus",
        "way": "hand",
        "metric": plenty.metric.code,
        "number": plenty.evaluation.number if of_evaluation else plenty.gold.number,
        "name": _name_of_file(path, plenty),
        "person": plenty.membership.user.pk,
        "part": plenty.membership.pk,
        "payment": plenty.payment.code,
        "assignment": plenty.assignment.code,
        "rule": plenty.rule.code,
    }
    query = "?earlier=1&later=2" if path.endswith("/compare") else "?format=csv"
    return path.format(**values) + query


def _name_of_file(path: str, plenty: Plenty) -> str:
    if "/tables" in path:
        return table_name(plenty)
    return "between-metrics" if "/evaluations" in path else "system-ranking"


# Reading --------------------------------------------------------------------------------------


def read(clients: list[Client], path: str, count_rows: Callable[[str], int]) -> Reading:
    """Read an address as the first who is let in."""
    for client in clients:
        # What one reading left behind must not spare the next one a question.
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(path)
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        if answer.status_code == 302:
            # It may have left a message, which costs the page that shows it some queries.
            client.get("/")
        if answer.status_code not in (403, 404):
            break
    return Reading(answer.status_code, count_rows(body.decode(errors="replace")), len(queries))


def rows_of_page(html: str) -> int:
    return sum(html.count(mark) for mark in ("<tr", "<li", "<label"))


def rows_of_answer(text: str) -> int:
    found = re.search(r'"count": (\d+)}$', text)
    return int(found[1]) if found else 0


@pytest.fixture(scope="module")
def readings(django_db_setup: None, django_db_blocker: Any) -> dict[str, Readings]:
    """Every address, by its name or path, with few rows and with many."""
    with django_db_blocker.unblock(), transaction.atomic():
        admin, superuser = make_person("admin", make_campaign()), make_person("superuser")
        browsers, programs = _browsers(admin, superuser), _programs(admin, superuser)
        rounds = []
        for n in (FEW, MANY):
            plenty = make_plenty(n, admin=admin, superuser=superuser)
            pages = {
                one.name: read(browsers, path_of(one, plenty), rows_of_page)
                for one in staff_addresses()
            }
            lists = {
                path: read(programs, api_path(path, plenty), rows_of_answer)
                for path in operations()
            }
            rounds.append(pages | lists)
        transaction.set_rollback(True)
    return {name: Readings(few, rounds[1][name]) for name, few in rounds[0].items()}


def _browsers(*people: User) -> list[Client]:
    browsers = [Client() for _ in people]
    for browser, person in zip(browsers, people, strict=True):
        browser.force_login(person)
    return browsers


def _programs(*people: User) -> list[Client]:
    secrets = [make_token(user=one, name="test", scopes=ALL_SCOPES)[1] for one in people]
    programs = [Client(headers={"Authorization": f"Bearer {secret}"}) for secret in secrets]
    for program in programs:
        # The first use of a token is noted, which is a query more.
        program.get("/api/v1/jobs")
    return programs


# Tests ----------------------------------------------------------------------------------------


def can_be_read(name: str, readings: dict[str, Readings]) -> bool:
    return readings[name].few.status != 405


def test_every_page_is_named_here_and_is_what_it_is_said_to_be(readings):
    readable = {one.name for one in staff_addresses() if can_be_read(one.name, readings)}
    assert readable == LISTS.keys() | NOT_LISTS | FILES | LEADING_ON
    found = {name for name in readable if readings[name].few.status == 200}
    assert readable - found == LEADING_ON
    growing = {name for name in NOT_LISTS if readings[name].few.n_rows < readings[name].many.n_rows}
    assert not growing, "These list something: give them a bound in LISTS."


@pytest.mark.parametrize("name", [one.name for one in staff_addresses()])
def test_a_page_takes_as_many_queries_for_many_rows_as_for_few(name, readings):
    readings[name].assert_steady()
    if name in LISTS:
        readings[name].assert_fed()
        assert readings[name].many.n_queries <= LISTS[name]


@pytest.mark.parametrize(("path", "operation"), operations().items(), ids=operations())
def test_the_api_takes_as_many_queries_for_many_rows_as_for_few(path, operation, readings):
    found = readings[path]
    assert found.few.status == 200
    found.assert_steady()
    assert found.many.n_queries <= MOST_QUERIES_OF_THE_API
    if is_paged(operation):
        found.assert_fed()
