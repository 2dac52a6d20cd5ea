"""What belongs to another campaign, asked for under one's own: it does not exist there.

Made from the URL configuration and from the API's own description. Eve runs a campaign. She puts its code
into every address, and behind it the worker, run, payment and so on of a campaign that is Bob's. All of
them exist, as Bob's own reading shows.
"""

import json
from dataclasses import dataclass
from string import Formatter
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse

from analysis.models import Evaluation
from hits.models import Campaign
from hits.people.tokens import make_token
from tests.addresses import Address
from tests.api.callers import ALL_SCOPES
from tests.api.test_access import BODIES, OPERATIONS
from tests.factories import make_campaign
from tests.people import make_person
from tests.plenty import WORDS, Plenty, make_plenty, path_of, staff_addresses
from tests.test_query_counts import api_path

# Beside the test of queries: what they look at takes as long to make.
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("query counts")]

# They name a page or a file, and nothing that is anybody's.
PLAIN_WORDS = {"name", "fmt", "format", "kind", "way"}
# Rows that a visit leaves by itself.
LEFT_BY_VISITS = {"sessions.Session", "hits.RateCount"}


@dataclass(frozen=True)
class Answers:
    """What Eve is told under her own campaign's code, and Bob under his; and what changed meanwhile."""

    eve: dict[str, int]
    bob: dict[str, int]
    changed: list[str]


# Addresses ------------------------------------------------------------------------------------


def is_nested(address: Address) -> bool:
    """Whether an address names a thing that is somebody's, beside the campaign or without one."""
    words = WORDS.get(address.name, {}).keys() | PLAIN_WORDS
    keys = {key for key, _ in address.parameters} - words
    return bool(keys - {"code"} if address.is_of_a_campaign else keys)


def is_nested_path(path: str) -> bool:
    keys = {key for _, key, _, _ in Formatter().parse(path) if key} - PLAIN_WORDS
    in_campaign = path.startswith("/api/v1/campaigns/")
    return bool(keys - {"code"} if in_campaign else keys) or path.endswith("/compare")


PAGES = [one for one in staff_addresses() if is_nested(one)]
CALLS = [one for one in OPERATIONS if is_nested_path(one[2])]


def under(own: Campaign, path: str, plenty: Plenty) -> str:
    return path.replace(str(plenty.campaign.code), str(own.code))


# Asking ---------------------------------------------------------------------------------------


