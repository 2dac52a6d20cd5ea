"""People over the API, for superusers only; and the audit log, for admins."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hits.models import AuditEntry, Membership
from hits.people.audit import record
from tests.api.callers import Caller, caller
from tests.factories import make_campaign, make_worker
from tests.people import make_person

pytestmark = pytest.mark.django_db

ALICE = {"username": "alice", "email": "alice@example.org", "level": "researcher"}


@pytest.fixture
def root() -> Caller:
    return caller("superuser")


def test_a_person_is_invited_with_a_link_that_is_shown_once(root):
    campaign = make_campaign()
    answer = root.post("/people", ALICE | {"campaign": str(campaign.code)})
    assert answer.status_code == 201
    assert Client().get(answer.json()["password_url"]).status_code == 302
    alice = answer.json()["person"]
    assert alice["parts"][0]["campaign"] == str(campaign.code)
    listed = root.get("/people", search="ALI")
    assert [person["username"] for person in listed.json()["items"]] == ["alice"]
    assert "password" not in listed.content.decode()


@pytest.mark.parametrize(
    "changes", [{"username": "al ice"}, {"email": "nowhere"}, {"level": "king"}]
)
def test_a_bad_invitation_creates_nobody(root, changes):
    n_before = User.objects.count()
    assert root.post("/people", ALICE | changes).status_code == 422
    assert User.objects.count() == n_before


def test_a_username_is_unique(root):
    assert root.post("/people", ALICE).status_code == 201
    assert root.post("/people", ALICE | {"username": "ALICE"}).status_code == 422


def test_memberships_are_granted_and_removed(root):
    bob = make_person("outsider")
    first = root.post(f"/people/{bob.pk}/parts", {"level": "admin"}).json()
    assert first["parts"][0]["level"] == "admin" and first["parts"][0]["campaign"] is None
    second = root.post(f"/people/{bob.pk}/parts", {"level": "researcher"}).json()
    assert [part["level"] for part in second["parts"]] == ["researcher"]
    part = second["parts"][0]["id"]
    assert root.send("delete", f"/people/{bob.pk}/parts/{part}").json()["parts"] == []
    assert root.send("delete", f"/people/{bob.pk}/parts/{part}").status_code == 404
    assert not Membership.objects.filter(user=bob).exists()


def test_people_can_lock_out_others_but_not_themselves(root):
    bob = make_person("admin")
    assert root.post(f"/people/{bob.pk}/active", {"is_active": False}).json()["is_active"] is False
    me = User.objects.get(is_superuser=True)
    assert root.post(f"/people/{me.pk}/active", {"is_active": False}).status_code == 409


@pytest.mark.parametrize("role", ["outsider", "researcher", "admin"])
def test_only_superusers_see_or_change_people(role):
    other = caller(role)
    bob = make_person("outsider")
    assert other.get("/people").status_code == 403
    assert other.post("/people", ALICE).status_code == 403
    assert other.get(f"/people/{bob.pk}").status_code == 403
    assert other.post(f"/people/{bob.pk}/parts", {"level": "admin"}).status_code == 403
    assert other.send("delete", f"/people/{bob.pk}/parts/1").status_code == 403
    assert not Membership.objects.filter(user=bob).exists()


def test_the_list_needs_the_same_number_of_queries_at_any_length(root, django_assert_num_queries):
    for _ in range(3):
        make_person("admin", make_campaign())
    root.get("/people")
    for limit in (1, 4):
        with django_assert_num_queries(6):
            assert len(root.get("/people", limit=limit).json()["items"]) == limit


class TestAuditLog:
    def test_it_can_be_filtered(self):
        campaign, other = make_campaign(), make_campaign()
        record("decided", campaign=campaign, worker=make_worker("ann"), reason="Why", n=1)
        record("decided", campaign=other)
        record("started")
        admin = caller("admin")
        entries = admin.get("/audit", campaign=str(campaign.code), action="decided").json()["items"]
        assert len(entries) == 1
        assert entries[0]["worker"] == "link:ann" and entries[0]["details"] == {"n": 1}
        assert entries[0]["by"] is None and entries[0]["reason"] == "Why"
        assert admin.get("/audit", action="started").json()["count"] == 1
        assert admin.get("/audit", since="2100-01-01T00:00:00Z").json()["count"] == 0

    def test_an_admin_of_one_campaign_sees_only_its_entries(self):
        own_campaign, other = make_campaign(), make_campaign()
        for campaign in (own_campaign, other, None):
            record("decided", campaign=campaign)
        answer = caller("admin", own_campaign).get("/audit", action="decided").json()
        assert [entry["campaign"] for entry in answer["items"]] == [str(own_campaign.code)]
        assert AuditEntry.objects.filter(action="decided").count() == 3

    def test_it_needs_an_admin_with_the_decide_and_pay_scopes(self):
        assert caller("researcher").get("/audit").status_code == 403
        for scope in ("decide", "pay"):
            assert caller("admin", scopes=("read", "run", scope)).get("/audit").status_code == 403

    def test_it_needs_the_same_number_of_queries_at_any_length(self, django_assert_num_queries):
        for _ in range(3):
            record("decided", campaign=make_campaign(), worker=make_worker())
        admin = caller("admin")
        admin.get("/audit")
        for limit in (1, 3):
            with django_assert_num_queries(5):
                assert len(admin.get("/audit", limit=limit).json()["items"]) == limit
