"""The results pages, their downloads and the report."""

import csv
import io
import sys
from dataclasses import replace
from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from analysis.gold.agreement import measure_agreement
from analysis.gold.pictures import how_many_ratings
from analysis.gold.ranking import rank_systems
from analysis.gold.report import make_report, report_as_pdf
from analysis.gold.results import Results, segment_rows
from analysis.gold.runs import build_gold, gold_scores
from analysis.models import GoldRun
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Campaign, System, SystemOutput
from hits.workers.trust import weigh_pending
from tests.evaluations import make_gold_run
from tests.factories import make_campaign, make_hits, make_translations
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def shared_campaign(shared_rows: None) -> Campaign:
    """Rated by four honest workers and a careless one."""
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=5)
    crowd = {Behaviour.HONEST: 4, Behaviour.RANDOM: 1}
    simulate_workers(campaign=campaign, crowd=crowd, seed=4)
    weigh_pending()
    return campaign


@pytest.fixture
def campaign(shared_campaign: Campaign) -> Campaign:
    return Campaign.objects.get(pk=shared_campaign.pk)


@pytest.fixture
def run(campaign: Campaign) -> GoldRun:
    return build_gold(campaign=campaign, minimum=3)


def page(name: str, campaign: Campaign, *args: str, role: str = "researcher", **query: object):
    return client_of(role).get(reverse(name, args=[campaign.code, *args]), query)


def test_without_gold_the_page_says_what_to_do(campaign):
    text = page("campaign_results", campaign).content.decode()
    assert "No gold yet" in text and "Build gold" in text


def test_a_button_builds_gold_and_measures_agreement(campaign):
    client = client_of("researcher")
    form = {"minimum": 3, "method": "per_worker"}
    answer = client.post(reverse("build_gold", args=[campaign.code]), form)
    jobs = {job.kind: job for job in Job.objects.all()}
    assert answer.url == reverse("job", args=[jobs["build_gold"].code])
    for job in jobs.values():
        assert run_job(job.pk).state == "done"
    text = client.get(reverse("campaign_results", args=[campaign.code])).content.decode()
    assert "Gold 1" in text and "Krippendorff" in text


def test_a_form_without_a_number_builds_nothing(campaign):
    client = client_of("researcher")
    client.post(reverse("build_gold", args=[campaign.code]), {"minimum": "many"})
    assert not Job.objects.exists()


def test_it_shows_the_computed_ranking(campaign, run):
    text = page("campaign_results", campaign).content.decode()
    ranking = rank_systems(run)
    places = [text.index(f'<th scope="row">{name}</th>') for name in ranking.scores.systems]
    assert places == sorted(places)
    assert f"{ranking.scores.z[0]:.3f}" in text and escape(run.signature) in text


def test_an_earlier_run_can_be_shown_and_an_unknown_one_is_not_found(campaign, run):
    build_gold(campaign=campaign, minimum=2)
    assert "<h2>Gold 1</h2>" in page("campaign_results", campaign, run=1).content.decode()
    for wrong in ("3", "x", "-1"):
        assert page("campaign_results", campaign, run=wrong).status_code == 404


def test_gold_with_too_few_ratings_is_shown_as_incomplete(campaign):
    build_gold(campaign=campaign, minimum=50)
    text = page("campaign_results", campaign).content.decode()
    assert "no system can be ranked" in text
    table = page("campaign_segments", campaign).content.decode()
    assert "incomplete" in table


@pytest.mark.parametrize("fmt", ["svg", "png", "pdf", "csv"])
@pytest.mark.parametrize(
    "name", ["segment-scores", "ratings-per-translation", "system-ranking", "system-significance"]
)
def test_every_picture_can_be_downloaded(campaign, run, name, fmt):
    answer = page("result_picture", campaign, name, fmt)
    starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF", "csv": b""}
    assert answer.status_code == 200 and answer.content.startswith(starts[fmt])
    assert f"{name}.{fmt}" in answer["Content-Disposition"]


