"""Superusers invite people and change their parts; people set and change their passwords."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.models import AuditEntry, Membership
from tests.factories import make_campaign
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"  # noqa: S105
PEOPLE = "/people/"


def invite(client: Client, **fields: str) -> str:
    """Invite alice and return the link that is shown for her."""
    page = client.post(PEOPLE, {"username": "alice", "level": "admin"} | fields, follow=True)
    link = re.search(r"http://testserver(/password/set/[^<\s]+)", page.content.decode())
    return link[1] if link else ""


def set_password(link: str, password: str = PASSWORD) -> Client:
    client = Client()
    form = client.get(link, follow=True)
    # A used link does not redirect to the form.
    address = form.redirect_chain[-1][0] if form.redirect_chain else link
    client.post(address, {"new_password1": password, "new_password2": password})
    return client


def log_in(client: Client, username: str = "alice", password: str = PASSWORD) -> bool:
    answer = client.post(reverse("login"), {"username": username, "password": password})
    return answer.status_code == 302


def test_an_invited_person_sets_a_password_by_the_link_and_logs_in():
    campaign = make_campaign()
    link = invite(client_of("superuser"), campaign=str(campaign.code))
    assert not log_in(Client())
    set_password(link)
    client = Client()
    assert log_in(client)
    assert client.get(reverse("campaign_settings", args=[campaign.code])).status_code == 200
    assert client.get(PEOPLE).status_code == 403
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.campaign) == ("person invited", campaign)


def test_the_link_is_shown_once_and_works_once():
    client = client_of("superuser")
    link = invite(client)
    alice = User.objects.get(username="alice")
    page = client.get(reverse("person", args=[alice.pk])).content.decode()
    assert "/password/set/" not in page
    set_password(link)
    set_password(link, "another fine password")
    assert log_in(Client()) and not log_in(Client(), password="another fine password")


def test_only_superusers_make_a_new_password_link():
    alice = make_person("admin")
    url = reverse("make_password_link", args=[alice.pk])
    assert client_of("admin").post(url).status_code == 403
    page = client_of("superuser").post(url, follow=True).content.decode()
    assert "/password/set/" in page
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.details) == ("password link made", {"person": alice.username})
    assert entry.actor is not None and entry.actor.is_superuser


def test_a_weak_password_is_refused():
    set_password(invite(client_of("superuser")), "12345678")
    assert not User.objects.get(username="alice").has_usable_password()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"username": "a b<"}, "Enter a valid username"),
        ({"username": "BOB"}, "This username is already taken"),
        ({"level": "emperor"}, "Select a valid choice"),
        ({"campaign": "x"}, "is not a valid UUID"),
        ({"email": "nowhere"}, "valid email"),
    ],
)
def test_an_invalid_invitation_names_the_problem(fields, message):
    User.objects.create_user("bob")
    data = {"username": "alice", "level": "admin"} | fields
    page = client_of("superuser").post(PEOPLE, data)
    assert page.status_code == 422 and message in page.content.decode()
    assert not Membership.objects.exists()


def test_parts_are_changed_and_removed_with_an_audit_entry_each():
    alice, client = make_person("researcher"), client_of("superuser")
    client.post(reverse("add_part", args=[alice.pk]), {"level": "admin", "campaign": ""})
    membership = Membership.objects.get(user=alice)
    assert (membership.level, membership.campaign) == ("admin", None)
    client.post(reverse("remove_part", args=[alice.pk, membership.pk]))
    assert not alice.memberships.exists()
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["part given", "part taken away"]


def test_a_part_cannot_be_removed_at_another_persons_address():
    alice, bob = make_person("admin"), make_person("admin")
    url = reverse("remove_part", args=[alice.pk, bob.memberships.get().pk])
    assert client_of("superuser").post(url).status_code == 404


def test_a_deactivated_person_is_logged_out_at_once_and_can_be_reactivated():
    set_password(invite(client_of("superuser")))
    alice, client, boss = User.objects.get(username="alice"), Client(), client_of("superuser")
    assert log_in(client) and client.get("/audit/").status_code == 200
    url = reverse("change_activity", args=[alice.pk])
    boss.post(url, {"is_active": "0"})
    assert client.get("/audit/").status_code == 302 and not log_in(Client())
    boss.post(url, {"is_active": "1"})
    assert log_in(Client())


def test_superusers_cannot_lock_themselves_out():
    boss = make_person("superuser")
    client = Client()
    client.force_login(boss)
    url = reverse("change_activity", args=[boss.pk])
    page = client.post(url, {"is_active": "0"}, follow=True).content.decode()
    assert "cannot lock yourself out" in page
    assert User.objects.get(pk=boss.pk).is_active


def test_a_forgotten_password_is_reset_by_email():
    alice = User.objects.create_user("alice", "alice@example.org", "old password 1")
    client = Client()
    client.post(reverse("password_reset"), {"email": "alice@example.org"})
    assert len(mail.outbox) == 1
    link = re.search(r"http://[^/]+(/\S+)", mail.outbox[0].body)
    assert link is not None
    set_password(link[1])
    assert log_in(Client())
    alice.refresh_from_db()
    assert not alice.check_password("old password 1")


def test_an_unknown_address_gets_the_same_response_and_no_email():
    answer = Client().post(reverse("password_reset"), {"email": "x@example.org"}, follow=True)
    assert "If an account has that address" in answer.content.decode() and not mail.outbox


def test_changing_the_password_requires_the_old_one():
    set_password(invite(client_of("superuser")))
    client = Client()
    log_in(client)
    new = {"new_password1": "a new fine password", "new_password2": "a new fine password"}
    url = reverse("password_change")
    assert client.post(url, new | {"old_password": "wrong"}).status_code == 200
    assert client.post(url, new | {"old_password": PASSWORD}).status_code == 302
    assert log_in(Client(), password="a new fine password")


# Guessing ------------------------------------------------------------------------------------


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", password=PASSWORD)


def test_five_wrong_passwords_lock_the_name_for_that_address_for_a_quarter_of_an_hour(alice):
    client, guess = Client(), {"username": "alice", "password": "guess"}
    for _ in range(4):
        assert "is not correct" in client.post(reverse("login"), guess).content.decode()
    answer = client.post(reverse("login"), guess)
    assert answer.status_code == 429 and "Too many attempts" in answer.content.decode()
    # The right password does not help until the lock ends.
    assert not log_in(Client())
    with time_machine.travel(timezone.now() + timedelta(minutes=16)):
        assert log_in(Client())


def test_a_lock_does_not_affect_other_names_or_addresses(alice):
    User.objects.create_user("bob", password=PASSWORD)
    for _ in range(6):
        log_in(Client(), password="guess")
    assert log_in(Client(), "bob")
    assert log_in(Client(REMOTE_ADDR="203.0.113.9"))


def test_a_successful_login_resets_the_count(alice):
    for _ in range(3):
        for _ in range(4):
            log_in(Client(), password="guess")
        assert log_in(Client())


def test_a_forwarded_address_counts_only_behind_a_proxy(alice, settings):
    for i in range(5):
        log_in(Client(HTTP_X_FORWARDED_FOR=f"203.0.113.{i}"), password="guess")
    assert not log_in(Client(HTTP_X_FORWARDED_FOR="203.0.113.99"))
    settings.BEHIND_PROXY = True
    assert log_in(Client(HTTP_X_FORWARDED_FOR="203.0.113.1, 203.0.113.99"))
