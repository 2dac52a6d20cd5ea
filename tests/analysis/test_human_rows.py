"""Workers as rows of an evaluation of a campaign's metrics."""

from dataclasses import replace

import numpy as np
import pytest
from django.urls import reverse
from numpy.testing import assert_allclose

from analysis.evaluation.aligned_rows import Rows
from analysis.evaluation.human_sentence import sentence_about_people
from analysis.evaluation.report import findings
from analysis.evaluation.results import AgainstWorker, Estimate, Options
from analysis.evaluation.stored_evaluations import (
    GoldChoice,
    PooledChoice,
    evaluate_again,
    evaluate_campaign,
    evaluate_pooled,
    result_of,
    rows_of,
)
from analysis.evaluation.tables import tables_of
from analysis.gold.runs import build_gold, gold_scores, ratings_of
from analysis.models import GoldRun
from analysis.scores.gold_tables import campaign_gold
from analysis.scores.human_rows import CeilingRefused, human_ceiling
from analysis.scores.score_tables import ScoreTable
from analysis.scores.storing import ScoreSource, store_scores, stored_tables
from analysis.stats.by_segment import correlations_by_segment
from da_platform.jobs.models import Job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Participation
from hits.workers.trust import weigh_pending
from tests.factories import make_hits
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> GoldRun:
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=5)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 5}, seed=4)
    weigh_pending()
    return build_gold(campaign=campaign, minimum=4)


def noisy(run: GoldRun) -> ScoreTable:
    gold = campaign_gold(run)
    noise = np.random.default_rng(1).normal(0, 0.5, len(gold.keys))
    return ScoreTable(
        "noisy", "segment", gold.keys, np.nan_to_num(gold.scores) + noise, True, "0" * 64
    )


@pytest.fixture
def metric(run):
    """A metric with noise."""
    return store_scores(table=noisy(run), home=run.campaign, source=ScoreSource())


def scores_of(metric) -> ScoreTable:
    (table,) = stored_tables([metric])
    return table


def test_workers_and_gold_come_from_different_ratings(run):
    gold, (one, two) = human_ceiling(run, use="z", name="others")
    assert [table.name for table in (one, two)] == ["one worker", "mean of 2 workers"]
    assert one.gold == two.gold == gold.name == "others"
    full, complete = campaign_gold(run), ~np.isnan(gold.scores)
    n = full.n_ratings[complete]
    both = (2 * two.scores[complete] + (n - 2) * gold.scores[complete]) / n
    assert_allclose(both, full.scores[complete])
    assert (gold.n_ratings[complete] == n - 2).all()


def test_pooled_gold_is_split_rating_by_rating(run):
    pooled = build_gold(campaign=run.campaign, method="pooled", minimum=4)
    gold, (_, two) = human_ceiling(pooled, use="z", name="others")
    full, complete = campaign_gold(pooled), ~np.isnan(gold.scores)
    assert complete.any() and (full.n_ratings[complete] > gold.n_ratings[complete]).all()
    n_all, n_gold = full.n_ratings[complete], gold.n_ratings[complete]
    both = ((n_all - n_gold) * two.scores[complete] + n_gold * gold.scores[complete]) / n_all
    assert_allclose(both, full.scores[complete])


def test_gold_that_weighs_workers_is_refused(run):
    run.method = "weighted"
    with pytest.raises(CeilingRefused, match="Gold 1 weighs workers.*per_worker or pooled"):
        human_ceiling(run, use="z", name="others")


def test_raw_scores_are_held_out_too(run):
    gold, (one, _) = human_ceiling(run, use="raw", name="others")
    complete = ~np.isnan(gold.scores)
    assert one.scores[complete].min() >= 0 and one.scores[complete].max() > 5


def test_the_same_ratings_give_the_same_split(run):
    first, second = (human_ceiling(run, use="z", name="others") for _ in range(2))
    assert_allclose(first[1][0].scores, second[1][0].scores, rtol=0)


