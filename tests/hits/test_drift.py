"""What happens to the ratings of a worker who stopped reading: counted, left out since then, or left out."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.gold.agreement import measure_agreement
from analysis.gold.runs import build_gold
from analysis.stats.roles import Role
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.campaigns.editing import edit_campaign
from hits.models import Assignment, Campaign, Participation
from hits.rating.assignments import take_assignment
from hits.rating.places import forecast, left_out_assignments
from hits.workers.deciding import Choice
from hits.workers.recomputing import recompute_workers
from tests.decisions import reinstate
from tests.factories import make_hits, make_worker
from tests.hits.test_deciding import assert_preview_is_right
from tests.people import make_person
from tests.scored_hits import weighed_hit

pytestmark = pytest.mark.django_db

N_HITS = 6


def attentive(item) -> float:
    return 30 if item.role == Role.BAD_REFERENCE else 70 + item.position % 20


def careless(item) -> float:
    return 70 + item.position % 3 if item.role == Role.GENUINE else 73


def drifted_campaign(drift: str) -> Campaign:
    """A worker reads three HITs and then stops reading: the window of the last three fails, none before does.

    Three more HITs are there to be taken.
    """
    campaign = make_hits(
        n_segments=35 * (N_HITS + 3), hit_size=100, min_ratings=1, drift=drift, name=drift
    )
    worker, start = make_worker(f"alice-{drift}"), timezone.now() - timedelta(days=1)
    for number in range(N_HITS):
        scorer = attentive if number < 3 else careless
        weighed_hit(campaign, worker, scorer, at=start + timedelta(hours=number))
    return campaign


@pytest.fixture(scope="module")
def drifted_campaigns(shared_rows: None) -> None:
    for drift in ("count", "since", "all"):
        drifted_campaign(drift)


@pytest.fixture
def drifted(drifted_campaigns: None) -> Callable[[str], Campaign]:
    """The drifted campaign with this setting."""
    return lambda drift: Campaign.objects.get(name=drift)


def alice(campaign: Campaign) -> Participation:
    return campaign.participations.select_related("campaign", "worker").get()


def places(campaign: Campaign) -> list[int]:
    """The places of the HITs that the worker did, and of the next one."""
    left = campaign.hits.order_by("number").values_list("places_left", flat=True)
    return list(left[: N_HITS + 1])


def test_the_moment_of_drift_is_the_first_hit_of_the_earliest_failed_window(drifted):
    campaign = drifted("count")
    fourth = Assignment.objects.get(hit__campaign=campaign, hit__number=4)
    evidence = alice(campaign).evidence.last()
    assert alice(campaign).trust == evidence.verdict == "drifting"
    assert evidence.drifted_at == alice(campaign).drifted_at == fourth.submitted_at
    assert [row.drifted_at for row in alice(campaign).evidence.all()[:5]] == [None] * 5


@pytest.mark.parametrize(
    ("drift", "open_places", "n_scored"),
    [
        ("count", [0, 0, 0, 0, 0, 0], 420),
        ("since", [0, 0, 0, 1, 1, 1], 210),
        ("all", [1, 1, 1, 1, 1, 1], 0),
    ],
)
def test_places_and_gold_follow_the_setting(drifted, drift, open_places, n_scored):
    campaign = drifted(drift)
    n_counted = open_places.count(0)
    assert places(campaign) == [*open_places, 1]
    work = forecast(campaign)
    assert (work.n_trusted, work.n_discarded) == (n_counted, N_HITS - n_counted)
    run = build_gold(campaign=campaign)
    assert run.n_scored == n_scored and f"|drift:{drift}|" in run.signature
    assert ("left_out:3" in run.signature) == (drift == "since")
    summary = recompute_workers(campaign=campaign)
    assert (summary.n_evidence_changed, summary.n_hits_settled) == (0, 0)


def test_ratings_left_out_do_not_enter_the_z_scores(drifted):
    """The mean and sd are those of the three HITs that count."""
    campaign = drifted("since")
    run = build_gold(campaign=campaign)
    complete = run.scores.filter(is_complete=True)
    assert complete.count() == 210
    before = {row.translation_id: row.z for row in complete}
    Assignment.objects.filter(hit__campaign=campaign, hit__number__gt=3).update(
        hold="discarded", hold_reason="too fast", held_at=timezone.now()
    )
    again = build_gold(campaign=campaign).scores.filter(is_complete=True)
    assert {row.translation_id: row.z for row in again} == before


@pytest.mark.parametrize("drift", ["since", "all"])
def test_a_worker_whose_next_ratings_are_left_out_gets_no_further_hit(drifted, drift):
    campaign = drifted(drift)
    assert take_assignment(campaign=campaign, worker=alice(campaign).worker) is None


def test_a_drifting_worker_whose_ratings_count_gets_another_hit(drifted):
    campaign = drifted("count")
    assert take_assignment(campaign=campaign, worker=alice(campaign).worker)


@pytest.mark.parametrize("drift", ["since", "all"])
def test_work_in_progress_of_a_drifted_worker_does_not_keep_its_place(drifted, drift):
    campaign = drifted("count")
    take_assignment(campaign=campaign, worker=alice(campaign).worker)
    assert places(campaign)[N_HITS] == 0
    edit_campaign(campaign=campaign, actor=None, changes={"drift": drift})
    assert places(campaign)[N_HITS] == 1


def test_a_person_who_reinstates_the_worker_counts_everything(drifted):
    campaign = drifted("since")
    reinstate(participation=alice(campaign), actor=make_person("admin"), reason="tired, but fine")
    assert places(campaign) == [0] * N_HITS + [1] and build_gold(campaign=campaign).n_scored == 420


@pytest.mark.parametrize("drift", ["count", "since", "all"])
def test_the_preview_of_a_decision_about_a_drifting_worker_is_right(drifted, drift):
    campaign = drifted(drift)
    for choice in (Choice.REINSTATE, Choice.EVIDENCE, Choice.EXCLUDE, Choice.EVIDENCE):
        assert_preview_is_right(campaign, [alice(campaign)], choice)


def test_changing_the_setting_settles_places_and_judges_again(drifted):
    campaign = drifted("count")
    edit_campaign(campaign=campaign, actor=None, changes={"drift": "since"})
    assert places(campaign) == [0, 0, 0, 1, 1, 1, 1]
    job = run_job(Job.objects.get(kind="recompute_workers").pk)
    assert job.state == "done" and "drift:since" in alice(campaign).evidence.last().signature
    edit_campaign(campaign=campaign, actor=None, changes={"drift": "count"})
    assert places(campaign) == [0] * N_HITS + [1]


def test_changing_the_rule_judges_the_workers_again(drifted):
    campaign = drifted("count")
    edit_campaign(campaign=campaign, actor=None, changes={"trust_rule": "guarded"})
    run_job(Job.objects.get(kind="recompute_workers").pk)
    assert alice(campaign).evidence.last().signature.startswith("qc:guarded,")
    assert alice(campaign).trust == "drifting"


def test_a_campaign_without_workers_needs_no_job():
    campaign = make_hits()
    edit_campaign(campaign=campaign, actor=None, changes={"drift": "all", "trust_rule": "guarded"})
    assert not Job.objects.exists()


def test_held_work_counts_neither_for_gold_nor_for_agreement(drifted):
    campaign = drifted("count")
    first = Assignment.objects.get(hit__campaign=campaign, hit__number=1)
    Assignment.objects.filter(pk=first.pk).update(
        hold="held", hold_reason="too fast", held_at=timezone.now()
    )
    assert left_out_assignments(campaign) == [first.pk]
    run = build_gold(campaign=campaign)
    assert run.n_scored == 350 and "left_out:1" in run.signature
    assert measure_agreement(campaign).n_workers == 1


def test_a_worker_who_recovers_is_reliable_and_everything_counts_again(drifted):
    campaign = drifted("count")
    edit_campaign(campaign=campaign, actor=None, changes={"drift": "since"})
    person = alice(campaign)
    person.trust = "reliable"
    person.drifted_at = None
    person.save()
    for _ in range(3):
        weighed_hit(campaign, person.worker, attentive)
    person = alice(campaign)
    assert person.trust == "reliable" and person.drifted_at is None
    # The fact stays in the evidence.
    assert person.evidence.last().drifted_at is not None
    assert left_out_assignments(campaign) == []
