"""Open every address of the URL configuration as every kind of visitor. A page without a rule fails."""

import uuid
from copy import deepcopy
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.urls.converters import IntConverter, UUIDConverter

from hits.models import Campaign
from tests.addresses import Address, addresses
from tests.factories import make_campaign
from tests.people import client_of

# The API accepts tokens only: see tests/api.
TOKENS_ONLY = "tokens"

VISITORS = (
    "stranger",
    "inactive",
    "outsider",
    "researcher elsewhere",
    "admin elsewhere",
    "researcher here",
    "admin here",
    "researcher",
    "admin",
    "superuser",
)
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
NOT_LOGGED_IN = {"stranger", "inactive"}
EVERYWHERE = {"researcher", "admin", "superuser"}
# The visitors that each rule lets in.
ALLOWED = {
    "anyone": set(VISITORS),
    "workers": set(VISITORS),
    "logged in": set(VISITORS) - NOT_LOGGED_IN,
    "members": set(VISITORS) - NOT_LOGGED_IN - {"outsider"},
    "admins": {"admin", "superuser"},
    "runners": {"admin", "superuser", "admin here", "admin elsewhere"},
    "superusers": {"superuser"},
    "tokens": set(),
    "campaign_researchers": EVERYWHERE | {"researcher here", "admin here"},
    "campaign_admins": {"admin", "superuser", "admin here"},
}
# They get a 404 for the campaign.
STRANGE_TO_CAMPAIGN = {"outsider", "researcher elsewhere", "admin elsewhere"}


def path_of(address: Address, campaign: Campaign) -> str:
    values = {
        key: _value(key, converter, address, campaign) for key, converter in address.parameters
    }
    return reverse(address.name, kwargs=values)


def _value(key: str, converter: Any, address: Address, campaign: Campaign) -> Any:
    if key == "code" and address.is_of_a_campaign:
        return campaign.code
    if isinstance(converter, UUIDConverter):
        return uuid.UUID(int=7)
    return 1 if isinstance(converter, IntConverter) else "x"


def client_for(visitor: str, campaign: Campaign) -> Client:
    role, _, where = visitor.partition(" ")
    return client_of(role, {"here": campaign, "elsewhere": make_campaign(), "": None}[where])


def is_sent_to_login(answer: Any) -> bool:
    return answer.status_code == 302 and answer.url.startswith(reverse("login"))


def test_every_address_has_a_name_and_a_rule():
    bare = [address.name for address in addresses() if address.rule not in ALLOWED]
    assert not bare, f"No rule of hits.people.access on: {bare}"
    assert not [address for address in addresses() if address.name.endswith("None")]


def visitors_of(address: Address) -> tuple[str, ...]:
    # Not even a superuser's session opens the API.
    return ("stranger", "superuser") if address.rule == TOKENS_ONLY else VISITORS


def is_as_the_rule_says(answer: Any, address: Address, visitor: str) -> bool:
    if visitor in ALLOWED[address.rule]:
        is_open = answer.status_code not in (401, 403) and answer.status_code < 500
        return is_open and not is_sent_to_login(answer)
    if address.rule == TOKENS_ONLY:
        return answer.status_code == 401
    if visitor in NOT_LOGGED_IN:
        return is_sent_to_login(answer)
    is_hidden = address.is_of_a_campaign and visitor in STRANGE_TO_CAMPAIGN
    return answer.status_code == (404 if is_hidden else 403)


@pytest.fixture(scope="module")
def campaign(shared_rows: None) -> Campaign:
    return make_campaign()


@pytest.fixture(scope="module")
def cookies(campaign: Campaign) -> dict[str, SimpleCookie]:
    """The cookies of each visitor's browser."""
    return {visitor: client_for(visitor, campaign).cookies for visitor in VISITORS}


@pytest.mark.django_db
@pytest.mark.parametrize("address", addresses(), ids=lambda address: address.name)
def test_an_address_is_open_to_exactly_those_its_rule_names(
    address: Address, campaign: Campaign, cookies: dict[str, SimpleCookie]
):
    methods = METHODS if address.rule == TOKENS_ONLY else METHODS[:2]
    wrong = []
    for visitor in visitors_of(address):
        client, path = Client(), path_of(address, campaign)
        client.cookies = deepcopy(cookies[visitor])
        # What one visitor changes must not matter to the next.
        with transaction.atomic():
            answers = {method: client.generic(method, path) for method in methods}
            transaction.set_rollback(True)
        # Some pages accept one method only.
        taken = {method: a for method, a in answers.items() if a.status_code != 405}
        assert taken, f"{path} takes no method from: {visitor}"
        wrong += [
            f"{method} {path} answers {answer.status_code} to: {visitor}"
            for method, answer in taken.items()
            if not is_as_the_rule_says(answer, address, visitor)
        ]
    assert not wrong


@pytest.mark.django_db
def test_only_superusers_open_djangos_admin(campaign: Campaign):
    statuses = {
        visitor: client_for(visitor, campaign).get(reverse("admin:index")).status_code
        for visitor in VISITORS
    }
    assert statuses == dict.fromkeys(VISITORS, 302) | {"superuser": 200}
