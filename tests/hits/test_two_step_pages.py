"""The page for a person's two-step login, and pages that are closed until it is set up."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from hits.models import ApiToken, Authenticator
from hits.people.second_factor import authenticator_in_making, authenticator_of
from hits.people.second_step import OPEN_BEFORE
from tests.addresses import Address, addresses
from tests.factories import make_campaign
from tests.people import client_of, make_person
from tests.test_access_matrix import ALLOWED, path_of
from tests.two_step import PASSWORD, client_with_second_factor, code_of

pytestmark = pytest.mark.django_db

PAGE, SET_UP = "/account/two-step/", "/account/two-step/set-up/"


def person_with_password(role: str) -> User:
    user = make_person(role)
    user.set_password(PASSWORD)
    user.save()
    return user


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def do(client: Client, action: str, password: str = PASSWORD, **options: bool) -> Any:
    return client.post(PAGE, {"password": password, "deed": action}, **options)


def recovery_codes_on(page: Any) -> list[str]:
    return re.findall(r"<code>(\w{4}-\w{4}-\w{4})</code>", page.content.decode())


@pytest.mark.parametrize("role", ["outsider", "researcher", "admin", "superuser"])
def test_everyone_with_a_login_can_set_it_up(role):
    user = person_with_password(role)
    client = browser_of(user)
    assert "status-inactive" in client.get(PAGE).content.decode()
    assert do(client, "begin").url == SET_UP
    page = client.get(SET_UP).content.decode()
    key = re.search(r'class="secret">([A-Z2-7 ]+)<', page)
    assert key and len(key[1].replace(" ", "")) == 32 and "<svg" in page
    assert "style=" not in page
    authenticator = authenticator_in_making(user)
    assert authenticator is not None
    response = client.post(SET_UP, {"code": code_of(authenticator)})
    assert len(recovery_codes_on(response)) == 10
    # This session stays logged in.
    page = client.get(PAGE).content.decode()
    assert "status-active" in page and "10 recovery codes left" in page


def test_a_wrong_code_turns_nothing_on_and_shows_the_same_key_again():
    user = person_with_password("admin")
    client = browser_of(user)
    do(client, "begin")
    before = client.get(SET_UP).content.decode()
    after = client.post(SET_UP, {"code": "nonsense"})
    assert after.status_code == 422 and "That code is wrong" in after.content.decode()
    pattern = re.compile(r'class="secret">([A-Z2-7 ]+)<')
    [key] = pattern.findall(before)
    assert pattern.findall(after.content.decode()) == [key]
    assert authenticator_of(user) is None


@pytest.mark.parametrize("action", ["begin", "codes", "off"])
def test_every_change_requires_the_password(action):
    user = person_with_password("admin")
    client = browser_of(user) if action == "begin" else client_with_second_factor(user)
    before = list(Authenticator.objects.values("pk", "confirmed"))
    page = do(client, action, "guess")
    assert page.status_code == 422 and "That is not your password" in page.content.decode()
    assert list(Authenticator.objects.values("pk", "confirmed")) == before


def test_guesses_at_the_password_are_counted():
    client = browser_of(person_with_password("admin"))
    assert [do(client, "begin", "guess").status_code for _ in range(5)] == [422] * 4 + [429]


def test_new_recovery_codes_are_shown_once():
    client = client_with_second_factor(person_with_password("admin"))
    codes = recovery_codes_on(do(client, "codes"))
    assert len(codes) == 10
    assert codes[0] not in client.get(PAGE).content.decode()


def test_turning_it_off_keeps_the_session():
    user = person_with_password("admin")
    client = client_with_second_factor(user)
    assert "Two-step login is off" in do(client, "off", follow=True).content.decode()
    assert authenticator_of(user) is None and client.get(PAGE).status_code == 200


@pytest.mark.parametrize("action", ["codes", "", "nonsense"])
def test_an_invalid_action_does_nothing(action):
    client = browser_of(person_with_password("admin"))
    assert do(client, action).url == PAGE and not Authenticator.objects.exists()


def test_there_is_nothing_to_confirm_before_it_is_started_or_once_it_is_on():
    client = browser_of(person_with_password("admin"))
    assert client.get(SET_UP).url == PAGE
    client = client_with_second_factor(person_with_password("admin"))
    assert client.post(SET_UP, {"code": "123456"}).url == PAGE
    assert "already on" in do(client, "begin", follow=True).content.decode()


def test_an_unreadable_key_is_deleted(settings):
    user = person_with_password("admin")
    do(browser_of(user), "begin")
    settings.SECRET_KEY = "another"  # pragma: allowlist secret
    assert browser_of(user).get(SET_UP).url == PAGE
    assert not Authenticator.objects.exists()


def test_the_page_with_the_key_is_not_cached():
    client = browser_of(person_with_password("admin"))
    do(client, "begin")
    assert "no-store" in client.get(SET_UP)["Cache-Control"]


def test_djangos_admin_site_does_not_show_second_factors():
    page = client_of("superuser").get("/admin/").content.decode().lower()
    assert "otp" not in page and "authenticator" not in page


# When it is required -------------------------------------------------------------------------


def redirects_to_set_up(answer: Any) -> bool:
    return answer.status_code == 302 and answer.url == PAGE


def staff_addresses() -> list[Address]:
    """All addresses for staff, except those needed to set up a second factor."""
    return [
        address
        for address in addresses()
        if address.name not in OPEN_BEFORE and address.rule not in {"workers", "tokens"}
    ]


@pytest.mark.parametrize("address", staff_addresses(), ids=lambda address: address.name)
def test_no_page_opens_before_it_is_set_up(address, settings):
    settings.REQUIRE_TWO_FACTOR = True
    campaign = make_campaign()
    for client in (client_of("superuser"), client_of("admin"), client_of("admin", campaign)):
        for method in ("GET", "POST"):
            assert redirects_to_set_up(client.generic(method, path_of(address, campaign)))


def test_djangos_admin_site_does_not_open_before_it_is_set_up(settings):
    settings.REQUIRE_TWO_FACTOR = True
    assert redirects_to_set_up(client_of("superuser").get("/admin/auth/user/"))


def test_the_list_of_guarded_pages_is_complete():
    guarded = staff_addresses()
    assert len(guarded) > 60 and {"home", "api_tokens"} <= {address.name for address in guarded}
    assert set(ALLOWED) >= {address.rule for address in guarded}


def test_it_is_not_required_for_people_who_are_not_admins(settings):
    settings.REQUIRE_TWO_FACTOR = True
    assert client_of("researcher").get("/").status_code == 200
    assert client_of("outsider").get("/").status_code == 200
    assert Client().get("/").status_code == 200


def test_a_superuser_can_set_it_up_after_the_login(settings):
    settings.REQUIRE_TWO_FACTOR = True
    user, client = person_with_password("superuser"), Client()
    answer = client.post("/login/", {"username": user.username, "password": PASSWORD}, follow=True)
    assert answer.redirect_chain[-1][0] == PAGE
    assert "Set it up to continue" in answer.content.decode()
    do(client, "begin")
    authenticator = authenticator_in_making(user)
    assert authenticator is not None
    client.post(SET_UP, {"code": code_of(authenticator)})
    assert client.get("/").status_code == 200 and client.get("/people/").status_code == 200
    assert client.post("/logout/").status_code == 302


def test_turning_it_off_closes_the_pages_again(settings):
    settings.REQUIRE_TWO_FACTOR = True
    client = client_with_second_factor(person_with_password("admin"))
    assert client.get("/").status_code == 200
    do(client, "off")
    assert redirects_to_set_up(client.get("/"))


def test_a_token_is_made_only_in_a_verified_session_and_works_without_one(settings):
    settings.REQUIRE_TWO_FACTOR = True
    user = person_with_password("admin")
    form = {"name": "script", "scopes": ["read"], "days": "7"}
    assert redirects_to_set_up(browser_of(user).post("/tokens/", form))
    assert not ApiToken.objects.exists()
    page = client_with_second_factor(user).post("/tokens/", form).content.decode()
    secret = re.search(r"dap_[\w-]+", page)
    assert secret
    # The API depends neither on the second factor nor on a session.
    Authenticator.objects.all().delete()
    headers = {"Authorization": f"Bearer {secret[0]}"}
    for client in (Client(), browser_of(user)):
        assert client.get("/api/v1/campaigns", headers=headers).status_code == 200


def test_it_is_not_required_for_pages_of_workers(settings):
    settings.REQUIRE_TWO_FACTOR = True
    campaign = make_campaign()
    answer = client_of("admin").get(reverse("landing", args=[campaign.code]))
    assert not redirects_to_set_up(answer)
