"""API tokens: shown once, stored as a hash, limited by scope, time and person."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from da_platform.jobs.models import Job
from hits.models import ApiToken, AuditEntry, Membership
from hits.people import guards, tokens
from hits.people.tokens import MAX_DAYS, make_token, revoke_token
from tests.api.callers import Caller, caller
from tests.factories import make_campaign
from tests.people import client_of, make_person

pytestmark = pytest.mark.django_db


def test_only_a_token_opens_the_api():
    campaign = make_campaign()
    answer = caller("researcher").get("/campaigns")
    assert [row["name"] for row in answer.json()["items"]] == [campaign.name]
    assert Caller().get("/campaigns").status_code == 401
    assert Caller("dap_made-up").get("/campaigns").status_code == 401
    assert client_of("superuser").get("/api/v1/campaigns").status_code == 401


def test_only_its_hash_is_stored():
    token, secret = make_token(user=make_person("admin"), name="ci", scopes=["read"])
    stored = ApiToken.objects.values().get()
    assert secret not in str(stored) and secret.removeprefix("dap_") not in str(stored)
    assert secret not in str(AuditEntry.objects.values())
    assert len(token.digest) == 64


def test_every_token_is_different():
    alice = make_person("admin")
    secrets = {make_token(user=alice, name="ci", scopes=["read"])[1] for _ in range(20)}
    assert len(secrets) == 20


def test_a_missing_scope_is_refused_by_name():
    campaign = make_campaign()
    answer = caller("admin", scopes=("read",)).post(
        f"/campaigns/{campaign.code}/status", {"status": "closed"}
    )
    assert answer.status_code == 403 and "'run'" in answer.json()["detail"]
    campaign.refresh_from_db()
    assert campaign.status == "draft"


@pytest.mark.parametrize(("kind", "scope"), [("pay", "pay"), ("recompute_workers", "decide")])
@pytest.mark.parametrize("action", ["cancel", "retry"])
def test_a_job_needs_the_same_scope_to_cancel_or_retry_as_to_start(kind, scope, action):
    state = (
        {"state": Job.State.CANCELLED, "finished_at": timezone.now()} if action == "retry" else {}
    )
    job = Job.objects.create(kind=kind, campaign=make_campaign(), **state)
    path = f"/jobs/{job.code}/{action}"
    refused = caller("admin", scopes=("read", "run")).post(path)
    assert refused.status_code == 403 and f"'{scope}'" in refused.json()["detail"]
    assert caller("admin", scopes=("read", "run", scope)).post(path).status_code == 200


def test_a_token_can_do_no_more_than_its_owner():
    campaign = make_campaign()
    researcher = caller("researcher")
    path = f"/campaigns/{campaign.code}/status"
    assert researcher.post(path, {"status": "closed"}).status_code == 403
    assert caller("outsider").get(f"/campaigns/{campaign.code}").status_code == 404


def test_a_token_stops_working_when_revoked_expired_or_its_owner_is_locked_out():
    alice = make_person("admin")
    token, secret = make_token(user=alice, name="ci", scopes=["read"])
    rows = ApiToken.objects.filter(pk=token.pk)
    assert Caller(secret).get("/campaigns").status_code == 200
    rows.update(
        created_at=timezone.now() - timedelta(days=2),
        expires_at=timezone.now() - timedelta(seconds=1),
    )
    assert Caller(secret).get("/campaigns").status_code == 401
    rows.update(expires_at=timezone.now() + timedelta(days=1))
    User.objects.update(is_active=False)
    assert Caller(secret).get("/campaigns").status_code == 401
    User.objects.update(is_active=True)
    assert Caller(secret).get("/campaigns").status_code == 200
    revoke_token(token=token, actor=alice)
    assert Caller(secret).get("/campaigns").status_code == 401


def test_a_token_loses_access_with_its_owner():
    campaign = make_campaign()
    someone = caller("researcher", campaign)
    assert someone.get(f"/campaigns/{campaign.code}").status_code == 200
    Membership.objects.all().delete()
    assert someone.get(f"/campaigns/{campaign.code}").status_code == 404


def test_creating_and_revoking_are_audited():
    alice = make_person("admin")
    token, _ = make_token(user=alice, name="ci", scopes=["read"])
    for _ in range(2):
        revoke_token(token=token, actor=alice)
    actions = AuditEntry.objects.order_by("pk").values_list("action", "actor")
    assert list(actions) == [("make_token", alice.pk), ("revoke_token", alice.pk)]


@pytest.mark.parametrize("days", [0, MAX_DAYS + 1])
def test_the_lifetime_of_a_token_is_limited(days):
    with pytest.raises(ValueError, match="days"):
        make_token(user=make_person("admin"), name="ci", scopes=["read"], days=days)


@pytest.mark.usefixtures("stopped_clock")
def test_too_many_requests_have_to_wait(monkeypatch):
    monkeypatch.setattr(guards, "CALLS_PER_PERSON", 3)
    someone, other = caller("researcher"), caller("researcher")
    answers = [someone.get("/jobs") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1]["Retry-After"].isdecimal()
    assert other.get("/jobs").status_code == 200


@pytest.mark.usefixtures("stopped_clock")
def test_all_tokens_of_a_person_count_together(monkeypatch):
    monkeypatch.setattr(guards, "CALLS_PER_PERSON", 3)
    alice = make_person("admin")
    programs = [Caller(make_token(user=alice, name="ci", scopes=["read"])[1]) for _ in range(4)]
    assert [program.get("/jobs").status_code for program in programs] == [200, 200, 200, 429]


@pytest.mark.usefixtures("stopped_clock")
def test_calls_that_lack_a_scope_are_counted(monkeypatch):
    monkeypatch.setattr(guards, "CALLS_PER_PERSON", 2)
    someone = caller("admin", scopes=("read",))
    path = f"/campaigns/{make_campaign().code}/status"
    statuses = [someone.post(path, {"status": "closed"}).status_code for _ in range(3)]
    assert statuses == [403, 403, 429]


@pytest.mark.usefixtures("stopped_clock")
def test_wrong_tokens_are_counted_by_address_and_lock_out_nobody_else(monkeypatch):
    monkeypatch.setattr(guards, "WRONG_TOKENS_PER_ADDRESS", 2)
    someone = caller("researcher")
    statuses = [Caller(f"dap_{i}").get("/jobs").status_code for i in range(4)]
    assert statuses == [401, 401, 429, 429]
    elsewhere = Caller("dap_5").client.get("/api/v1/jobs", REMOTE_ADDR="192.0.2.7")
    assert elsewhere.status_code == 401
    assert someone.get("/jobs").status_code == 200


def test_the_number_of_active_tokens_per_person_is_limited(monkeypatch):
    monkeypatch.setattr(tokens, "MAX_TOKENS", 2)
    alice, client = make_person("admin"), Client()
    client.force_login(alice)
    first, _ = make_token(user=alice, name="ci", scopes=["read"])
    make_token(user=alice, name="ci", scopes=["read"])
    make_token(user=make_person("admin"), name="another's", scopes=["read"])
    form = {"name": "third", "scopes": ["read"], "days": 30}
    page = client.post(reverse("api_tokens"), form).content.decode()
    assert "You have 2 valid tokens" in page and alice.api_tokens.count() == 2
    revoke_token(token=first, actor=alice)
    assert "Your new token" in client.post(reverse("api_tokens"), form).content.decode()


def test_the_page_shows_a_new_token_once():
    client = client_of("researcher")
    form = {"name": "notebook", "scopes": ["read"], "days": 30}
    first = client.post(reverse("api_tokens"), form).content.decode()
    secret = first.partition('class="secret">')[2].partition("<")[0]
    assert Caller(secret).get("/campaigns").status_code == 200
    again = client.get(reverse("api_tokens")).content.decode()
    assert "notebook" in again and secret not in again


def test_people_can_revoke_only_their_own_tokens():
    alice, bob = client_of("admin"), client_of("admin")
    alice.post(reverse("api_tokens"), {"name": "hers", "scopes": ["read"], "days": 30})
    token = ApiToken.objects.get()
    assert bob.post(reverse("revoke_token", args=[token.code])).status_code == 404
    assert alice.post(reverse("revoke_token", args=[token.code])).status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None
