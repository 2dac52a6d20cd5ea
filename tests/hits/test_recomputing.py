"""Recomputing evidence and trust corrects what is wrong and changes nothing else."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db.models import F

from analysis.stats import quality_control
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.editing import edit_campaign
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.exceptions import RecomputingRefused
from hits.models import Assignment, AuditEntry, Campaign, Evidence, Participation
from hits.rating.joining import take_part
from hits.workers import trust
from hits.workers.recomputing import recompute_workers
from hits.workers.trust import weigh, weigh_pending
from tests.decisions import exclude
from tests.factories import make_campaign, make_hits, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """An honest worker and a careless one with two HITs each, weighed after each submission."""
    campaign = make_hits(n_segments=70, hit_size=100, min_ratings=2)
    simulate_workers(
        campaign=campaign,
        crowd={Behaviour.HONEST: 1, Behaviour.RANDOM: 1},
        hits_per_worker=2,
        seed=3,
        after_hit=lambda assignment: weigh_pending(),
    )
    return campaign


def person(kind: str) -> Participation:
    return Participation.objects.get(worker__external_id__startswith=kind)


def places(campaign: Campaign) -> list[int]:
    return list(campaign.hits.order_by("number").values_list("places_left", flat=True))


def everything() -> list[object]:
    models = (AuditEntry, Evidence, Participation, Assignment)
    return [list(model.objects.order_by("pk").values()) for model in models]


def test_it_changes_nothing_if_everything_is_right(campaign):
    take_part(campaign=campaign, worker=make_worker("new here"))
    before, places_before = everything(), places(campaign)
    summary = recompute_workers(campaign=campaign)
    assert (summary.n_workers, summary.n_evidence_changed, summary.n_trust_changed) == (3, 0, 0)
    assert everything() == before and places(campaign) == places_before


def test_it_corrects_trust_and_places(campaign):
    places_before = places(campaign)
    for kind, verdict in (("honest", "unreliable"), ("random", "reliable")):
        Participation.objects.filter(pk=person(kind).pk).update(trust=verdict)
    campaign.hits.update(places_left=7)
    n_entries = AuditEntry.objects.count()
    summary = recompute_workers(campaign=campaign)
    assert summary.n_trust_changed == 2 and summary.n_evidence_changed == 0
    assert person("honest").trust == "reliable" and person("random").trust == "unreliable"
    assert places(campaign) == places_before
    entries = AuditEntry.objects.all()[: AuditEntry.objects.count() - n_entries]
    assert {(entry.details["before"], entry.details["after"]) for entry in entries} == {
        ("unreliable", "reliable"),
        ("reliable", "unreliable"),
    }
    assert recompute_workers(campaign=campaign).n_trust_changed == 0


def test_trust_without_any_work_is_removed(campaign):
    newcomer = take_part(campaign=campaign, worker=make_worker("new here"))
    Participation.objects.filter(pk=newcomer.pk).update(trust="reliable")
    assert recompute_workers(campaign=campaign).n_trust_changed == 1
    newcomer.refresh_from_db()
    assert newcomer.trust == "unproven" and not newcomer.evidence.exists()
    assert AuditEntry.objects.first().reason == "Nothing has been submitted."


def test_a_new_threshold_adds_evidence_and_keeps_the_old(campaign, monkeypatch):
    monkeypatch.setattr(quality_control, "MINIMUM_PAIRS", 50)
    n_before = person("honest").evidence.count()
    assert recompute_workers(campaign=campaign).n_evidence_changed == 2
    honest = person("honest")
    latest = honest.evidence.last()
    assert honest.trust == latest.verdict == "unproven" and "pairs>=50" in latest.signature
    assert latest.origin == "recomputation" and honest.evidence.count() == n_before + 1
    assert latest.assignment.hit.number == 2
    assert recompute_workers(campaign=campaign).n_evidence_changed == 0


def test_missing_evidence_is_computed_again(campaign):
    Evidence.objects.all().delete()
    assert recompute_workers(campaign=campaign).n_evidence_changed == 2
    assert {row.verdict for row in Evidence.objects.all()} == {"reliable", "unreliable"}


def test_a_persons_decision_is_kept(campaign):
    exclude(participation=person("honest"), actor=User.objects.create(), reason="two accounts")
    Participation.objects.filter(decision="excluded").update(trust="unproven")
    places_before = places(campaign)
    recompute_workers(campaign=campaign)
    honest = person("honest")
    assert (honest.trust, honest.state) == ("reliable", "excluded")
    assert honest.decision_reason == "two accounts" and places(campaign) == places_before


def test_places_opened_in_the_meantime_are_kept(campaign):
    places_before = places(campaign)

    def raise_min_ratings(done: int, total: int) -> None:
        current = Campaign.objects.get(pk=campaign.pk)
        edit_campaign(campaign=current, actor=None, changes={"min_ratings": 5})

    summary = recompute_workers(campaign=campaign, progress=raise_min_ratings)
    assert summary.n_hits_settled == 0
    assert places(campaign) == [places_left + 3 for places_left in places_before]


def test_a_hit_submitted_before_it_started_is_weighed_without_its_time(campaign):
    """The clock was set back by two hours while the worker was busy."""
    honest = Assignment.objects.of(person("honest"))
    honest.update(submitted_at=F("started_at") - timedelta(hours=2), evidence_at=None)
    Evidence.objects.all().delete()
    assert weigh_pending() == 2
    assert recompute_workers(campaign=campaign).n_failed == 0
    evidence = person("honest").evidence.last()
    assert (evidence.verdict, evidence.fastest_hit_seconds) == ("reliable", None)
    assert not evidence.has_time_flag


def fail_for(worker: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def weigh_others(participation: Participation) -> dict:
        if participation.worker_id == worker:
            raise ValueError("a number that cannot be weighed")
        return weigh(participation)

    monkeypatch.setattr(trust, "weigh", weigh_others)


def test_a_worker_who_cannot_be_weighed_does_not_stop_the_others(campaign, monkeypatch, caplog):
    broken = person("honest")
    fail_for(broken.worker_id, monkeypatch)
    Participation.objects.update(trust="unproven")
    campaign.hits.update(places_left=7)
    summary = recompute_workers(campaign=campaign)
    assert (summary.n_workers, summary.n_failed, summary.n_trust_changed) == (2, 1, 1)
    assert (person("honest").trust, person("random").trust) == ("unproven", "unreliable")
    assert 7 not in places(campaign)
    assert f"Worker number {broken.worker_id} could not be judged" in caplog.text


def test_the_command_reports_workers_who_cannot_be_weighed(campaign, monkeypatch, capsys):
    fail_for(person("honest").worker_id, monkeypatch)
    with pytest.raises(CommandError, match="1 worker could not be judged"):
        call_command("recompute_workers", campaign.name)
    assert "2 workers judged again" not in capsys.readouterr().out


def test_it_can_run_as_a_job_with_progress(campaign):
    steps = []
    job = start_job(kind="recompute_workers", campaign=campaign)
    job = run_job(job.pk, listener=lambda done, total: steps.append((done, total)))
    assert job.state == "done" and job.result["n_workers"] == 2
    assert steps == [(0, 2), (1, 2), (2, 2)]


def test_it_can_run_as_a_command(campaign, capsys):
    call_command("recompute_workers", campaign.name)
    assert "2 workers judged again" in capsys.readouterr().out


def test_an_archive_cannot_be_recomputed():
    archive = make_campaign(is_archive=True, status="closed")
    with pytest.raises(RecomputingRefused, match="collected elsewhere"):
        recompute_workers(campaign=archive)