def test_workers_are_rows_with_the_same_test_as_metrics(run, metric):
    choice = GoldChoice(run.number, human=True)
    evaluation = evaluate_campaign(campaign=run.campaign, golds=[choice])
    result = result_of(evaluation)
    (gold,) = result.golds
    assert {row.metric for row in gold.segment} == {"noisy", "one worker", "mean of 2 workers"}
    assert set(gold.comparison.metrics) == {"noisy", "one worker", "mean of 2 workers"}
    table = tables_of(result)[0]
    assert "Against one worker (p < .05): " in table.note and "noisy" in table.note
    assert "held out of the gold" in gold.gold.notes[0]
    assert "human:one worker,mean of 2 workers" in result.signature
    assert evaluation.golds == [{"run": run.number, "use": "z", "human": True}]
    assert evaluate_again(evaluation).result == result
    assert rows_of(evaluation, gold.gold.name, ["one worker"]).metrics == ("one worker",)


def test_workers_are_not_compared_with_gold_that_contains_them(run, metric):
    choices = [GoldChoice(run.number), GoldChoice(run.number, human=True)]
    result = result_of(evaluate_campaign(campaign=run.campaign, golds=choices))
    full, held_out = result.golds
    assert [row.metric for row in full.segment] == ["noisy"]
    assert len(held_out.segment) == 3


# Next to one worker, by default ------------------------------------------------------------------


@pytest.mark.parametrize("use", ["z", "raw"])
def test_metrics_are_put_next_to_one_worker_without_being_asked(run, metric, use):
    evaluation = evaluate_campaign(campaign=run.campaign, golds=[GoldChoice(run.number, use)])
    result = result_of(evaluation)
    (gold,) = result.golds
    # The full gold decides about metrics; workers have a table of their own.
    assert [row.metric for row in gold.segment] == ["noisy"]
    assert [each.measure for each in gold.humans] == ["pearson", "spearman", "kendall", "acc_eq"]
    held_out, workers = human_ceiling(run, use=use, name="gold")
    rows = Rows.of([scores_of(metric), *workers], held_out, Options())
    expected = correlations_by_segment(rows.scores, rows.truth, rows.alignment.segments)
    by_name = {row.metric: row for row in gold.humans[0].rows}
    assert set(by_name) == {"noisy", "mean of 2 workers"}
    assert by_name["noisy"].estimate == pytest.approx(expected.estimates[0])
    assert gold.humans[0].worker.estimate == pytest.approx(expected.estimates[1])
    pvalue = expected.compare().pvalue
    assert by_name["noisy"].p_better == pytest.approx(pvalue[0, 1])
    assert by_name["noisy"].p_worse == pytest.approx(pvalue[1, 0])
    assert evaluate_again(evaluation).result == result


def test_the_table_and_the_findings_say_who_is_as_good_as_a_worker(run, metric):
    evaluation = evaluate_campaign(campaign=run.campaign)
    result = result_of(evaluation)
    (table,) = (table for table in tables_of(result) if table.name.startswith("people"))
    assert {row[0].text for row in table.rows} == {"noisy", "one worker", "mean of 2 workers"}
    assert "Next to one worker (r = " in table.note and "As good as one worker" in table.note
    assert sentence_about_people(result.golds[0], result.options) in findings(result)
    page = client_of("researcher").get(reverse("evaluation", args=[evaluation.code]))
    assert "r − one worker" in page.content.decode()


def test_workers_stand_next_to_metrics_in_documents_and_published_evaluations(run, metric):
    for segment in run.campaign.segments.all():
        segment.document = f"doc{segment.position // 4}"
        segment.save(update_fields=["document"])
    for options in (Options(level="document"), Options(uncertainty="published")):
        evaluation = evaluate_campaign(campaign=run.campaign, options=options)
        (gold,) = result_of(evaluation).golds
        assert gold.humans[0].unit == options.level
        assert gold.humans[0].correction == options.used_correction


def test_pooled_gold_has_workers_too(run, metric):
    campaigns = [run.campaign, make_hits(name="second", n_segments=35, hit_size=100, min_ratings=5)]
    simulate_workers(campaign=campaigns[1], crowd={Behaviour.HONEST: 5}, seed=5)
    weigh_pending()
    second = build_gold(campaign=campaigns[1], minimum=4)
    store_scores(table=noisy(second), home=campaigns[1], source=ScoreSource())
    codes = tuple((str(campaign.code), 1) for campaign in campaigns)
    evaluation = evaluate_pooled(golds=[PooledChoice(codes)])
    (gold,) = result_of(evaluation).golds
    assert gold.humans[0].n_units > gold.gold.n_segments / 2
    assert evaluation.golds[0]["ceiling"] is True
    assert evaluate_again(evaluation).result == result_of(evaluation)


