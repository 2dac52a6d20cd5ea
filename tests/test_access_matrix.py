"""Every address with every kind of visitor. Made from the URL configuration: a new page without a rule fails."""

import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.urls.converters import IntConverter, UUIDConverter

from hits.models import Campaign
from tests.addresses import Address, addresses
from tests.factories import make_campaign
from tests.people import client_of

# A session opens nothing of the API: see tests/api.
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
# Who may come in, and what the others are told once they have logged in.
ALLOWED = {
    "anyone": set(VISITORS),
    "workers": set(VISITORS),
    "logged in": set(VISITORS) - NOT_LOGGED_IN,
    "members": set(VISITORS) - NOT_LOGGED_IN - {"outsider"},
    "researchers": EVERYWHERE,
    "admins": {"admin", "superuser"},
    "runners": {"admin", "superuser", "admin here", "admin elsewhere"},
    "superusers": {"superuser"},
    "tokens": set(),
    "campaign_researchers": EVERYWHERE | {"researcher here", "admin here"},
    "campaign_admins": {"admin", "superuser", "admin here"},
}
# For these the campaign does not exist.
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
    assert not bare, f"No rule of hits.access on: {bare}"
    assert not [address for address in addresses() if address.name.endswith("None")]


def cases() -> list[Any]:
    return [
        pytest.param(address, visitor, id=f"{address.name}-{visitor}")
        for address in addresses()
        for visitor in VISITORS
        # Of the API it is enough that a login, even the highest, opens none of it.
        if address.rule != TOKENS_ONLY or visitor in ("stranger", "superuser")
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(("address", "visitor"), cases())
def test_it_lets_in_whom_its_rule_names_and_nobody_else(address: Address, visitor: str):
    campaign = make_campaign()
    client, path = client_for(visitor, campaign), path_of(address, campaign)
    methods = METHODS if address.rule == TOKENS_ONLY else METHODS[:2]
    answers = [client.generic(method, path) for method in methods]
    # A page may take one method only; whoever asks with the other learns no more than that.
    answers = [answer for answer in answers if answer.status_code != 405]
    assert answers
    for answer in answers:
        if visitor in ALLOWED[address.rule]:
            assert answer.status_code not in (401, 403) and answer.status_code < 500
            assert not is_sent_to_login(answer)
        elif address.rule == TOKENS_ONLY:
            assert answer.status_code == 401
        elif visitor in NOT_LOGGED_IN:
            assert is_sent_to_login(answer)
        elif address.is_of_a_campaign and visitor in STRANGE_TO_CAMPAIGN:
            assert answer.status_code == 404
        else:
            assert answer.status_code == 403


@pytest.mark.django_db
@pytest.mark.parametrize("visitor", VISITORS)
def test_only_superusers_open_djangos_admin(visitor: str):
    answer = client_for(visitor, make_campaign()).get(reverse("admin:index"))
    assert answer.status_code == (200 if visitor == "superuser" else 302)
