"""Gold of a campaign in which every third worker is a script, against one without them."""

import numpy as np
import pytest

from analysis.gold.runs import build_gold, gold_scores
from hits.campaigns.behaviours import Behaviour
from hits.campaigns.simulation import true_qualities
from hits.models import Campaign, Participation
from hits.rating.arrays import load_translations
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
    name = f"{rule} {sum(crowd.values())}"
    campaign = open_demo(name, seed=3, **RULES[rule])
    collect(campaign, crowd, seed=5, truth_seed=TRUTH_SEED, hits_per_worker=3)
    return campaign


def r_with_truth(campaign: Campaign) -> float:
    gold = gold_scores(build_gold(campaign=campaign, minimum=10))
    truth = true_qualities(campaign=campaign, seed=TRUTH_SEED)
    assert len(gold.z) == len(load_translations(campaign))
    return float(np.corrcoef(gold.z, [truth[pk] for pk in gold.translation.tolist()])[0, 1])


def n_trusted_scripts(campaign: Campaign) -> int:
    trusted = Participation.objects.filter(campaign=campaign).trusted()
    names = trusted.values_list("worker__external_id", flat=True)
    return sum(name.startswith(tuple(f"{kind}-" for kind in SCRIPTS)) for name in names)


def test_scripts_in_the_crowd_do_not_change_the_gold(capsys):
    r, n_scripts = {}, {}
    for rule in RULES:
        for crowd in (READERS, READERS | SCRIPTS):
            campaign = collected(rule, crowd)
            r[rule, len(crowd)] = r_with_truth(campaign)
        n_scripts[rule] = n_trusted_scripts(campaign)
    with capsys.disabled():
        for rule in RULES:
            without, with_scripts = (r[rule, len(c)] for c in (READERS, READERS | SCRIPTS))
            print(
                f"\n{rule}: gold and truth r = {without:.3f} without scripts, {with_scripts:.3f} with them; "
                f"{n_scripts[rule]} of {sum(SCRIPTS.values())} scripts trusted"
            )
    guarded = [r["guarded", len(crowd)] for crowd in (READERS, READERS | SCRIPTS)]
    assert guarded[1] >= guarded[0] - 0.01
    # A few pass by chance.
    assert n_scripts["guarded"] <= 2 < 10 < n_scripts["published"]