def test_the_data_of_the_ranking_match_its_numbers(campaign, run):
    content = page("result_picture", campaign, "system-ranking", "csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    scores = rank_systems(run).scores
    assert [row["system"] for row in rows] == scores.systems.tolist()
    assert [float(row["z"]) for row in rows] == scores.z.tolist()


def test_an_unknown_picture_or_format_is_not_found(campaign, run):
    for name, fmt in (("portrait", "svg"), ("segment-scores", "gif"), ("how-many-ratings", "svg")):
        assert page("result_picture", campaign, name, fmt).status_code == 404


def test_the_segment_table_can_be_filtered_and_sorted(campaign, run):
    system = campaign.systems.first().name
    n_rows = page("campaign_segments", campaign, system=system).context["page"].paginator.count
    assert n_rows == campaign.segments.count()
    down = page("campaign_segments", campaign, sort="-z").context["page"].object_list
    scores = [row["z"] for row in down if row["z"] is not None]
    assert scores == sorted(scores, reverse=True)
    name = campaign.segments.first().name
    matches = page("campaign_segments", campaign, search=name).context["page"].object_list
    assert {row["segment"] for row in matches} >= {name}
    assert (
        "No translations match"
        in page("campaign_segments", campaign, search="zzz").content.decode()
    )
    assert page("campaign_segments", campaign, sort="'; DROP", search="\x00").status_code == 200


def test_the_pages_need_the_same_number_of_queries_for_any_number_of_segments(
    django_assert_max_num_queries,
):
    client = client_of("researcher")
    counts = []
    for n_segments in (35, 70):
        campaign = make_hits(min_ratings=2, n_segments=n_segments, hit_size=100)
        simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=1)
        weigh_pending()
        build_gold(campaign=campaign, minimum=1)
        for name in ("campaign_results", "campaign_segments", "campaign_report"):
            with django_assert_max_num_queries(20) as queries:
                client.get(reverse(name, args=[campaign.code]))
            counts.append(len(queries))
    assert counts[:3] == counts[3:]


def test_systems_that_share_a_translation_are_listed_by_name(campaign, run):
    shared = campaign.segments.first().translations.first()
    # Created last, but first by name.
    system = System.objects.create(campaign=campaign, name="a first one")
    SystemOutput.objects.create(system=system, segment=shared.segment, translation=shared)
    for sort in ("segment", "-z", "n"):
        rows = [row for row in segment_rows(run, sort=sort) if row["text"] == shared.text]
        names = [row["system"] for row in rows]
        assert len(names) > 1 and names == sorted(names)


def test_a_picture_that_was_drawn_is_not_computed_again(campaign, run, monkeypatch):
    names = list(Results(run).makers())
    assert names == list(Results(run).pictures()) and len(names) == 4
    first = [page("result_picture", campaign, name, "csv").content for name in names]
    reads = []
    monkeypatch.setattr("analysis.gold.results.gold_scores", reads.append)
    monkeypatch.setattr("analysis.gold.ranking.gold_scores", reads.append)
    again = [page("result_picture", campaign, name, "csv").content for name in names]
    assert first == again and not reads


def test_gold_is_read_once_for_all_pictures(run, monkeypatch):
    reads = []
    for place in ("analysis.gold.results.gold_scores", "analysis.gold.ranking.gold_scores"):
        monkeypatch.setattr(place, lambda run: reads.append(run) or gold_scores(run))
    assert len(Results(run).pictures()) == 4 and len(reads) == 1


def test_one_system_has_no_significance_picture():
    campaign = make_campaign()
    make_translations(campaign, n_systems=1)
    run = build_gold(campaign=campaign)
    run.scores.update(is_complete=True, raw=50, z=0, n=15, n_ratings=15)
    GoldRun.objects.update(n_scored=14)
    run.refresh_from_db()
    assert "system-significance" not in Results(run).makers()
    assert page("result_picture", campaign, "system-significance", "svg").status_code == 404


