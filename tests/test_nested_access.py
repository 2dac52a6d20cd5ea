"""Objects of another campaign cannot be reached through one's own campaign.

Eve is an admin of one campaign. She puts its code into every address of the URL configuration and the API schema,
followed by the worker, run, payment and so on of Bob's campaign. They all exist, because Bob can open them.
"""

import json
from dataclasses import dataclass
from string import Formatter
from typing import Any

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client
from django.urls import reverse

from analysis.models import Evaluation
from hits.models import Campaign
from tests.addresses import Address
from tests.api.test_access import BODIES, OPERATIONS, read_to_end
from tests.factories import make_campaign
from tests.people import browser_of, make_person
from tests.plenty import WORDS, Plenty, make_plenty, path_of, staff_addresses
from tests.test_query_counts import api_path, program_of

# In the group of the slow tests of query counts.
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("query counts")]

# Parameters that name a page or a file, not an object.
PLAIN_WORDS = {"name", "fmt", "format", "kind", "way"}
# Uploads, and the field of the file.
FILES = {"add_scores_to_collection": "files", "add_gold_to_collection": "file"}
# Tables that every visit changes.
LEFT_BY_VISITS = {"sessions.Session", "hits.RateCount"}


@dataclass(frozen=True)
class Answers:
    """The statuses for Eve under her own campaign and for Bob under his, and the tables that Eve changed."""

    eve: dict[str, int]
    bob: dict[str, int]
    changed: list[str]


# Addresses ------------------------------------------------------------------------------------


def is_nested(address: Address) -> bool:
    """Whether an address names an object besides the campaign."""
    words = WORDS.get(address.name, {}).keys() | PLAIN_WORDS
    keys = {key for key, _ in address.parameters} - words
    return bool(keys - {"code"} if address.is_of_a_campaign else keys)


def is_nested_path(path: str) -> bool:
    keys = {key for _, key, _, _ in Formatter().parse(path) if key} - PLAIN_WORDS
    in_campaign = path.startswith("/api/v1/campaigns/")
    return bool(keys - {"code"} if in_campaign else keys) or path.endswith("/compare")


PAGES = [address for address in staff_addresses() if is_nested(address)]
CALLS = [address for address in OPERATIONS if is_nested_path(address[2])]


def under(own_campaign: Campaign, path: str, plenty: Plenty) -> str:
    return path.replace(str(plenty.campaign.code), str(own_campaign.code))


# Requests -------------------------------------------------------------------------------------


def page_statuses(
    client: Client, plenty: Plenty, own_campaign: Campaign, *methods: str
) -> dict[str, int]:
    return {
        f"{method} {address.name}": read_to_end(
            client.generic(method, under(own_campaign, path_of(address, plenty), plenty))
        ).status_code
        for address in PAGES
        for method in methods
    }


def api_statuses(
    client: Client, plenty: Plenty, own_campaign: Campaign, *methods: str
) -> dict[str, int]:
    statuses = {}
    for name, method, path in CALLS:
        if methods and method not in methods:
            continue
        address = under(own_campaign, api_path(path, plenty), plenty)
        if field := FILES.get(name):
            form = {
                field: ContentFile(b"a\tb\n", "scores.tsv"),
                "kind": "da",
                "higher_is_better": True,
            }
            answer = client.post(address, form)
        else:
            body = json.dumps(BODIES.get(name, {"higher_is_better": True}))
            answer = client.generic(method.upper(), address, body, content_type="application/json")
        statuses[f"{method.upper()} {path}"] = read_to_end(answer).status_code
    return statuses


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
        own_campaign = make_campaign()
        eve, bob = make_person("admin", own_campaign), make_person("admin", make_campaign())
        plenty = make_plenty(2, admin=bob, superuser=make_person("superuser"))
        browser, program = browser_of(eve), program_of(eve)
        carol = browser_of(make_person("admin"))
        before = stored()
        eve_statuses = page_statuses(browser, plenty, own_campaign, "GET", "POST")
        eve_statuses |= api_statuses(program, plenty, own_campaign)
        eve_statuses |= _other_statuses(browser, carol, plenty)
        changed = changes(before)
        _send_objects_of_bob(browser, program, plenty, own_campaign)
        changed += [label for label in changes(before) if label != "hits.AuditEntry"]
        bob_statuses = page_statuses(browser_of(bob), plenty, plenty.campaign, "GET")
        bob_statuses |= api_statuses(program_of(bob), plenty, plenty.campaign, "get")
        transaction.set_rollback(True)
    return Answers(eve_statuses, bob_statuses, changed)