def browser_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def program_of(person: User) -> Client:
    secret = make_token(user=person, name="test", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {secret}"})


def told_on_pages(client: Client, plenty: Plenty, own: Campaign, *methods: str) -> dict[str, int]:
    return {
        f"{method} {one.name}": client.generic(
            method, under(own, path_of(one, plenty), plenty)
        ).status_code
        for one in PAGES
        for method in methods
    }


def told_to_programs(
    client: Client, plenty: Plenty, own: Campaign, *methods: str
) -> dict[str, int]:
    return {
        f"{method.upper()} {path}": client.generic(
            method.upper(),
            under(own, api_path(path, plenty), plenty),
            json.dumps(BODIES.get(name, {"higher_is_better": True})),
            content_type="application/json",
        ).status_code
        for name, method, path in CALLS
        if not methods or method in methods
    }


def stored() -> dict[str, list[dict[str, Any]]]:
    rows = {}
    for model in apps.get_models():
        if model._meta.label not in LEFT_BY_VISITS:
            rows[model._meta.label] = list(model._base_manager.order_by("pk").values())
    for token in rows["hits.ApiToken"]:
        del token["last_used_at"]
    return rows


def changes(before: dict[str, Any]) -> list[str]:
    after = stored()
    return [label for label, rows in before.items() if after[label] != rows]


@pytest.fixture(scope="module")
def answers(django_db_setup: None, django_db_blocker: Any) -> Any:
    with django_db_blocker.unblock(), transaction.atomic():
        own = make_campaign()
        eve, bob = make_person("admin", own), make_person("admin", make_campaign())
        plenty = make_plenty(2, admin=bob, superuser=make_person("superuser"))
        browser, program = browser_of(eve), program_of(eve)
        carol = browser_of(make_person("admin"))
        before = stored()
        told = told_on_pages(browser, plenty, own, "GET", "POST")
        told |= told_to_programs(program, plenty, own)
        told |= _told_elsewhere(browser, carol, plenty)
        changed = changes(before)
        _send_others_in_bodies(browser, program, plenty, own)
        changed += [label for label in changes(before) if label != "hits.AuditEntry"]
        known = told_on_pages(browser_of(bob), plenty, plenty.campaign, "GET")
        known |= told_to_programs(program_of(bob), plenty, plenty.campaign, "get")
        transaction.set_rollback(True)
    return Answers(told, known, changed)


def _told_elsewhere(browser: Client, carol: Client, plenty: Plenty) -> dict[str, int]:
    """Evaluations of collections and of several campaigns; and drafts, for Carol, who runs all campaigns."""
    told = {}
    for one in Evaluation.objects.exclude(campaign=plenty.campaign):
        for name in ("evaluation", "evaluation_json"):
            told[f"GET {name} {one.pk}"] = browser.get(reverse(name, args=[one.code])).status_code
    for one in PAGES:
        if "draft" in one.name:
            for method in ("GET", "POST"):
                path = path_of(one, plenty)
                told[f"{method} {one.name} carol"] = carol.generic(method, path).status_code
    return told


def _send_others_in_bodies(browser: Client, program: Client, plenty: Plenty, own: Campaign) -> None:
    """Where addresses name none, bodies do: workers, links, metrics, assignments, campaigns."""
    worker, assignment = str(plenty.worker.code), str(plenty.assignment.code)
    links = list(plenty.campaign.invites.values_list("pk", flat=True))
    rule = {"kind": "adjustment", "amount": "1", "reason": "A gap", "assignment": assignment}
    metric, pool = str(plenty.metric.code), [str(own.code), str(plenty.campaign.code)]
    chosen = f"?choice=exclude&worker={worker}"
    for name, form in {
        "decide_workers": {"reason": "Why", "seen": "x"},
        "revoke_links": {"invite": links},
        "campaign_directions": {"metric": metric, "way": "lower"},
        "add_pay_rule": rule,
        "campaign_evaluate": {"metrics": [metric], "golds": [plenty.gold.pk]},
    }.items():
        answer = browser.post(reverse(name, args=[own.code]) + chosen, form)
        assert answer.status_code < 500
    assert browser.post(reverse("evaluate_pooled"), {"campaigns": pool}).status_code < 500
    decision = {"choice": "exclude", "workers": [worker], "reason": "Why", "seen": "x"}
    for path, body in {
        "workers/decide": decision,
        "workers/preview": decision,
        "invites/revoke": {"ids": links},
        "payments/rules": rule,
    }.items():
        answer = program.post(
            f"/api/v1/campaigns/{own.code}/{path}", body, content_type="application/json"
        )
        assert answer.status_code < 500 and worker not in answer.content.decode()


# Tests ----------------------------------------------------------------------------------------


def test_there_are_addresses_of_every_kind():
    names = {key for one in PAGES for key, _ in one.parameters}
    assert {"worker", "run", "payment", "assignment", "rule", "membership", "token"} <= names
    paths = " ".join(path for _, _, path in CALLS)
    assert all(f"{{{key}}}" in paths for key in ("worker", "run", "payment", "metric", "number"))


def test_under_ones_own_campaign_nothing_of_anothers_is_there(answers):
    let_in = {name: status for name, status in answers.eve.items() if status not in (403, 404, 405)}
    assert not let_in
    pages = {name.split()[1] for name, status in answers.eve.items() if status != 405}
    assert {one.name for one in PAGES} | {path for _, _, path in CALLS} <= pages


def test_nothing_has_changed_meanwhile(answers):
    assert answers.changed == []


def test_all_of_it_is_there_for_those_whose_it_is(answers):
    """But for what superusers alone have: people, and drafts of campaigns."""
    missing = {name for name, status in answers.bob.items() if status in (403, 404)}
    assert all("draft" in name or "person" in name for name in missing)
