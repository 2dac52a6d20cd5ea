"""Editing times and HTER, in the design of Graham (ACL 2015), Table 1: r of each with HTER, and which is higher."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.evaluation.results import Options
from analysis.evaluation.stored_evaluations import UploadChoice, evaluate_campaign, result_of
from analysis.models import GoldUpload
from analysis.post_editions.measures import compute_targeted
from analysis.scores.raw_files import RawFile
from analysis.stats.williams import williams_test
from hits.models import Campaign, SystemOutput
from tests.factories import make_campaign, make_translations

pytestmark = pytest.mark.django_db

N = 80


@pytest.fixture
def edited() -> tuple[Campaign, RawFile]:
    """Outputs of which some words are replaced, in a time that grows with the changes and the words to read."""
    campaign = make_campaign()
    make_translations(campaign, n_segments=N, n_systems=1)
    rng = np.random.default_rng(8)
    lines = ["system\tsegment\tpost_edition\tseconds"]
    rows = SystemOutput.objects.select_related("system", "segment", "translation")
    for output in rows.filter(system__campaign=campaign):
        words = str(output).split()
        n_changed = int(rng.integers(0, len(words) // 2))
        words[:n_changed] = [f"new{place}" for place in range(n_changed)]
        seconds = 2 * n_changed + 0.5 * len(words) + rng.exponential(4)
        lines.append(f"{output.system}\t{output.segment}\t{' '.join(words)}\t{seconds:.2f}")
    return campaign, RawFile("edits.tsv", "\n".join(lines).encode())


def test_the_williams_test_says_which_time_agrees_better_with_hter(
    edited: tuple[Campaign, RawFile],
):
    campaign, file = edited
    stored = compute_targeted(campaign=campaign, post_editions=file, names=["TER"], use="gold")
    golds = {gold.name: gold for gold in stored if isinstance(gold, GoldUpload)}
    assert golds.keys() == {"HTER", "PET", "PET-per-word"}
    # As metrics: HTER itself is one too, and is left out.
    compute_targeted(campaign=campaign, post_editions=file, names=["TER"])
    evaluation = evaluate_campaign(
        campaign=campaign,
        golds=[UploadChoice(str(golds["HTER"].code))],
        metrics=list(campaign.metrics.filter(name__startswith="PET")),
        options=Options(uncertainty="published", qe=True),
    )
    (against,) = result_of(evaluation).golds
    hter, pet, per = (np.array(golds[name].table["score"]) for name in golds)
    r = {name: stats.pearsonr(golds_of, hter)[0] for name, golds_of in (("PET", pet), ("PER", per))}
    found = {row.metric: row.pearson.estimate for row in against.segment}
    assert found["PET"] == pytest.approx(r["PET"])
    assert found["PET-per-word"] == pytest.approx(r["PER"])
    comparison = against.comparison
    assert comparison is not None and comparison.test == "williams" and comparison.n_units == N
    first, second = comparison.metrics
    expected = williams_test(found[first], found[second], stats.pearsonr(pet, per)[0], N)
    assert_allclose(comparison.pvalue[0][1], expected.pvalue)
    assert {row.metric for row in against.predictions} == {"PET", "PET-per-word"}


def test_predictions_are_evaluated_against_editing_times(edited: tuple[Campaign, RawFile]):
    campaign, file = edited
    stored = compute_targeted(campaign=campaign, post_editions=file, names=["TER"], use="gold")
    codes = [str(gold.code) for gold in stored if gold.name.startswith("PET")]
    compute_targeted(campaign=campaign, post_editions=file, names=["WER"])
    evaluation = evaluate_campaign(
        campaign=campaign,
        golds=[UploadChoice(code) for code in codes],
        metrics=list(campaign.metrics.filter(name="HWER")),
    )
    found = {gold.gold.name: gold.segment[0] for gold in result_of(evaluation).golds}
    # More changes take longer.
    assert found.keys() == {"PET", "PET-per-word"}
    assert found["PET"].pearson.estimate > 0.5
