"""Simulated workers rank a campaign: careless ones are caught, and the ranking is the truth."""

import numpy as np
import pytest

from analysis.ranking.results import rank_by_judgements
from analysis.stats import trueskill as module
from analysis.stats.judgements import expand
from analysis.stats.trueskill import trueskill
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Participation, SystemOutput
from hits.ranking.arrays import load_rankings
from hits.ranking.rounds import add_round, standing_of
from hits.workers.trust import weigh_pending

from .campaigns import ranking_campaign

pytestmark = pytest.mark.django_db


@pytest.mark.slow
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
    facts = rank_by_judgements(campaign, runs=5)
    assert [row["system"] for row in facts["systems"]] == list("ABCDE")
    assert [row["strength_cluster"] for row in facts["systems"]] == [1, 2, 3, 4, 5]
    assert all(
        row["best"] <= place <= row["worst"] for place, row in enumerate(facts["systems"], 1)
    )
    result = trueskill(judgements, rng=np.random.default_rng(1), runs=5)
    assert "".join(names[pk] for pk in result.systems.tolist()) == "ABCDE"
    honest = Participation.objects.filter(campaign=campaign, trust="reliable").first()
    details = honest.evidence.last().details
    assert details["share_last"] >= 0.5 and details["self_kappa"]["n"] > 5


@pytest.mark.slow
def test_rounds_end_with_the_true_clusters_and_fewer_judgements_than_all_pairs_alike(monkeypatch):
    """From the first HITs to the last round: A and B are close, the others far apart."""
    monkeypatch.setattr(module, "_one_run", module._one_run.py_func)
    truth = {"A": 85.0, "B": 74.0, "C": 50.0, "D": 20.0}
    campaign = ranking_campaign(
        systems=tuple(truth),
        n_segments=120,
        output_choice="undecided",
        min_ratings=1,
        max_hits_per_worker=None,
    )
    outputs = SystemOutput.objects.filter(segment__campaign=campaign).select_related("system")
    qualities = {output.translation_id: truth[output.system.name] for output in outputs}
    for number in range(12):
        simulate_workers(
            campaign=campaign,
            crowd={Behaviour.HONEST: 4},
            hits_per_worker=40,
            seed=number + 1,
            qualities=qualities,
        )
        weigh_pending()
        campaign.participations.update(trust="reliable")
        if not add_round(campaign=campaign).n_hits:
            break
    standing = standing_of(campaign)
    assert not standing.undecided.any()
    facts = rank_by_judgements(campaign, runs=3)
    clusters = {row["system"]: row["strength_cluster"] for row in facts["systems"]}
    assert clusters == {"A": 1, "B": 2, "C": 3, "D": 4}
    # All pairs alike would have as many of each as the closest pair needed.
    counts = standing.counts[np.triu_indices(4, 1)]
    assert counts[0] == counts.max() and counts.sum() < 0.8 * 6 * counts.max()
