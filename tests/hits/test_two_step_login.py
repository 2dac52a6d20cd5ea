"""Logging in with password and code: both are always required."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.models import Authenticator
from hits.people.second_factor import reset, turn_off
from tests.people import client_of, make_person
from tests.two_step import PASSWORD, code_of, give_second_factor

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]

CODE_PAGE = "/login/code/"
TOKENS = "/tokens/"


@pytest.fixture
def alice() -> User:
    user = make_person("admin")
    User.objects.filter(pk=user.pk).update(username="alice")
    user.refresh_from_db()
    user.set_password(PASSWORD)
    user.save()
    return user


@pytest.fixture
def app(alice: User) -> Authenticator:
    return give_second_factor(alice)[0]


def give_password(client: Client, password: str = PASSWORD, query: str = "", **extra: str) -> Any:
    data = {"username": "alice", "password": password} | extra
    return client.post(f"/login/{query}", data)


def give_code(client: Client, code: str, **extra: str) -> Any:
    return client.post(CODE_PAGE, {"code": code} | extra)


def wrong_code(app: Authenticator) -> str:
    return code_of(app, timezone.now() + timedelta(hours=1))


@pytest.fixture
def waiting(app: Authenticator) -> Client:
    """A browser in which alice has given the password but not the code."""
    client = Client()
    give_password(client)
    return client


def is_in(client: Client) -> bool:
    return client.get(TOKENS).status_code == 200


def test_password_then_code_log_in(app):
    client = Client()
    answer = give_password(client)
    assert (answer.status_code, answer.url) == (302, CODE_PAGE)
    page = client.get(CODE_PAGE).content.decode()
    assert 'autocomplete="one-time-code"' in page and 'inputmode="numeric"' in page
    answer = give_code(client, code_of(app))
    assert (answer.status_code, answer.url) == (302, "/")
    assert is_in(client)


def test_without_a_second_factor_the_password_is_enough(alice):
    client = Client()
    assert give_password(client).url == "/"
    assert is_in(client)


def test_nobody_is_logged_in_between_the_steps(waiting):
    assert SESSION_KEY not in waiting.session and not is_in(waiting)
    assert "alice" not in waiting.get("/").content.decode()


@pytest.mark.parametrize("is_recovery", [False, True])
def test_a_code_of_the_app_or_a_recovery_code_works_once(alice, is_recovery):
    app, codes = give_second_factor(alice)
    code = codes[0] if is_recovery else code_of(app)
    for is_first in (True, False):
        client = Client()
        give_password(client)
        give_code(client, code)
        assert is_in(client) is is_first


def test_a_wrong_code_is_refused_with_advice(app, waiting):
    page = give_code(waiting, wrong_code(app))
    assert page.status_code == 200 and "Codes change every half minute" in page.content.decode()
    assert "wait 1 second," in give_code(waiting, code_of(app)).content.decode()
    assert not is_in(waiting)


def test_the_right_code_with_a_wrong_password_is_refused(app):
    client = Client()
    assert give_password(client, "guess").status_code == 200
    page = give_code(client, code_of(app)).content.decode()
    assert "Enter your username and password first" in page
    assert not is_in(client)


def test_the_code_page_sends_strangers_to_the_login():
    page = Client().get(f"{CODE_PAGE}?next=/audit/").content.decode()
    assert 'href="/login/?next=/audit/"' in page


@pytest.mark.parametrize("url", ["/login/", "/admin/login/"])
def test_every_login_page_requires_the_code(app, url):
    client = Client()
    answer = client.post(url, {"username": "alice", "password": PASSWORD})
    assert answer.url == CODE_PAGE and not is_in(client)


def test_the_next_page_is_kept_over_both_steps(app):
    client = Client()
    answer = give_password(client, query="?next=/audit/")
    assert answer.url == f"{CODE_PAGE}?next=%2Faudit%2F"
    assert 'name="next" value="/audit/"' in client.get(answer.url).content.decode()
    assert give_code(client, code_of(app), next="/audit/").url == "/audit/"


@pytest.mark.parametrize(
    "address", ["https://evil.example/", "//evil.example", "javascript:alert(1)"]
)
def test_nobody_is_redirected_to_another_site(app, address):
    client = Client()
    assert give_password(client, next=address).url == CODE_PAGE
    assert give_code(client, code_of(app), next=address).url == "/"


# Between the steps ---------------------------------------------------------------------------


def test_the_code_must_follow_within_ten_minutes(app, waiting, stopped_clock):
    stopped_clock.shift(601)
    give_code(waiting, code_of(app))
    assert not is_in(waiting)


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": PASSWORD}])
def test_a_new_password_or_a_deactivation_ends_the_login(app, waiting, alice, change):
    User.objects.filter(pk=alice.pk).update(**change)
    page = give_code(waiting, code_of(app)).content.decode()
    assert "Enter your username and password first" in page


# Guessing ------------------------------------------------------------------------------------


def test_five_wrong_codes_lock_the_name_for_that_address(app, waiting, stopped_clock):
    for _ in range(4):
        assert give_code(waiting, wrong_code(app)).status_code == 200
        stopped_clock.shift(20)
    locked = give_code(waiting, wrong_code(app))
    assert locked.status_code == 429 and "Too many attempts" in locked.content.decode()
    stopped_clock.shift(60)
    # Neither the right code nor the right password works now.
    assert give_code(waiting, code_of(app)).status_code == 429
    assert give_password(Client()).status_code == 429
    assert give_password(Client(REMOTE_ADDR="203.0.113.9")).status_code == 302
    stopped_clock.shift(16 * 60)
    client = Client()
    give_password(client)
    give_code(client, code_of(app))
    assert is_in(client)


def test_a_code_sent_too_early_does_not_count_as_a_failure(app, waiting):
    give_code(waiting, wrong_code(app))
    for _ in range(8):
        assert give_code(waiting, code_of(app)).status_code == 200
    assert AccessAttempt.objects.get().failures_since_start == 1


def test_a_stored_failure_does_not_contain_the_code(alice):
    _, codes = give_second_factor(alice)
    client = Client()
    give_password(client)
    give_code(client, codes[0] + "x")
    attempt = AccessAttempt.objects.get()
    assert codes[0] not in attempt.post_data and "code=***" in attempt.post_data


def test_codes_from_one_address_are_limited(waiting, settings):
    settings.LOGINS_PER_ADDRESS = 2
    answers = [give_code(waiting, "x").status_code for _ in range(3)]
    assert answers == [200, 200, 429]


# Sessions ------------------------------------------------------------------------------------


def test_turning_it_on_ends_other_sessions(alice):
    client = Client()
    give_password(client)
    assert is_in(client)
    give_second_factor(alice)
    assert not is_in(client)
    assert "alice" not in client.get("/").content.decode()


@pytest.mark.parametrize("end", [turn_off, lambda user: reset(user=user, actor=None)])
def test_turning_it_off_or_resetting_it_ends_sessions_and_the_password_is_enough(
    alice, app, waiting, end
):
    give_code(waiting, code_of(app))
    assert is_in(waiting)
    end(user=alice)
    assert not is_in(waiting)
    assert give_password(waiting).url == "/" and is_in(waiting)


def test_a_new_password_does_not_turn_it_off(alice, app):
    alice.set_password("another fine password")
    alice.save()
    assert give_password(Client(), "another fine password").url == CODE_PAGE


# Logs ----------------------------------------------------------------------------------------


def logins(caplog: Any) -> list[tuple[str, Any, str]]:
    return [
        (record.getMessage(), record.person, record.address)
        for record in caplog.records
        if record.name == "hits.logins"
    ]


def test_logins_and_failures_are_logged_by_number_and_address(alice, app, caplog):
    caplog.set_level(logging.INFO)
    client = Client(REMOTE_ADDR="203.0.113.9")
    give_password(client, "guess")
    give_password(client)
    # This delays recovery codes only, so the next code of the app is accepted.
    give_code(client, "x")
    give_code(client, code_of(app))
    number = alice.pk
    assert logins(caplog) == [
        (f"Person {number} failed to log in by password.", number, "203.0.113.9"),
        (f"Person {number} failed to log in by code.", number, "203.0.113.9"),
        (f"Person {number} logged in by password and code.", number, "203.0.113.9"),
    ]


def test_an_unknown_name_is_not_logged(caplog):
    Client().post("/login/", {"username": "my password", "password": PASSWORD})
    assert logins(caplog) == [("Person unknown failed to log in by password.", None, "127.0.0.1")]
    assert "my password" not in caplog.text


# Resetting -----------------------------------------------------------------------------------


def test_only_superusers_reset_it_on_the_persons_page(alice, app):
    boss, page = client_of("superuser"), reverse("person", args=[alice.pk])
    url = reverse("reset_second_factor", args=[alice.pk])
    assert client_of("admin").post(url).status_code == 403
    assert Authenticator.objects.exists()
    assert url in boss.get(page).content.decode()
    assert "Two-step login is off for this person" in boss.post(url, follow=True).content.decode()
    assert url not in boss.get(page).content.decode()
    assert give_password(Client()).url == "/"
