"""Gold of a campaign in which every third worker is a script, against one without them."""

import numpy as np
import pytest

from analysis.gold.runs import build_gold, gold_scores
from hits.campaigns.behaviours import Behaviour
from hits.campaigns.simulation import true_qualities
from hits.models import Campaign, Participation
from hits.models.workers import ParticipationQuerySet
from tests.simulated_crowds import collect, open_demo

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

RULES = {
    "guarded": {"degradation": "balanced", "trust_rule": "guarded"},
    "published": {"degradation": "published", "trust_rule": "published"},
}
READERS = {Behaviour.HONEST: 40, Behaviour.NOISY: 8, Behaviour.LENIENT: 8, Behaviour.HARSH: 8}
# The random ones do most harm: true quality in the simulation has much to do with overlap.
SCRIPTS = {
    Behaviour.PAIRS: 8,
    Behaviour.PAIRS_CHRF: 8,
    Behaviour.OVERLAP: 4,
    Behaviour.CHRF: 4,
    Behaviour.MEMORY: 4,
    Behaviour.FAST: 2,
    Behaviour.SLOW_AT_THE_END: 2,
}
TRUTH_SEED = 1
# Two crowds each: the r of one varies by some 0.005.
SEEDS = (5, 6)


def collected(rule: str, crowd: dict[Behaviour, int], *, seed: int) -> Campaign:
    campaign = open_demo(f"{rule} {len(crowd)} {seed}", seed=seed, **RULES[rule])
    collect(campaign, crowd, seed=seed, truth_seed=TRUTH_SEED, hits_per_worker=2)
    return campaign


def r_with_truth(campaign: Campaign) -> float:
    # Not all 15: in the end, places are kept for unproven workers who may come back.
    gold = gold_scores(build_gold(campaign=campaign, minimum=12))
    truth = true_qualities(campaign=campaign, seed=TRUTH_SEED)
    assert len(gold.z) == len(truth)
    return float(np.corrcoef(gold.z, [truth[pk] for pk in gold.translation.tolist()])[0, 1])


def share_of_scripts(participations: ParticipationQuerySet) -> float:
    names = list(participations.values_list("worker__external_id", flat=True))
    return sum(name.partition("-")[0] in SCRIPTS for name in names) / len(names)


def test_scripts_in_the_crowd_do_not_change_the_gold(capsys):
    r, shares = {}, {}
    for rule in RULES:
        without = [collected(rule, READERS, seed=seed) for seed in SEEDS]
        with_scripts = [collected(rule, READERS | SCRIPTS, seed=seed) for seed in SEEDS]
        r[rule] = [
            float(np.mean([r_with_truth(campaign) for campaign in campaigns]))
            for campaigns in (without, with_scripts)
        ]
        participations = Participation.objects.filter(campaign__in=with_scripts)
        assert share_of_scripts(participations) > 0.25
        shares[rule] = share_of_scripts(participations.trusted())
        with capsys.disabled():
            print(
                f"\n{rule}: gold and truth r = {r[rule][0]:.3f} without scripts, {r[rule][1]:.3f} with them; "
                f"{100 * shares[rule]:.0f} % of the trusted workers are scripts"
            )
    assert r["guarded"][1] >= r["guarded"][0] - 0.01
    assert r["published"][1] < r["published"][0] - 0.01
    assert shares["guarded"] <= 0.05 < 0.2 < shares["published"]
