"""Gold that weighs its workers, from ratings to pages, exports and evaluations."""

import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.evaluation.report import inputs_table
from analysis.evaluation.stored_evaluations import evaluate_campaign, result_of
from analysis.exporting import export
from analysis.gold.counted_ratings import WeightsRefused
from analysis.gold.ranking import rank_systems
from analysis.gold.reliability import measure_reliability
from analysis.gold.report import make_report
from analysis.gold.runs import build_gold
from analysis.gold.runs import ratings_of as ratings_behind
from analysis.gold.weights import reasons_for
from analysis.metrics.computing import compute_metrics
from analysis.models import GoldWeight
from analysis.stats.roles import Role
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Campaign, Item, Participation, Rating, TextReport
from hits.rating.reports import MOST_EXCUSED
from hits.workers.trust import weigh_pending
from tests.api.callers import caller
from tests.decisions import exclude, reinstate
from tests.documents.campaigns import document_campaign
from tests.factories import make_hits
from tests.people import browser_of, make_person
from tests.simulated_crowds import collect

pytestmark = pytest.mark.django_db

CROWD = {Behaviour.HONEST: 4, Behaviour.HARSH: 1, Behaviour.RANDOM: 2}


@pytest.fixture(scope="module", autouse=True)
def shared_campaign(shared_rows):
    """One HIT of 60 items, rated by four honest workers, one harsh one and two careless ones."""
    campaign = make_hits(n_segments=21, hit_size=60, min_ratings=7)
    simulate_workers(campaign=campaign, crowd=CROWD, seed=2)
    weigh_pending()
    return campaign


@pytest.fixture
def campaign(shared_campaign):
    return Campaign.objects.get(pk=shared_campaign.pk)


@pytest.fixture
def admin():
    return User.objects.create_user("ada")


def test_weighted_gold_counts_everyone_but_those_who_disagree_with_everyone(campaign):
    people = Participation.objects.filter(campaign=campaign)
    unproven = people.trusted().first()
    people.filter(pk=unproven.pk).update(trust=Participation.Trust.UNPROVEN)
    run = build_gold(campaign=campaign, method="weighted", minimum=3)
    counted = set(run.weights.values_list("worker", flat=True))
    assert unproven.worker_id in counted
    assert counted.isdisjoint(people.discarded().values_list("worker", flat=True))
    assert sum(run.weights.values_list("weight", flat=True)) == pytest.approx(len(counted))
    ranking = rank_systems(run)
    assert "sys:weighted-ratings" in ranking.signature and "seg:weighted" in run.signature
    assert all(row["low"] < row["z"] < row["high"] for row in ranking.rows)
    assert ratings_behind(run) is not None


def test_weighted_gold_leaves_out_who_was_excluded(campaign, admin):
    everyone = build_gold(campaign=campaign, method="weighted")
    person = Participation.objects.trusted().first()
    exclude(participation=person, actor=admin, reason="two accounts")
    run = build_gold(campaign=campaign, method="weighted")
    assert not run.weights.filter(worker=person.worker).exists()
    assert run.input_digest != everyone.input_digest


def test_weights_are_shown_and_exported(campaign, client):
    client = browser_of(make_person("superuser"))
    empty = client.get(reverse("worker_weights", args=[campaign.code])).content.decode()
    assert "No weights yet" in empty
    run = build_gold(campaign=campaign, method="weighted")
    page = client.get(reverse("worker_weights", args=[campaign.code])).content.decode()
    heaviest = run.weights.order_by("-weight").first()
    assert str(heaviest.worker) in page and f"{heaviest.weight:.2f}" in page
    exported = client.get(reverse("result_export", args=[campaign.code, "weights", "csv"]))
    lines = b"".join(exported.streaming_content).decode().splitlines()
    assert lines[0].startswith("campaign,worker,provider,weight,discrimination")
    assert len(lines) == 1 + run.weights.count()


