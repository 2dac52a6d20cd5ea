"""Passwords cannot be tried out at many names, nor mailboxes filled, without end. One name: test_people_pages."""

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


def ask_for_mail(email: str, address: str = ADDRESS) -> Any:
    return Client(REMOTE_ADDR=address).post(reverse("password_reset"), {"email": email})


def test_many_names_from_one_address_are_slowed(alice: User, settings: Any):
    settings.LOGINS_PER_ADDRESS = 4
    answers = [log_in(f"name{turn}", "Summer2026").status_code for turn in range(4)]
    assert answers == [200, 200, 200, 200]
    refused = log_in("alice", RIGHT)
    assert refused.status_code == 429 and 0 < int(refused["Retry-After"]) <= 601
    assert "too many attempts from your network address" in refused.content.decode()
    assert log_in("alice", RIGHT, ELSEWHERE).status_code == 302


@pytest.mark.parametrize("url", ["/login/", "/admin/login/"])
def test_every_door_counts(alice: User, settings: Any, url: str):
    settings.LOGINS_PER_ADDRESS = 1
    log_in("bob", "wrong", url="/login/")
    assert log_in("alice", RIGHT, url=url).status_code == 429


def test_a_forged_forwarded_address_does_not_help(alice: User, settings: Any):
    settings.LOGINS_PER_ADDRESS = 1
    data = {"username": "bob", "password": "wrong"}
    forged = [
        Client(REMOTE_ADDR=ADDRESS, headers={"X-Forwarded-For": f"192.0.2.{turn}"}).post(
            "/login/", data
        )
        for turn in range(2)
    ]
    assert [answer.status_code for answer in forged] == [200, 429]


def test_nought_is_no_limit(alice: User, settings: Any):
    settings.LOGINS_PER_ADDRESS = 0
    assert {log_in(f"name{turn}", "x").status_code for turn in range(40)} == {200}


def test_whoever_may_not_enter_the_admin_site_is_asked_to_log_in_and_sent_round_no_circle():
    client = Client()
    client.force_login(User.objects.create_user("bob"))
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 200 and len(answer.redirect_chain) == 1


def test_a_mailbox_gets_a_few_mails_from_wherever_they_are_asked_for(alice: User, settings: Any):
    settings.RESETS_PER_MAILBOX = 2
    answers = [
        ask_for_mail(email, f"203.0.113.{turn}")
        for turn, email in enumerate(["alice@example.org", "ALICE@example.org"] * 2)
    ]
    assert len(mail.outbox) == 2
    # The asker cannot tell: neither from a limit nor from who is known here.
    stranger = ask_for_mail("nobody@example.org")
    assert {(one.status_code, one.url) for one in [*answers, stranger]} == {
        (302, reverse("password_reset_done"))
    }


def test_requests_for_mails_from_one_address_are_limited(alice: User, settings: Any):
    settings.RESETS_PER_ADDRESS = 2
    answers = [ask_for_mail(f"{turn}@example.org").status_code for turn in range(3)]
    assert answers == [302, 302, 429]
    assert ask_for_mail("alice@example.org", ELSEWHERE).status_code == 302
    assert [message.to for message in mail.outbox] == [["alice@example.org"]]


# The own password ------------------------------------------------------------------------------


def change(client: Client, old: str, new: str = "a new horse battery") -> Any:
    form = {"old_password": old, "new_password1": new, "new_password2": new}
    return client.post(reverse("password_change"), form)


@pytest.fixture
def browser(alice: User) -> Client:
    client = Client(REMOTE_ADDR=ADDRESS)
    client.force_login(alice)
    return client


def test_guesses_at_the_old_password_lock_as_they_do_at_the_login(alice: User, browser: Client):
    assert [change(browser, "guess").status_code for _ in range(5)] == [200] * 4 + [429]
    assert change(browser, RIGHT).status_code == 429
    assert log_in("alice", RIGHT).status_code == 429
    alice.refresh_from_db()
    assert alice.check_password(RIGHT)
