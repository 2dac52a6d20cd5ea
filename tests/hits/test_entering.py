"""Limits on logins and reset emails per address. Limits per name are in test_people_pages."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.urls import reverse

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]

ADDRESS, ELSEWHERE = "203.0.113.77", "198.51.100.1"
RIGHT = "correct horse battery"  # pragma: allowlist secret


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", "alice@example.org", RIGHT, is_staff=True)


def log_in(name: str, password: str, address: str = ADDRESS, url: str = "/login/") -> Any:
    data = {"username": name, "password": password}
    return Client(REMOTE_ADDR=address).post(url, data)


def request_reset(email: str, address: str = ADDRESS) -> Any:
    return Client(REMOTE_ADDR=address).post(reverse("password_reset"), {"email": email})


def test_logins_with_many_names_from_one_address_are_limited(alice: User, settings: Any):
    settings.LOGINS_PER_ADDRESS = 4
    answers = [log_in(f"name{turn}", "Summer2026").status_code for turn in range(4)]
    assert answers == [200, 200, 200, 200]
    refused = log_in("alice", RIGHT)
    assert refused.status_code == 429 and 0 < int(refused["Retry-After"]) <= 601
    assert "too many attempts from your network address" in refused.content.decode()
    assert log_in("alice", RIGHT, ELSEWHERE).status_code == 302


@pytest.mark.parametrize("url", ["/login/", "/admin/login/"])
def test_every_login_page_counts(alice: User, settings: Any, url: str):
    settings.LOGINS_PER_ADDRESS = 1
    log_in("bob", "wrong", url="/login/")
    assert log_in("alice", RIGHT, url=url).status_code == 429


def test_a_forged_forwarded_address_does_not_help(alice: User, settings: Any):
    settings.LOGINS_PER_ADDRESS = 1
    data = {"username": "bob", "password": "wrong"}
    for turn, status in enumerate([200, 429]):
        client = Client(REMOTE_ADDR=ADDRESS, headers={"X-Forwarded-For": f"192.0.2.{turn}"})
        assert client.post("/login/", data).status_code == status


def test_zero_means_no_limit(alice: User, settings: Any):
    settings.LOGINS_PER_ADDRESS = 0
    assert {log_in(f"name{turn}", "x").status_code for turn in range(40)} == {200}


def test_the_admin_site_redirects_others_to_the_login_once():
    client = Client()
    client.force_login(User.objects.create_user("bob"))
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 200 and len(answer.redirect_chain) == 1


def test_a_mailbox_gets_only_a_few_emails(alice: User, settings: Any):
    settings.RESETS_PER_MAILBOX = 2
    answers = [
        request_reset(email, f"203.0.113.{turn}")
        for turn, email in enumerate(["alice@example.org", "ALICE@example.org"] * 2)
    ]
    assert len(mail.outbox) == 2
    # The response reveals neither the limit nor whether the address is known.
    answers.append(request_reset("nobody@example.org"))
    expected = (302, reverse("password_reset_done"))
    assert {(answer.status_code, answer.url) for answer in answers} == {expected}


def test_reset_requests_from_one_address_are_limited(alice: User, settings: Any):
    settings.RESETS_PER_ADDRESS = 2
    answers = [request_reset(f"{turn}@example.org").status_code for turn in range(3)]
    assert answers == [302, 302, 429]
    assert request_reset("alice@example.org", ELSEWHERE).status_code == 302
    assert [message.to for message in mail.outbox] == [["alice@example.org"]]


# Changing the password -------------------------------------------------------------------------


def change(client: Client, old: str, new: str = "a new horse battery") -> Any:
    form = {"old_password": old, "new_password1": new, "new_password2": new}
    return client.post(reverse("password_change"), form)


@pytest.fixture
def browser(alice: User) -> Client:
    client = Client(REMOTE_ADDR=ADDRESS)
    client.force_login(alice)
    return client


def test_guessing_the_old_password_locks_the_account_as_at_the_login(alice: User, browser: Client):
    assert [change(browser, "guess").status_code for _ in range(5)] == [200] * 4 + [429]
    assert change(browser, RIGHT).status_code == 429
    assert log_in("alice", RIGHT).status_code == 429
    alice.refresh_from_db()
    assert alice.check_password(RIGHT)