def test_the_page_of_a_worker_and_the_api_give_the_weight_with_its_reasons(campaign):
    client = browser_of(make_person("superuser"))
    person = Participation.objects.trusted().first()
    page = reverse("campaign_worker", args=[campaign.code, person.worker.code])
    assert "Weight of the ratings" not in client.get(page).content.decode()
    run = build_gold(campaign=campaign, method="weighted", minimum=1)
    own = run.weights.get(worker=person.worker)
    content = client.get(page).content.decode()
    assert "Weight of the ratings" in content and f"<strong>{own.weight:.2f}</strong>" in content
    assert f"observed {own.own_discrimination:.2f} over {own.n_pairs} pairs" in content
    api, path = caller("admin"), f"/campaigns/{campaign.code}/workers/weights"
    rows = api.get(path).json()["items"]
    assert [row["weight"] for row in rows] == sorted(
        run.weights.values_list("weight", flat=True), reverse=True
    )
    [row] = api.get(path, worker=str(person.worker.code), gold=run.number).json()["items"]
    assert row["weight"] == own.weight and row["gold"] == run.number
    assert row["reasons"] == reasons_for(own)
    assert api.get(path, gold=99).status_code == 404


def test_reasons_say_what_was_not_seen_and_who_counts_little():
    numbers = {"discrimination": 0.9, "repeat_variance": 0.5, "n_pairs": 1, "n_repeats": 0}
    unseen = reasons_for(GoldWeight(weight=0.2, own_discrimination=0.3, **numbers))
    assert "observed 0.30 over 1 pair;" in unseen[0] and "(no repeats)" in unseen[1]
    assert "only a part of one" in unseen[2] and "0.40" in unseen[2]
    none = reasons_for(GoldWeight(weight=0, agreement=0.1, **numbers))
    assert "Follows the others" in none[2] and "do not count" in none[3]


def report(assignment: Assignment, items: list[Item]) -> None:
    TextReport.objects.bulk_create(
        TextReport(assignment=assignment, item=item, reason="gray") for item in items
    )


def test_pairs_with_a_reported_text_do_not_weigh_as_they_are_no_evidence(campaign):
    before = build_gold(campaign=campaign, method="weighted", minimum=1)
    assignment = Assignment.objects.filter(worker=before.weights.latest("weight").worker_id).get()
    degraded = list(assignment.hit.items.filter(role=Role.BAD_REFERENCE))
    repeat = assignment.hit.items.filter(role=Role.REPEAT).first()
    # Whichever of the two was reported.
    report(assignment, [degraded[0], degraded[1].partner, repeat])
    run = build_gold(campaign=campaign, method="weighted", minimum=1)
    own, own_before = (each.weights.get(worker=assignment.worker) for each in (run, before))
    assert own.n_pairs == own_before.n_pairs - 2
    assert own.n_repeats == own_before.n_repeats - 1
    assert run.input_digest != before.input_digest
    assert ratings_behind(run) is not None
    # Of others, nothing changes.
    other = run.weights.exclude(pk=own.pk).first()
    assert other.n_pairs == before.weights.get(worker=other.worker).n_pairs


def test_beyond_a_few_reports_all_pairs_weigh(campaign):
    before = build_gold(campaign=campaign, method="weighted", minimum=1)
    assignment = Assignment.objects.filter(worker=before.weights.latest("weight").worker_id).get()
    hidden = list(assignment.hit.items.exclude(role=Role.GENUINE)[: MOST_EXCUSED + 1])
    report(assignment, hidden)
    run = build_gold(campaign=campaign, method="weighted", minimum=1)
    assert run.input_digest == before.input_digest


def forget_hidden_items(campaign: Campaign) -> None:
    Rating.objects.filter(assignment__hit__campaign=campaign).exclude(
        item__role=Role.GENUINE
    ).delete()


def test_without_hidden_items_it_is_refused_with_the_reason(campaign):
    forget_hidden_items(campaign)
    with pytest.raises(WeightsRefused, match="nobody who counts has rated a degraded text"):
        build_gold(campaign=campaign, method="weighted", minimum=1)
    with pytest.raises(CommandError, match="choose another way"):
        call_command("build_gold", campaign.name, "--method", "weighted")
    job = start_job(
        kind="build_gold", campaign=campaign, arguments={"method": "weighted"}, started_by=None
    )
    assert "needs such hidden items" in run_job(job.pk).error
    assert not campaign.gold_runs.exists()
    assert measure_reliability(campaign, method="weighted") is None
    assert measure_reliability(campaign, method="pooled", n_splits=2) is not None


def test_if_nobody_lowers_degraded_texts_it_is_refused(campaign):
    Rating.objects.filter(item__role=Role.BAD_REFERENCE).update(score=100)
    with pytest.raises(WeightsRefused, match="none of them lowered degraded texts"):
        build_gold(campaign=campaign, method="weighted", minimum=1)