@pytest.mark.parametrize("kind", ["segments", "systems", "ratings", "evidence"])
def test_every_table_can_be_exported_under_pseudonyms(campaign, run, kind):
    answer = page("result_export", campaign, kind, "csv")
    content = b"".join(answer.streaming_content).decode()
    assert len(content.splitlines()) > 2
    worker = campaign.participations.first().worker
    assert worker.external_id not in content


def test_an_export_without_gold_redirects(campaign):
    answer = page("result_export", campaign, "segments", "csv")
    assert answer.status_code == 302
    assert page("result_export", campaign, "people", "csv").status_code == 404


# Agreement -----------------------------------------------------------------------------------


def test_agreement_is_repeatable_and_covers_trusted_workers_only(campaign):
    first, second = measure_agreement(campaign), measure_agreement(campaign)
    assert first.as_json() == second.as_json()
    assert first.n_workers == campaign.participations.trusted().count() < 5
    assert first.between.pearson > 0.1
    campaign.participations.update(trust="unreliable")
    assert measure_agreement(campaign).as_json()["between"]["pearson"] is None


def test_without_pairs_the_page_shows_no_empty_figures(campaign, run):
    campaign.participations.update(trust="unreliable")
    run_job(start_job(kind="measure_agreement", campaign=campaign).pk)
    text = page("campaign_results", campaign).content.decode()
    assert '<dd class="hint">0 pairs</dd>' in text and " to , " not in text
    assert "mean absolute difference" not in text


def test_the_curve_is_drawn_again_when_the_minimum_changes(campaign, monkeypatch):
    run_job(start_job(kind="measure_agreement", campaign=campaign).pk)
    minimums = []
    monkeypatch.setattr(
        "analysis.gold.results.how_many_ratings",
        lambda curve, minimum: minimums.append(minimum) or how_many_ratings(curve, minimum),
    )
    for minimum in (5, 5, 9):
        Campaign.objects.update(min_ratings=minimum)
        page("result_picture", campaign, "how-many-ratings", "svg")
    assert minimums == [5, 9]


def test_the_curve_is_available_once_agreement_was_measured(campaign):
    run_job(start_job(kind="measure_agreement", campaign=campaign).pk)
    answer = page("result_picture", campaign, "how-many-ratings", "csv")
    assert answer.content.decode().startswith(
        "ratings,r,low,high,predicted,translations,raw scores,"
    )


# The report ----------------------------------------------------------------------------------


def test_the_report_has_the_real_numbers(campaign, run):
    report = make_report(run)
    assert report.people.n_recruited == report.people.n_finished == 5
    assert report.people.n_passed + report.people.n_unreliable + report.people.n_unproven == 5
    assert report.work.n_ratings == report.work.n_assignments * 100
    text = page("campaign_report", campaign).content.decode()
    assert (
        "5 workers agreed to take part" in text and f"{run.n_ratings:,} ratings of genuine" in text
    )
    assert run.input_digest in text
    assert "did not count" not in text


def test_the_report_says_how_many_held_hits_do_not_count(campaign, run):
    Campaign.objects.update(trust_rule=Campaign.TrustRule.GUARDED)
    n_before = make_report(run).work.n_assignments
    held = Assignment.objects.submitted().filter(hit__campaign=campaign).first()
    held.hold, held.hold_reason, held.held_at = "held", "Too fast.", held.submitted_at
    held.save(update_fields=["hold", "hold_reason", "held_at"])
    run.refresh_from_db()
    work = make_report(run).work
    assert (work.n_assignments, work.n_not_counted) == (n_before - 1, 1)
    text = page("campaign_report", campaign).content.decode()
    assert "until a person decided about them. 1 such HIT did not count." in text


def test_the_report_counts_evidence_and_manual_decisions_separately(campaign, run):
    before = make_report(run).people
    careless = campaign.participations.get(trust="unreliable")
    reliable = campaign.participations.filter(trust="reliable").first()
    for person, decision in ((careless, "reinstated"), (reliable, "excluded")):
        campaign.participations.filter(pk=person.pk).update(
            decision=decision, decision_reason="Why"
        )
    report = make_report(build_gold(campaign=campaign, minimum=3))
    decided = replace(before, n_excluded=1, n_reinstated=1)
    assert report.people == decided
    assert "4 workers (80%) passed, 1 did not, and 0 were unproven." in report.methods[1]
    assert "Manually, 1 were excluded and 1 reinstated." in report.methods[1]
    assert "is based on the ratings of 4 of the 5 workers." in report.methods[1]


