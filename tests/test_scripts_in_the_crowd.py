"""Gold of a campaign in which every third worker is a script, against one without them."""

import numpy as np
import pytest

from analysis.gold.runs import build_gold, gold_scores
from hits.campaigns.behaviours import Behaviour
from hits.campaigns.simulation import true_qualities
from hits.models import Campaign, Participation
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


def collected(rule: str, crowd: dict[Behaviour, int]) -> Campaign:
    campaign = open_demo(f"{rule} {len(crowd)}", seed=3, **RULES[rule])
    collect(campaign, crowd, seed=5, truth_seed=TRUTH_SEED, hits_per_worker=2)
    return campaign


def r_with_truth(campaign: Campaign) -> float:
    gold = gold_scores(build_gold(campaign=campaign))
    truth = true_qualities(campaign=campaign, seed=TRUTH_SEED)
    assert len(gold.z) == len(truth)
    return float(np.corrcoef(gold.z, [truth[pk] for pk in gold.translation.tolist()])[0, 1])


def share_of_scripts(campaign: Campaign, *, trusted_only: bool) -> float:
    participations = Participation.objects.filter(campaign=campaign)
    if trusted_only:
        participations = participations.trusted()
    names = list(participations.values_list("worker__external_id", flat=True))
    return sum(name.partition("-")[0] in SCRIPTS for name in names) / len(names)


def test_scripts_in_the_crowd_do_not_change_the_gold(capsys):
    r, share_trusted = {}, {}
    for rule in RULES:
        without = r_with_truth(collected(rule, READERS))
        campaign = collected(rule, READERS | SCRIPTS)
        r[rule] = without, r_with_truth(campaign)
        share_trusted[rule] = share_of_scripts(campaign, trusted_only=True)
        assert share_of_scripts(campaign, trusted_only=False) > 0.25
        with capsys.disabled():
            print(
                f"\n{rule}: gold and truth r = {without:.3f} without scripts, {r[rule][1]:.3f} with them; "
                f"{100 * share_trusted[rule]:.0f} % of the trusted workers are scripts"
            )
    without, with_scripts = r["guarded"]
    assert with_scripts >= without - 0.01
    assert share_trusted["guarded"] <= 0.05 < 0.2 < share_trusted["published"]
    assert r["published"][1] < r["published"][0] - 0.01
