"""Scripts against balanced texts that are shown in documents or side by side: the bars of ratings shown alone."""

import pytest

from hits.campaigns.behaviours import Behaviour
from hits.models import Campaign, Participation
from tests.simulated_crowds import collect, open_demo

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

SCRIPTS = (
    Behaviour.OVERLAP,
    Behaviour.CHRF,
    Behaviour.MEMORY,
    Behaviour.PAIRS,
    Behaviour.PAIRS_CHRF,
)
N_EACH = 4


@pytest.fixture(params=["document", "side"])
def campaign(request: pytest.FixtureRequest) -> Campaign:
    return open_demo(
        "scripts",
        presentation=request.param,
        outputs_per_screen=3,
        degradation=Campaign.Degradation.BALANCED,
        trust_rule=Campaign.TrustRule.GUARDED,
        min_ratings=12,
        seed=5,
    )


def test_scripts_are_not_trusted_and_honest_people_are(campaign: Campaign):
    crowd = {Behaviour.HONEST: 16} | dict.fromkeys(SCRIPTS, N_EACH)
    collect(campaign, crowd, seed=3)
    verdicts: dict[bool, list[str]] = {True: [], False: []}
    for name, trust in Participation.objects.values_list("worker__external_id", "trust"):
        verdicts[name.startswith("honest")].append(trust)
    honest, scripts = verdicts[True], verdicts[False]
    assert honest.count("reliable") >= 0.75 * len(honest)
    # One in ten at most, as by chance.
    assert scripts.count("reliable") <= 0.1 * len(scripts)
