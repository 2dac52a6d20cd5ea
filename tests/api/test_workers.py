"""Workers over the API: the list, their history, and decisions about them."""

import pytest
from django.utils import timezone

from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.models import Assignment, AuditEntry, Campaign, Participation, Worker
from tests.api.callers import Caller, caller
from tests.cast import campaign_with_workers, worker_like
from tests.factories import make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def shared_campaign(shared_rows: None) -> Campaign:
    return campaign_with_workers()


@pytest.fixture
def campaign(shared_campaign: Campaign) -> Campaign:
    return Campaign.objects.get(pk=shared_campaign.pk)


@pytest.fixture
def admin() -> Caller:
    return caller("admin")


def names(answer) -> list[str]:
    return [row["external_id"] for row in answer.json()["items"]]


def test_workers_are_listed_filtered_and_sorted(campaign, admin):
    path = f"/campaigns/{campaign.code}/workers"
    everyone = admin.get(path, sort="worker").json()
    assert everyone["count"] == 4
    assert [row["state"] for row in everyone["items"]] == ["reliable"] * 2 + ["unreliable"] * 2
    assert everyone["items"][0]["evidence"]["p"] < 0.05
    careless = names(admin.get(path, state="unreliable"))
    assert len(careless) == 2 and all(name.startswith("random") for name in careless)
    assert len(names(admin.get(path, search="honest"))) == 2
    assert names(admin.get(path, sort="p", limit=1)) == names(admin.get(path, sort="p"))[:1]
    assert names(admin.get(path, decision="person")) == []
    assert admin.get(path, sort="password").status_code == 422


def test_the_evidence_has_every_side(campaign, admin):
    person = worker_like("honest")
    facts = {
        "n_agreement_items": 70, "agreement_r": 0.5, "agreement_p": 0.001, "likeness_measure": "chrF",
        "likeness_r": 0.8, "median_gap_seconds": 6.5, "share_fast": 0.25, "claimed_seconds": 600.0,
        "passed_seconds": 900.0, "n_held_hits": 1,
    }  # fmt: skip
    person.evidence.update(**facts, has_likeness_flag=True)
    evidence = admin.get(f"/campaigns/{campaign.code}/workers/{person.worker.code}").json()[
        "evidence"
    ]
    assert {name: evidence[name] for name in facts} == facts
    assert "like" in evidence["flags"] and evidence["drifted_at"] is None


def test_workers_like_a_formula_or_with_held_hits_are_found(campaign, admin):
    path = f"/campaigns/{campaign.code}/workers"
    like, held = worker_like("honest"), worker_like("random")
    like.evidence.update(has_likeness_flag=True, likeness_r=0.9)
    work = Assignment.objects.filter(worker=held.worker)
    work.update(hold="held", hold_reason="Impossible times", held_at=timezone.now())
    assert names(admin.get(path, flag="like")) == [like.worker.external_id]
    answer = admin.get(path, flag="held")
    assert names(answer) == [held.worker.external_id]
    assert answer.json()["items"][0]["n_held"] == work.count()
    assert names(admin.get(path, sort="-like"))[0] == like.worker.external_id
    assert names(admin.get(path, sort="-held"))[0] == held.worker.external_id


def test_the_list_needs_the_same_number_of_queries_at_any_length(
    campaign, admin, django_assert_num_queries
):
    path = f"/campaigns/{campaign.code}/workers"
    # Token, its last use, memberships, campaign, count, and three for rows.
    admin.get(path)
    for limit in (1, 4):
        with django_assert_num_queries(8):
            assert len(admin.get(path, limit=limit).json()["items"]) == limit


def test_a_worker_has_a_history(campaign, admin):
    worker = worker_like("honest").worker
    path = f"/campaigns/{campaign.code}/workers/{worker.code}"
    assert admin.get(path).json()["external_id"] == worker.external_id
    history = admin.get(f"{path}/evidence").json()["items"]
    assert [row["n_hits"] for row in history] == [2, 1]
    work = admin.get(f"{path}/assignments").json()["items"]
    assert {row["status"] for row in work} == {"submitted"} and len(work) == 2


