"""The number of queries of a page or an API list does not grow with its rows.

Every page of the URL configuration and every GET operation of the API schema is read with few rows of everything, and
again with three times as many. New pages have to be added to one of the groups below.
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

from analysis.evaluation.pictures import pictures_of_result
from analysis.evaluation.stored_evaluations import result_of
from analysis.evaluation.tables import tables_of
from analysis.models import Evaluation
from hits.people.tokens import make_token
from tests.addresses import api_schema
from tests.api.callers import ALL_SCOPES
from tests.factories import make_campaign
from tests.people import browser_of, make_person
from tests.plenty import Plenty, make_plenty, path_of, staff_addresses, table_name

# In one xdist group, because the fixture takes half a minute.
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("query counts")]

FEW, MANY = 2, 6

# Pages that list rows, and how many queries each may need.
LISTS = {
    "home": 18,
    "new_campaign": 6,
    "campaign_workers": 14,
    "held_hits": 10,
    "text_reports": 10,
    "campaign_worker": 33,
    "worker_groups": 18,
    "worker_likeness": 14,
    "worker_weights": 14,
    "campaign_recruiting": 16,
    "campaign_payments": 24,
    "plan_payments": 21,
    "payment_run": 14,
    "audit_log": 10,
    "people": 10,
    "person": 10,
    "api_tokens": 6,
    "campaign_results": 16,
    "post_editions": 20,
    "campaign_segments": 10,
    "campaign_documents": 16,
    "campaign_report": 20,
    "campaign_metrics": 12,
    "campaign_evaluate": 10,
    "evaluations": 10,
    "experiments": 6,
    "evaluate_pooled": 8,
    "evaluations_across": 8,
    "evaluation_contrast": 24,
    "import_report": 12,
    "collection_metrics": 10,
    "collection_evaluate": 10,
    "evaluation": 8,
    "jobs": 8,
}
# Pages about one thing. Their queries must not grow either.
NOT_LISTS = {
    "campaign_ranking", "presentation_effects", "campaign_looks", "ranking_report", "plan_campaign", "import_collection", "own_references", "draft_basics", "draft_files", "campaign_overview", "campaign_live", "campaign_settings",
    "campaign_instructions", "campaign_worker_texts", "campaign_questionnaire", "campaign_cost", "pay_assignment", "preview_landing",
    "preview_privacy", "preview_questions", "preview_instructions", "preview_practice", "preview_check", "preview_item",
    "preview_finish", "preview_done", "new_collection", "new_experiment", "experiment", "job", "health", "password_change",
    "two_step", "password_change_done",
}  # fmt: skip
# Plots, tables and other files.
FILES = {
    "presentation_table", "presentation_picture", "ranking_table", "ranking_picture", "ranking_report_pdf", "ranking_judgements", "campaign_worker_texts_file", "campaign_questionnaire_file", "preview_media", "worker_picture", "held_picture", "likeness_picture", "payment_list", "people_list", "payment_ledger", "result_picture", "result_export",
    "campaign_report_pdf", "evaluation_json", "evaluation_table", "evaluation_picture", "evaluation_contradictions", "evaluation_contrast_picture",
    "evaluation_points", "job_progress", "experiment_json", "experiment_report", "experiment_table", "experiment_picture", "plan_picture",
}  # fmt: skip
# They redirect to another page.
REDIRECTS = {
    "two_step_set_up", "evaluations_across_file", "preview", "decide_workers", "decide_holds", "draft_settings", "draft_check",
}  # fmt: skip

MAX_API_QUERIES = 22


@dataclass(frozen=True)
class Reading:
    """The status of a response, and its numbers of rows and queries."""

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
        assert self.few.n_rows < self.many.n_rows, "no rows to show: see tests/plenty.py"


# Addresses ------------------------------------------------------------------------------------


def operations() -> dict[str, dict[str, Any]]:
    """The GET operations of the API, by path."""
    paths = api_schema()["paths"]
    return {path: methods["get"] for path, methods in paths.items() if "get" in methods}


def is_paged(operation: dict[str, Any]) -> bool:
    content = operation["responses"]["200"]["content"].get("application/json", {})
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
        "experiment": plenty.experiment.code,
        "collection": plenty.collection.code,
        "number": plenty.evaluation.number if of_evaluation else plenty.gold.number,
        "name": _name_of_file(path, plenty),
        "person": plenty.membership.user.pk,
        "part": plenty.membership.pk,
        "payment": plenty.payment.code,
        "assignment": plenty.assignment.code,
        "rule": plenty.rule.code,
    }
    if "/collections" in path:
        evaluation = Evaluation.objects.filter(collection=plenty.collection).latest("pk")
        parts = tables_of if "/tables" in path else pictures_of_result
        name = parts(result_of(evaluation))[0].name
        values |= {"number": evaluation.number, "name": name}
    names = {parameter["name"] for parameter in operations().get(path, {}).get("parameters", [])}
    query = "?earlier=1&later=2" if "earlier" in names else "?format=csv" * ("format" in names)
    return path.format(**values) + query


def _name_of_file(path: str, plenty: Plenty) -> str:
    if "/experiments" in path:
        return "word-tags" if "/tables" in path else "calibration-1"
    if "/presentation" in path:
        return "screen-places"
    if "/judgements" in path:
        return "ranking" if "/tables" in path else "rank-ranges"
    if "/tables" in path:
        return table_name(plenty)
    return "between-metrics" if "/evaluations" in path else "system-ranking"


# Reading --------------------------------------------------------------------------------------


def read(clients: list[Client], path: str, count_rows: Callable[[str], int]) -> Reading:
    """Read an address as the first client who may open it."""
    for client in clients:
        # The cache must not save queries.
        cache.clear()
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(path)
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        if answer.status_code == 302:
            # Show the message it may have left, which would cost the next page some queries.
            client.get("/")
        if answer.status_code not in (403, 404):
            break
    return Reading(answer.status_code, count_rows(body.decode(errors="replace")), len(queries))


def rows_of_page(html: str) -> int:
    return sum(html.count(mark) for mark in ("<tr", "<li", "<label"))


def rows_of_answer(text: str) -> int:
    match = re.search(r'"count": (\d+)}$', text)
    return int(match[1]) if match else 0


@pytest.fixture(scope="module")
def readings(django_db_setup: None, django_db_blocker: Any) -> dict[str, Readings]:
    """The readings of every address, by name or path."""
    with django_db_blocker.unblock(), transaction.atomic():
        admin, superuser = make_person("admin", make_campaign()), make_person("superuser")
        browsers = [browser_of(person) for person in (admin, superuser)]
        programs = [program_of(person) for person in (admin, superuser)]
        for program in programs:
            # The first use of a token costs a query.
            program.get("/api/v1/jobs")
        rounds = []
        for n in (FEW, MANY):
            plenty = make_plenty(n, admin=admin, superuser=superuser)
            pages = {
                address.name: read(browsers, path_of(address, plenty), rows_of_page)
                for address in staff_addresses()
            }
            lists = {
                path: read(programs, api_path(path, plenty), rows_of_answer)
                for path in operations()
            }
            rounds.append(pages | lists)
        transaction.set_rollback(True)
    return {name: Readings(few, rounds[1][name]) for name, few in rounds[0].items()}


def program_of(person: User) -> Client:
    """A client with a token of this person."""
    secret = make_token(user=person, name="test", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {secret}"})


# Tests ----------------------------------------------------------------------------------------


def can_be_read(name: str, readings: dict[str, Readings]) -> bool:
    return readings[name].few.status != 405


def test_every_page_is_listed_here_in_the_right_group(readings):
    readable = {
        address.name for address in staff_addresses() if can_be_read(address.name, readings)
    }
    assert readable == LISTS.keys() | NOT_LISTS | FILES | REDIRECTS
    opened = {name for name in readable if readings[name].few.status == 200}
    assert readable - opened == REDIRECTS
    growing = {name for name in NOT_LISTS if readings[name].few.n_rows < readings[name].many.n_rows}
    assert not growing, "These list rows: move them to LISTS."


@pytest.mark.parametrize("name", [address.name for address in staff_addresses()])
def test_a_page_needs_no_more_queries_for_more_rows(name, readings):
    readings[name].assert_steady()
    if name in LISTS:
        readings[name].assert_fed()
        assert readings[name].many.n_queries <= LISTS[name]


@pytest.mark.parametrize(("path", "operation"), operations().items(), ids=operations())
def test_the_api_needs_no_more_queries_for_more_rows(path, operation, readings):
    reading = readings[path]
    assert reading.few.status == 200
    reading.assert_steady()
    assert reading.many.n_queries <= MAX_API_QUERIES
    if is_paged(operation):
        reading.assert_fed()
