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
    # Of all copies of a run, one direction is right.
    Behaviour.SECOND,
)
N_EACH = 4
# As in `benchmarks.trust`, in percent, after up to three HITs.
MIN_HONEST, MAX_SCRIPTS = 97, 5
HITS_EACH = 3


@pytest.fixture(params=["document", "side"])
def campaign(request: pytest.FixtureRequest) -> Campaign:
    return open_demo(
        "scripts",
        presentation=request.param,
        outputs_per_screen=3,
        degradation=Campaign.Degradation.BALANCED,
        trust_rule=Campaign.TrustRule.GUARDED,
        min_ratings=40,
        seed=5,
    )


def test_scripts_are_not_trusted_and_honest_people_are(campaign: Campaign):
    crowd = {Behaviour.HONEST: 20} | dict.fromkeys(SCRIPTS, N_EACH)
    collect(campaign, crowd, seed=3, hits_per_worker=HITS_EACH)
    verdicts: dict[bool, list[str]] = {True: [], False: []}
    for name, trust in Participation.objects.values_list("worker__external_id", "trust"):
        verdicts[name.startswith("honest")].append(trust)
    honest, scripts = verdicts[True], verdicts[False]
    assert len(honest) == 20 and len(scripts) == N_EACH * len(SCRIPTS)
    assert 100 * honest.count("reliable") >= MIN_HONEST * len(honest)
    assert 100 * scripts.count("reliable") <= MAX_SCRIPTS * len(scripts)