def test_the_report_describes_the_rule_the_degraded_texts_and_drift(campaign, run):
    text = make_report(run).methods[1]
    assert "(published degradation)" in text and "(published rule)" in text
    assert "counted even if it failed" in text and "guarded" not in text
    Campaign.objects.update(trust_rule="guarded", degradation="balanced", drift="since")
    text = make_report(GoldRun.objects.get(pk=run.pk)).methods[1]
    assert "(balanced degradation)" in text and "(guarded rule)" in text
    assert "30 translations with ratings by at least 3 other reliable workers" in text
    assert "p < 0.01). Either test spoke against a worker if p > 0.5, or if 20 pairs or 100" in text
    assert "since the first HIT of a worker's earliest failed window were left out" in text


def test_the_report_of_an_earlier_run_leaves_out_later_work(campaign, run):
    run_job(start_job(kind="measure_agreement", campaign=campaign).pk)
    with time_machine.travel(timezone.now() + timedelta(days=40)):
        before = make_report(run)
        simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 2}, seed=5)
        weigh_pending()
        after, latest = make_report(run), make_report(build_gold(campaign=campaign, minimum=3))
    assert after.people == before.people and after.work == before.work
    assert after.methods == before.methods
    assert latest.people.n_finished > 5
    assert f"As measured on {run.created_at:%d %B %Y}, two workers'" in latest.methods[-2]


def test_the_report_is_listed_under_results(campaign, run):
    url = reverse("campaign_results", args=[campaign.code])
    text = page("campaign_report", campaign).content.decode()
    assert f'<a href="{url}" aria-current="page">Results</a>' in text
    assert text.count(f'href="{url}" aria-current') == 1


def test_without_gold_there_is_no_report(campaign):
    assert page("campaign_report", campaign).url == reverse(
        "campaign_results", args=[campaign.code]
    )
    assert page("campaign_report_pdf", campaign).status_code == 404


def test_the_pdf_names_the_extra_that_is_missing(campaign, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "typst", None)
    url = reverse("campaign_report_pdf", args=[campaign.code])
    text = client_of("researcher").get(url, follow=True).content.decode()
    assert "pip install &#x27;da-platform[pdf]&#x27;" in text


def test_the_pdf_treats_names_as_text(campaign, run):
    campaign.name = 'Évaluation #eval("boom") *bold* 中文'
    campaign.save()
    campaign.systems.filter(pk=campaign.systems.first().pk).update(name="#panic() $x$ <b>")
    answer = page("campaign_report_pdf", campaign)
    assert answer.content.startswith(b"%PDF") and len(answer.content) > 20_000
    assert answer["Content-Disposition"].endswith('.pdf"')
    assert report_as_pdf(make_report(run))[:4] == b"%PDF"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"task": "reference"}, "were rated by direct assessment: one at a time, on a scale"),
        ({"task": "fluency"}, "from 0 to 100, for how fluent it is"),
        (
            {"task": "reference", "presentation": "document"},
            "in their documents, up to 10 segments",
        ),
        ({"task": "source", "presentation": "side"}, "outputs of a segment side by side"),
        (
            {"task": "edit", "shows": "source"},
            "were post-edited, one at a time, with as few changes",
        ),
        ({"task": "rank"}, "were ranked: up to 5 outputs of a segment from best to worst"),
    ],
)
def test_the_report_says_what_workers_were_asked_to_do(fields, words):
    campaign = make_campaign(**fields)
    make_translations(campaign, n_segments=3)
    collecting = make_report(make_gold_run(campaign)).methods[0]
    assert words in collecting
    assert ("scale" in collecting) == (fields["task"] not in ("edit", "rank"))
