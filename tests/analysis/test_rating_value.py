"""What more ratings would buy."""

import math
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from analysis.gold.agreement import measure_agreement
from analysis.gold.report import enough_ratings, worth_of_one
from analysis.gold.runs import build_gold
from analysis.stats.planning import Design, difference_error
from analysis.stats.rating_value import value_of_ratings
from analysis.stats.sample_size import spearman_brown
from analysis.stats.variance_components import VarianceComponents
from da_platform.jobs.running import run_job, start_job
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.workers.trust import weigh_pending
from tests.api.callers import caller
from tests.factories import make_hits
from tests.people import client_of

COMPONENTS = VarianceComponents(0.25, 0.16, 0.01, 0.02, 0.56)
NOW = {"n_ratings": 3.0, "n_segments": 140.0, "n_workers": 12.0}


def test_by_hand():
    now, three, _, _, _ = value_of_ratings(COMPONENTS, 0.41, **NOW, more=(0, 3, 4, 5, 6))
    assert now.reliability == pytest.approx(3 * 0.41 / (1 + 2 * 0.41))
    assert three.ceiling == pytest.approx(math.sqrt(6 * 0.41 / (1 + 5 * 0.41)))
    of_ratings = 0.02 / 24 + 0.57 / (140 * 6)
    assert three.difference_error == pytest.approx(math.sqrt(2 * (0.16 / 140 + of_ratings)))
    assert three.error_on_segments == pytest.approx(math.sqrt(2 * (0.16 / 280 + of_ratings)))


def test_now_both_ways_are_the_same_and_more_never_hurts():
    rows = value_of_ratings(COMPONENTS, 0.41, **NOW)
    assert rows[0].difference_error == rows[0].error_on_segments
    for earlier, later in zip(rows, rows[1:], strict=False):
        assert later.reliability > earlier.reliability
        assert later.error_on_segments < later.difference_error < earlier.difference_error


def test_a_plan_of_the_same_size_promises_the_same():
    # Twelve full HITs of 70 by a worker each. Plans also know that z-scores are relative to a worker's own mean.
    row = value_of_ratings(COMPONENTS, 0.41, **NOW, more=(0,))[0]
    assert row.difference_error == pytest.approx(
        difference_error(Design(2, 140, 3), COMPONENTS), rel=0.01
    )


def test_without_agreement_reliability_is_unknown_and_nothing_is_divided_by_zero():
    row = value_of_ratings(COMPONENTS, -0.1, **NOW)[1]
    assert math.isnan(row.reliability) and math.isnan(row.ceiling) and row.difference_error > 0
    for name in NOW:
        with pytest.raises(ValueError, match=name):
            value_of_ratings(COMPONENTS, 0.4, **NOW | {name: 0})


def test_the_prediction_holds_for_simulated_ratings():
    rng = np.random.default_rng(6)
    truth, noise = rng.normal(size=4_000), math.sqrt(0.59 / 0.41)
    ratings = truth[:, None] + noise * rng.normal(size=(4_000, 16))
    single = np.corrcoef(ratings[:, 0], ratings[:, 1])[0, 1]
    assert single == pytest.approx(0.41, abs=0.04)
    for row in value_of_ratings(COMPONENTS, 0.41, **NOW):
        n = int(row.n_ratings)
        if 2 * n > 16:
            continue
        first, second = ratings[:, :n].mean(axis=1), ratings[:, n : 2 * n].mean(axis=1)
        assert row.reliability == pytest.approx(np.corrcoef(first, second)[0, 1], abs=0.03)
        assert row.ceiling == pytest.approx(np.corrcoef(first, truth)[0, 1], abs=0.03)


@pytest.fixture
def campaign():
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=3, pay_per_hit=2)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 4}, seed=4)
    weigh_pending()
    return campaign


@pytest.mark.django_db
def test_a_campaign_says_what_one_more_rating_buys_and_costs(campaign):
    agreement = measure_agreement(campaign).as_json()
    value = agreement["value"]
    now, one = value["rows"][:2]
    assert (
        now["n_ratings"] == agreement["depth"]["mean"] and one["n_ratings"] == now["n_ratings"] + 1
    )
    assert now["reliability"] == pytest.approx(
        float(spearman_brown(agreement["curve"]["single"], now["n_ratings"]))
    )
    assert float(value["cost_of_one"]) >= 2
    (paragraph,) = enough_ratings(agreement)
    assert "one more rating of each would raise these to" in paragraph
    assert f"It would cost {value['cost_of_one']} USD" in paragraph
    assert worth_of_one(None) == []
    campaign.pay_per_hit = 0
    assert "cost" not in " ".join(worth_of_one(value | {"cost_of_one": None}))


@pytest.mark.django_db
def test_page_api_and_command_show_it(campaign):
    build_gold(campaign=campaign)
    job = run_job(start_job(kind="measure_agreement", campaign=campaign).pk)
    assert job.state == "done", job.error
    page = client_of("researcher").get(f"/campaigns/{campaign.code}/results/").content.decode()
    assert "What more ratings would buy" in page and "+10" in page
    answer = caller("researcher").get(f"/campaigns/{campaign.code}/agreement").json()
    assert answer["value"]["rows"] == job.result["value"]["rows"]
    out = StringIO()
    call_command("measure_agreement", campaign.name, stdout=out)
    assert "More ratings would buy:" in out.getvalue()


@pytest.mark.django_db
def test_a_campaign_without_ratings_says_nothing():
    assert measure_agreement(make_hits()).as_json()["value"] is None
