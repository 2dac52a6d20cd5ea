"""People over the API, for superusers alone; and the audit log, for those who run campaigns."""

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


def test_a_person_is_invited_with_a_link_that_is_told_once(root):
    campaign = make_campaign()
    answer = root.post("/people", ALICE | {"campaign": str(campaign.code)})
    assert answer.status_code == 201
    assert Client().get(answer.json()["password_url"]).status_code == 302
    alice = answer.json()["person"]
    assert alice["parts"][0]["campaign"] == str(campaign.code)
    listed = root.get("/people", search="ALI")
    assert [one["username"] for one in listed.json()["items"]] == ["alice"]
    assert "password" not in listed.content.decode()


@pytest.mark.parametrize(
    "changes", [{"username": "al ice"}, {"email": "nowhere"}, {"level": "king"}]
)
def test_a_bad_invitation_makes_nobody(root, changes):
    n_before = User.objects.count()
    assert root.post("/people", ALICE | changes).status_code == 422
    assert User.objects.count() == n_before


def test_a_name_is_taken_once(root):
    assert root.post("/people", ALICE).status_code == 201
    assert root.post("/people", ALICE | {"username": "ALICE"}).status_code == 422


def test_parts_are_given_and_taken_away(root):
    bob = make_person("outsider")
    given = root.post(f"/people/{bob.pk}/parts", {"level": "admin"}).json()
    assert given["parts"][0]["level"] == "admin" and given["parts"][0]["campaign"] is None
    again = root.post(f"/people/{bob.pk}/parts", {"level": "researcher"}).json()
    assert [part["level"] for part in again["parts"]] == ["researcher"]
    part = again["parts"][0]["id"]
    assert root.send("delete", f"/people/{bob.pk}/parts/{part}").json()["parts"] == []
    assert root.send("delete", f"/people/{bob.pk}/parts/{part}").status_code == 404
    assert not Membership.objects.filter(user=bob).exists()


def test_a_person_is_locked_out_and_nobody_locks_themselves_out(root):
    bob = make_person("admin")
    assert root.post(f"/people/{bob.pk}/active", {"is_active": False}).json()["is_active"] is False
    me = User.objects.get(is_superuser=True)
    assert root.post(f"/people/{me.pk}/active", {"is_active": False}).status_code == 409


@pytest.mark.parametrize("role", ["outsider", "researcher", "admin"])
def test_nobody_else_sees_people_or_changes_them(role):
    other = caller(role)
    bob = make_person("outsider")
    assert other.get("/people").status_code == 403
    assert other.post("/people", ALICE).status_code == 403
    assert other.get(f"/people/{bob.pk}").status_code == 403
    assert other.post(f"/people/{bob.pk}/parts", {"level": "admin"}).status_code == 403
    assert other.send("delete", f"/people/{bob.pk}/parts/1").status_code == 403
    assert not Membership.objects.filter(user=bob).exists()


def test_the_list_takes_as_many_queries_for_three_as_for_one(root, django_assert_num_queries):
    for _ in range(3):
        make_person("admin", make_campaign())
    root.get("/people")
    for limit in (1, 4):
        with django_assert_num_queries(6):
            assert len(root.get("/people", limit=limit).json()["items"]) == limit


class TestAuditLog:
    def test_it_is_narrowed_down(self):
        one, other = make_campaign(), make_campaign()
        record("decided", campaign=one, worker=make_worker("ann"), reason="Why", n=1)
        record("decided", campaign=other)
        record("started")
        admin = caller("admin")
        found = admin.get("/audit", campaign=str(one.code), action="decided").json()["items"]
        assert len(found) == 1
        assert found[0]["worker"] == "link:ann" and found[0]["details"] == {"n": 1}
        assert found[0]["by"] is None and found[0]["reason"] == "Why"
        assert admin.get("/audit", action="started").json()["count"] == 1
        assert admin.get("/audit", since="2100-01-01T00:00:00Z").json()["count"] == 0

    def test_an_admin_of_one_campaign_sees_that_one(self):
        one, other = make_campaign(), make_campaign()
        for campaign in (one, other, None):
            record("decided", campaign=campaign)
        found = caller("admin", one).get("/audit", action="decided").json()
        assert [entry["campaign"] for entry in found["items"]] == [str(one.code)]
        assert AuditEntry.objects.filter(action="decided").count() == 3

    def test_it_tells_of_workers_and_money_and_takes_a_token_for_both(self):
        assert caller("researcher").get("/audit").status_code == 403
        for scope in ("decide", "pay"):
            assert caller("admin", scopes=("read", "run", scope)).get("/audit").status_code == 403

    def test_it_takes_as_many_queries_for_three_as_for_one(self, django_assert_num_queries):
        for _ in range(3):
            record("decided", campaign=make_campaign(), worker=make_worker())
        admin = caller("admin")
        admin.get("/audit")
        for limit in (1, 3):
            with django_assert_num_queries(5):
                assert len(admin.get("/audit", limit=limit).json()["items"]) == limit