class TestDeciding:
    def preview(self, campaign, admin, **changes):
        workers = [str(worker_like("honest").worker.code)]
        body = {"choice": "exclude", "workers": workers} | changes
        return body, admin.post(f"/campaigns/{campaign.code}/workers/preview", body)

    def test_a_preview_changes_nothing(self, campaign, admin):
        _, answer = self.preview(campaign, admin)
        preview = answer.json()
        change = preview["changes"][0]
        assert (change["before"], change["after"]) == ("reliable", "excluded")
        assert preview["gold"]["n_translations_lost"] > 0
        sides = {side["name"]: side for side in change["sides"]}
        assert (sides["pairs"]["weight"], sides["pairs"]["stance"]) == ("decides", "for")
        assert sides["likeness"]["weight"] == "advises"
        assert sides["runs"]["trusted"] == "0 of 2 trusted workers have this sign."
        assert not Participation.objects.exclude(decision="").exists()

    def test_a_decision_needs_the_preview_and_a_reason(self, campaign, admin):
        body, preview = self.preview(campaign, admin)
        path = f"/campaigns/{campaign.code}/workers/decide"
        body |= {"reason": "Wrote to us.", "seen": preview.json()["fingerprint"]}
        assert admin.post(path, body | {"reason": ""}).status_code == 422
        assert admin.post(path, body | {"seen": "other"}).status_code == 409
        assert not Participation.objects.exclude(decision="").exists()
        assert admin.post(path, body).json() == {"n_decided": 1, "n_changed": 0}
        assert worker_like("honest").decision == "excluded"
        entry = AuditEntry.objects.latest("pk")
        assert entry.reason == "Wrote to us." and entry.actor is not None
        # The preview is outdated now, so the same request again decides nothing.
        assert admin.post(path, body).status_code == 409

    def test_an_unknown_worker_stops_the_decision(self, campaign, admin):
        stranger = "00000000-0000-0000-0000-000000000007"
        honest = str(worker_like("honest").worker.code)
        _, answer = self.preview(campaign, admin, workers=[honest, stranger])
        assert answer.status_code == 404


def test_workers_are_recomputed_by_a_job(campaign, admin):
    answer = admin.post(f"/campaigns/{campaign.code}/workers/recompute")
    assert answer.status_code == 202
    job = run_job(Job.objects.get(code=answer.json()["code"]).pk)
    assert job.result["n_workers"] == 4 and job.result["n_trust_changed"] == 0


def test_researchers_do_not_see_workers(campaign):
    researcher = caller("researcher")
    worker = worker_like("honest").worker
    for path in ("", f"/{worker.code}", f"/{worker.code}/evidence"):
        assert researcher.get(f"/campaigns/{campaign.code}/workers{path}").status_code == 403


def test_a_worker_of_another_campaign_does_not_exist(campaign, admin):
    worker = worker_like("honest").worker
    assert admin.get(f"/campaigns/{make_campaign().code}/workers/{worker.code}").status_code == 404


def test_at_most_500_workers_are_decided_about_at_once(admin, django_assert_max_num_queries):
    campaign = make_campaign()
    workers = Worker.objects.bulk_create(
        Worker(provider="link", external_id=f"w{number}") for number in range(501)
    )
    Participation.objects.bulk_create(
        Participation(campaign=campaign, worker=worker) for worker in workers
    )
    path = f"/campaigns/{campaign.code}/workers"
    body = {"choice": "exclude", "workers": [str(worker.code) for worker in workers]}
    assert admin.post(f"{path}/preview", body).status_code == 422
    body["workers"].pop()
    with django_assert_max_num_queries(26):
        fingerprint = admin.post(f"{path}/preview", body).json()["fingerprint"]
    decided = admin.post(f"{path}/decide", body | {"seen": fingerprint, "reason": "One person"})
    assert decided.json() == {"n_decided": 500, "n_changed": 0}
    assert campaign.participations.filter(decision="excluded").count() == 500
