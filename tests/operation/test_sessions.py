"""Sessions end: when unused, after a week, with a new password, and when a superuser ends them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from da_platform.sessions import end_sessions_of
from hits.models import AuditEntry
from tests.factories import make_campaign
from tests.people import browser_of, client_of, make_person

pytestmark = pytest.mark.django_db

BEGINNING = datetime(2026, 5, 4, 9, tzinfo=UTC)
PAGE = "/audit/"


@pytest.fixture
def alice() -> User:
    return make_person("admin")


@pytest.fixture
def clock() -> Any:
    with time_machine.travel(BEGINNING, tick=False) as clock:
        yield clock


def is_logged_in(client: Client) -> bool:
    return client.get(PAGE).status_code == 200


def test_an_unused_session_ends_after_half_a_day(alice: User, clock: Any):
    client = browser_of(alice)
    clock.shift(timedelta(hours=12, minutes=1))
    assert not is_logged_in(client)


def test_a_session_survives_shorter_pauses(alice: User, clock: Any):
    client = browser_of(alice)
    for _ in range(3):
        clock.shift(timedelta(hours=11))
        assert is_logged_in(client)


def test_an_open_dashboard_does_not_keep_a_session_alive(alice: User, clock: Any):
    client, url = browser_of(alice), reverse("campaign_live", args=[make_campaign().code])
    for _ in range(11):
        clock.shift(timedelta(hours=1))
        assert client.get(url).status_code == 200
    clock.shift(timedelta(hours=2))
    assert client.get(url).status_code == 302


def test_even_a_busy_session_ends_after_a_week_and_is_deleted(alice: User, clock: Any):
    client = browser_of(alice)
    for _ in range(16):
        clock.shift(timedelta(hours=10))
        assert is_logged_in(client)
    clock.shift(timedelta(hours=9))
    assert not is_logged_in(client) and not Session.objects.exists()


def test_logging_in_again_starts_a_new_session(alice: User, clock: Any):
    client = browser_of(alice)
    clock.shift(timedelta(days=8))
    assert not is_logged_in(client)
    client.force_login(alice)
    clock.shift(timedelta(hours=11))
    assert is_logged_in(client)


def test_a_session_without_a_start_time_has_ended(alice: User):
    client = browser_of(alice)
    session = client.session
    del session["began_at"]
    row = Session.objects.get()
    row.session_data = session.encode(dict(session.items()))
    row.save()
    assert not is_logged_in(client)


def test_a_page_soon_after_another_does_not_write_the_session(alice: User, clock: Any):
    client = browser_of(alice)
    clock.shift(timedelta(minutes=4))
    with CaptureQueriesContext(connection) as soon:
        client.get(PAGE)
    clock.shift(timedelta(minutes=4))
    with CaptureQueriesContext(connection) as later:
        client.get(PAGE)
    assert not any("UPDATE" in query["sql"] for query in soon)
    assert sum("UPDATE" in query["sql"] for query in later) == 1


def test_logging_in_replaces_the_session_key(alice: User):
    client = Client()
    session = client.session
    session["seen"] = 1
    session.save()
    before = client.cookies[settings.SESSION_COOKIE_NAME].value
    client.force_login(alice)
    after = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert before != after and list(Session.objects.values_list("pk", flat=True)) == [after]


def test_so_does_logging_in_again_as_the_same_person(alice: User):
    password = "correct horse battery"  # pragma: allowlist secret
    alice.set_password(password)
    alice.save()
    client, keys = Client(), []
    for _ in range(2):
        fields = {"username": alice.username, "password": password}
        # Unlike /login/, the admin site's login page works for those already logged in.
        assert client.post(reverse("admin_login"), fields).status_code == 302
        keys.append(client.cookies[settings.SESSION_COOKIE_NAME].value)
    before, after = keys
    assert before != after and list(Session.objects.values_list("pk", flat=True)) == [after]
    assert is_logged_in(client)


def test_logging_out_ends_the_session_on_the_server(alice: User):
    client = browser_of(alice)
    stolen = client.cookies[settings.SESSION_COOKIE_NAME].value
    client.post(reverse("logout"))
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = stolen
    assert not is_logged_in(thief) and not Session.objects.exists()


def test_a_new_password_ends_other_sessions(alice: User):
    old, new = "correct horse battery", "a new fine password"  # pragma: allowlist secret
    alice.set_password(old)
    alice.save()
    here, elsewhere = browser_of(alice), browser_of(alice)
    fields = {"old_password": old, "new_password1": new, "new_password2": new}
    here.post(reverse("password_change"), fields)
    assert is_logged_in(here) and not is_logged_in(elsewhere)


def test_a_reactivated_person_has_to_log_in_again(alice: User):
    client, boss = browser_of(alice), client_of("superuser")
    for is_active in "01":
        boss.post(reverse("change_activity", args=[alice.pk]), {"is_active": is_active})
    assert User.objects.get(pk=alice.pk).is_active and not is_logged_in(client)


def test_a_superuser_can_log_a_person_out_everywhere(alice: User):
    here, elsewhere, bob = browser_of(alice), browser_of(alice), client_of("admin")
    boss = client_of("superuser")
    page = boss.post(reverse("log_out_person", args=[alice.pk]), follow=True).content.decode()
    assert "Logged out in 2 browsers." in page
    assert not is_logged_in(here) and not is_logged_in(elsewhere)
    assert is_logged_in(bob) and is_logged_in(boss)
    entry = AuditEntry.objects.get()
    assert entry.action == "person logged out" and entry.details["n_sessions"] == 2


def test_logging_yourself_out_everywhere_leads_to_the_login_page():
    boss = make_person("superuser")
    client = browser_of(boss)
    answer = client.post(reverse("log_out_person", args=[boss.pk]), follow=True)
    assert answer.redirect_chain[-1][0].startswith(reverse("login"))


def test_anonymous_sessions_are_left_alone(alice: User):
    stranger = Client()
    session = stranger.session
    session["seen"] = 1
    session.save()
    assert end_sessions_of(alice) == 0 and Session.objects.count() == 1