def _other_statuses(browser: Client, carol: Client, plenty: Plenty) -> dict[str, int]:
    """Other evaluations for Eve; and drafts for Carol, who is an admin of all campaigns."""
    statuses = {}
    for evaluation in Evaluation.objects.exclude(campaign=plenty.campaign):
        for name in ("evaluation", "evaluation_json"):
            path = reverse(name, args=[evaluation.code])
            statuses[f"GET {name} {evaluation.pk}"] = browser.get(path).status_code
    for address in PAGES:
        if "draft" in address.name:
            for method in ("GET", "POST"):
                path = path_of(address, plenty)
                statuses[f"{method} {address.name} carol"] = carol.generic(method, path).status_code
    return statuses


def _send_objects_of_bob(
    browser: Client, program: Client, plenty: Plenty, own_campaign: Campaign
) -> None:
    """Send workers, links, metrics, assignments and campaigns of Bob in the body of requests."""
    worker, assignment = str(plenty.worker.code), str(plenty.assignment.code)
    links = list(plenty.campaign.invites.values_list("pk", flat=True))
    rule = {"kind": "adjustment", "amount": "1", "reason": "A gap", "assignment": assignment}
    metric, pool = str(plenty.metric.code), [str(own_campaign.code), str(plenty.campaign.code)]
    chosen = f"?choice=exclude&worker={worker}"
    held = f"?choice=discard&hit={assignment}"
    decision_page = reverse("decide_holds", args=[own_campaign.code]) + held
    assert browser.post(decision_page, {"reason": "Why", "seen": "x"}).status_code == 404
    for name, form in {
        "decide_workers": {"reason": "Why", "seen": "x"},
        "revoke_links": {"invite": links},
        "campaign_directions": {"metric": metric, "way": "lower"},
        "add_pay_rule": rule,
        "campaign_evaluate": {"metrics": [metric], "golds": [plenty.gold.pk]},
    }.items():
        answer = browser.post(reverse(name, args=[own_campaign.code]) + chosen, form)
        assert answer.status_code < 500
    assert browser.post(reverse("evaluate_pooled"), {"campaigns": pool}).status_code < 500
    hold_decision = {"choice": "discard", "hits": [assignment], "reason": "Why", "seen": "x"}
    decision = {"choice": "exclude", "workers": [worker], "reason": "Why", "seen": "x"}
    for path, body in {
        "workers/decide": decision,
        "workers/preview": decision,
        "held/decide": hold_decision,
        "held/preview": hold_decision,
        "invites/revoke": {"ids": links},
        "payments/rules": rule,
    }.items():
        answer = program.post(
            f"/api/v1/campaigns/{own_campaign.code}/{path}", body, content_type="application/json"
        )
        assert answer.status_code < 500 and worker not in answer.content.decode()


# Tests ----------------------------------------------------------------------------------------


def test_addresses_of_every_kind_are_checked():
    names = {key for address in PAGES for key, _ in address.parameters}
    assert {"worker", "run", "payment", "assignment", "rule", "membership", "token"} <= names
    paths = " ".join(path for _, _, path in CALLS)
    assert all(f"{{{key}}}" in paths for key in ("worker", "run", "payment", "metric", "number"))


def test_objects_of_another_campaign_cannot_be_reached_through_ones_own(answers):
    let_in = {name: status for name, status in answers.eve.items() if status not in (403, 404, 405)}
    assert not let_in
    pages = {name.split()[1] for name, status in answers.eve.items() if status != 405}
    assert {address.name for address in PAGES} | {path for _, _, path in CALLS} <= pages


def test_nor_can_they_be_changed(answers):
    assert answers.changed == []


def test_they_all_exist_for_their_owner(answers):
    """Except people and drafts, which are for superusers."""
    missing = {name for name, status in answers.bob.items() if status in (403, 404)}
    assert all("draft" in name or "person" in name for name in missing)