def test_careless_ratings_complete_no_translation(campaign, admin):
    for person in Participation.objects.discarded():
        reinstate(participation=person, actor=admin, reason="to see")
    run = build_gold(campaign=campaign, method="weighted", minimum=1)
    weights = list(run.weights.values_list("weight", flat=True))
    full = int(sum(min(weight / 0.5, 1) for weight in weights) + 1e-9)
    assert 0 < full < len(weights)
    assert set(run.scores.values_list("n", flat=True)) == {full}
    assert "min:1,full>=0.5" in run.signature
    short = build_gold(campaign=campaign, method="weighted", minimum=len(weights))
    assert short.n_scored == 0 and short.system_covariance is None


def test_a_worker_whose_scores_never_vary_has_no_weight(campaign):
    last = Participation.objects.order_by("-worker").first()
    Rating.objects.filter(assignment__worker=last.worker).update(score=50)
    run = build_gold(campaign=campaign, method="weighted", minimum=1)
    assert not run.weights.filter(worker=last.worker).exists()
    assert run.n_scored == 42


def test_systems_rated_in_documents_have_intervals_over_documents():
    campaign = document_campaign(n_segments=50, min_ratings=3, hit_size=100)
    collect(campaign, {Behaviour.HONEST: 6}, seed=2)
    run = build_gold(campaign=campaign, method="weighted", minimum=1)
    assert run.system_covariance["unit"] == "documents"
    assert run.system_covariance["n_segments"] == 10
    ranking = rank_systems(run)
    assert ranking.interval_over == "documents and workers"
    assert "var:documents,workers" in run.system_covariance["signature"]


def test_pages_and_report_say_what_systems_are_ranked_by(campaign):
    client = browser_of(make_person("superuser"))
    page = reverse("campaign_results", args=[campaign.code])
    plain = build_gold(campaign=campaign, minimum=1)
    assert "Ranked by mean z over segments, with" in client.get(page).content.decode()
    assert make_report(plain).systems_note.startswith("Systems by mean z over segments")
    run = build_gold(campaign=campaign, method="weighted", minimum=1)
    content = client.get(page).content.decode()
    words = "weighted ratings, with random effects of segments"
    assert f"Ranked by {words}, with" in content
    assert "Workers weighed" in content and "Trusted workers</dt>" not in content
    assert make_report(run).systems_note.startswith(f"Systems by {words}")
    assert f"Systems were ranked by {words}" in " ".join(make_report(run).methods)


def test_reliability_is_shown_for_each_way_of_averaging(campaign):
    run_job(start_job(kind="measure_agreement", campaign=campaign, started_by=None).pk)
    facts = Job.objects.get(kind="measure_agreement").result["reliability"]
    assert [each["method"] for each in facts] == ["per_worker", "pooled", "weighted"]
    assert "halves:workers,weighed-alone" in facts[2]["signature"]
    assert facts[0]["segments"]["full"] == pytest.approx(
        2 * facts[0]["segments"]["r"] / (1 + facts[0]["segments"]["r"])
    )


def test_evaluations_show_that_their_gold_was_weighted(campaign):
    run = build_gold(campaign=campaign, method="weighted", minimum=1)
    compute_metrics(campaign=campaign, names=["chrF"], levels=["segment"])
    evaluation = evaluate_campaign(campaign=campaign)
    facts = result_of(evaluation).golds[0].gold
    assert set(run.signature.split("|")) <= set(facts.signature.split("|"))
    page = reverse("evaluation", args=[evaluation.code])
    content = browser_of(make_person("superuser")).get(page).content.decode()
    assert "seg:weighted" in content and "weight:drop^" in content
    rows = inputs_table(result_of(evaluation)).rows
    assert any("seg:weighted" in str(cell) for row in rows for cell in row)


@pytest.mark.parametrize("kind", ["segments", "systems", "documents", "weights"])
def test_exports_say_that_the_gold_was_weighted(campaign, tmp_path, kind):
    run = build_gold(campaign=campaign, method="weighted", minimum=1)
    path = tmp_path / "scores.csv"
    export(kind=kind, campaign=campaign, path=path, format="csv", run=run)
    facts = json.loads(path.with_name("scores.csv.meta.json").read_text())
    assert "seg:weighted" in facts["gold_run"]["signature"]
    assert "weight:drop^" in facts["gold_run"]["signature"]
    if kind == "systems":
        assert "sys:weighted-ratings|rank:z|test:two_way" in facts["signature"]
