"""Simulated workers rank a campaign: careless ones are caught, and the ranking is the truth."""

import numpy as np
import pytest

from analysis.stats import trueskill as module
from analysis.stats.judgements import expand
from analysis.stats.trueskill import trueskill
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Participation, SystemOutput
from hits.ranking.arrays import load_rankings
from hits.workers.trust import weigh_pending

from .campaigns import ranking_campaign

pytestmark = pytest.mark.django_db


def test_careless_judges_are_caught_and_the_ranking_is_the_truth(monkeypatch):
    monkeypatch.setattr(module, "_one_run", module._one_run.py_func)
    campaign = ranking_campaign(systems=tuple("ABCDE"), n_segments=32, min_ratings=4)
    outputs = SystemOutput.objects.filter(segment__campaign=campaign)
    # Systems A to E are 10 points apart, the best first.
    qualities = {
        output.translation_id: 95.0 - 10 * "ABCDE".index(output.system.name)
        for output in outputs.select_related("system")
    }
    simulate_workers(
        campaign=campaign,
        crowd={Behaviour.HONEST: 6, Behaviour.RANDOM: 4},
        hits_per_worker=8,
        seed=3,
        qualities=qualities,
    )
    weigh_pending()
    trust = {
        kind: [
            row.trust
            for row in Participation.objects.filter(
                campaign=campaign, worker__external_id__startswith=str(kind)
            )
        ]
        for kind in (Behaviour.HONEST, Behaviour.RANDOM)
    }
    assert trust[Behaviour.HONEST].count("reliable") >= 5
    assert trust[Behaviour.RANDOM].count("reliable") <= 1
    judgements = expand(load_rankings(campaign))
    names = dict(campaign.systems.values_list("pk", "name"))
    result = trueskill(judgements, rng=np.random.default_rng(1), runs=5)
    assert "".join(names[pk] for pk in result.systems.tolist()) == "ABCDE"
    honest = Participation.objects.filter(campaign=campaign, trust="reliable").first()
    details = honest.evidence.last().details
    assert details["share_last"] >= 0.5 and details["self_kappa"]["n"] > 5