def test_gold_without_its_ratings_has_no_workers(run, metric):
    Participation.objects.filter(campaign=run.campaign).first().delete()
    evaluation = evaluate_campaign(campaign=run.campaign)
    assert evaluation.golds == [{"run": run.number, "use": "z"}]
    assert result_of(evaluation).golds[0].humans == ()


def test_verdicts_follow_from_adjusted_p_values_and_the_margin_from_the_interval():
    row = AgainstWorker("m", 0.5, Estimate(0.01, -0.04, 0.06, 9), 0.01, 0.99, 0.06, 1.0)
    assert row.verdict(0.05) == "no significant difference" and row.verdict(0.1) == "better"
    assert row.is_not_worse_by(0.05) and not row.is_not_worse_by(0.03)
    assert replace(row, adjusted_worse=0.01).verdict(0.05) == "worse"
    assert not replace(row, difference=Estimate(None)).is_not_worse_by(1)


def test_workers_are_rows_of_documents_too(run, metric):
    for segment in run.campaign.segments.all():
        segment.document = f"doc{segment.position // 4}"
        segment.save(update_fields=["document"])
    evaluation = evaluate_campaign(
        campaign=run.campaign,
        golds=[GoldChoice(run.number, human=True)],
        options=Options(level="document"),
    )
    (gold,) = result_of(evaluation).golds
    assert {row.metric for row in gold.segment} == {"noisy", "one worker", "mean of 2 workers"}
    assert gold.gold.n_segments == run.campaign.segments.values("document").distinct().count()
    assert len(rows_of(evaluation, gold.gold.name, ["one worker"]).gold) == gold.gold.n


def test_changed_ratings_are_refused(run):
    assert ratings_of(run) is not None
    Participation.objects.filter(campaign=run.campaign).first().delete()
    with pytest.raises(CeilingRefused, match="Build gold again"):
        human_ceiling(run, use="z", name="others")


def test_ratings_that_came_later_do_not_matter(run):
    before = human_ceiling(run, use="z", name="others")[0].scores
    simulate_workers(campaign=run.campaign, crowd={Behaviour.HONEST: 1}, seed=9)
    weigh_pending()
    n_trusted = Participation.objects.filter(campaign=run.campaign).trusted().count()
    assert n_trusted >= run.n_workers_trusted
    assert_allclose(human_ceiling(run, use="z", name="others")[0].scores, before, rtol=0)


def test_gold_of_single_ratings_has_nobody_to_hold_out(run):
    with pytest.raises(CeilingRefused, match="at least 2"):
        human_ceiling(build_gold(campaign=run.campaign, minimum=1), use="z", name="others")


def test_incomplete_translations_have_no_gold(run):
    strict = build_gold(campaign=run.campaign, minimum=5)
    gold, tables = human_ceiling(strict, use="z", name="others")
    n_complete = int(gold_scores(strict).is_complete.sum())
    assert np.count_nonzero(~np.isnan(gold.scores)) == n_complete
    assert np.isfinite(tables[0].scores).all()


def test_the_page_offers_it_and_shows_the_rows(run, metric):
    client, address = (
        client_of("researcher"),
        reverse("campaign_evaluate", args=[run.campaign.code]),
    )
    assert f'value="human-{run.number}"' in client.get(address).content.decode()
    form = {"golds": [f"human-{run.number}"], "metrics": [str(metric.code)], "seed": 1}
    client.post(address, form)
    job = Job.objects.get(kind="evaluate")
    assert job.arguments["golds"] == [{"run": run.number, "use": "z", "human": True}]
    evaluation = evaluate_campaign(
        campaign=run.campaign, golds=[GoldChoice(run.number, human=True)]
    )
    page = client.get(reverse("evaluation", args=[evaluation.code])).content.decode()
    assert "one worker" in page and "held out of the gold" in page
