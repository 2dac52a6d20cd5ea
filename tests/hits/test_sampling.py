"""Random samples: drawn over systems and segments with the campaign's seed; the rest is kept for metrics."""

import io
from collections import Counter

import numpy as np
import pytest
from django.core.management import call_command

from analysis.gold.ranking import rank_systems
from analysis.gold.runs import build_gold
from analysis.metrics.computing import compute_metrics
from analysis.models import GoldScore, MetricScore
from analysis.scores.gold_tables import campaign_gold
from hits.campaigns.building import build_hits
from hits.campaigns.costs import count_hits
from hits.campaigns.editing import duplicate_campaign, edit_campaign
from hits.campaigns.lifecycle import change_status
from hits.campaigns.sampling import draw, sampled_translations
from hits.models import HIT, Campaign, Item, SystemOutput, Translation
from tests.api.callers import caller
from tests.factories import make_campaign, make_translations, make_worker
from tests.people import make_person
from tests.scored_hits import reader, weighed_hit

pytestmark = pytest.mark.django_db


def test_a_sample_is_the_same_for_a_seed_and_part_of_a_larger_one():
    outputs = list(range(100, 200))
    sample = draw(outputs, size=20, seed=7)
    assert len(sample) == 20 and sample < set(outputs)
    assert sample == draw(outputs, size=20, seed=7) < draw(outputs, size=40, seed=7)
    assert sample != draw(outputs, size=20, seed=8)
    assert draw(outputs, size=1_000, seed=7) == set(outputs)


def test_each_output_has_the_same_chance_and_a_shared_translation_the_sum_of_its_outputs():
    # Outputs 0 and 1 are the same translation: drawn first in 2 of 5 samples, the others in 1 of 5.
    n = 4_000
    first = Counter(draw([0, 0, 2, 3, 4], size=1, seed=seed).pop() for seed in range(n))
    expected = {0: 0.4, 2: 0.2, 3: 0.2, 4: 0.2}
    for translation, share in expected.items():
        assert abs(first[translation] / n - share) < 4 * np.sqrt(share * (1 - share) / n)


@pytest.fixture
def campaign() -> Campaign:
    campaign = make_campaign(sample_size=40, hit_size=40, min_ratings=2, seed=3)
    make_translations(campaign, n_segments=60)
    return campaign


def genuine(campaign: Campaign) -> set[int]:
    items = Item.objects.filter(hit__campaign=campaign, partner=None)
    return set(items.values_list("translation", flat=True))


def test_hits_hold_the_sample_and_the_rest_is_kept(campaign):
    n_all = Translation.objects.count()
    before = count_hits(campaign)
    summary = build_hits(campaign=campaign)
    assert genuine(campaign) == sampled_translations(campaign)
    assert summary.n_translations == len(genuine(campaign)) == 40 < n_all
    assert f"The HITs hold a random sample: 40 of {n_all} translations." in summary.notes
    assert before == count_hits(campaign) == (summary.n_hits, 40)


def test_another_size_or_seed_deletes_the_hits(campaign):
    build_hits(campaign=campaign)
    first = genuine(campaign)
    edit_campaign(campaign=campaign, actor=None, changes={"sample_size": 60})
    assert not HIT.objects.exists()
    build_hits(campaign=campaign)
    assert first < genuine(campaign) and len(genuine(campaign)) == 60
    copy = duplicate_campaign(campaign=campaign, name="Copy", actor=make_person("admin"))
    assert copy.sample_size == 60


def test_gold_covers_the_sample_and_metrics_cover_everything():
    campaign = make_campaign(
        sample_size=80, hit_size=100, min_ratings=2, seed=3, trust_rule="published"
    )
    make_translations(campaign, n_segments=60)
    build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    for seed in (1, 2):
        weighed_hit(campaign, make_worker(), reader(seed))
    run = build_gold(campaign=campaign, minimum=1)
    assert GoldScore.objects.filter(run=run).count() == run.n_scored + run.n_incomplete == 80
    compute_metrics(campaign=campaign, names=["chrF"], levels=["segment"])
    outputs = SystemOutput.objects.filter(system__campaign=campaign)
    assert MetricScore.objects.count() == outputs.count()
    # The gold table names every output, so that metrics fit; those outside the sample have no gold.
    table = campaign_gold(run)
    assert len(table.keys) == outputs.count()
    in_sample = outputs.filter(translation__in=genuine(campaign)).count()
    assert 0 < np.isfinite(table.scores).sum() <= in_sample
    # Outputs outside the sample are not waiting for ratings.
    ranking = rank_systems(run)
    assert ranking.scores.n_segments.sum() + ranking.n_incomplete.sum() == in_sample


def test_the_command_and_the_api_take_a_sample_size(tmp_path):
    lines = [f"{n}\tS{n % 3}\tone two {n}\tone two three {n}" for n in range(60)]
    table = tmp_path / "table.tsv"
    table.write_text("\n".join(["segment\tsystem\treference\ttranslation", *lines, ""]))
    call_command(
        "import_campaign",
        str(table),
        *("--name", "News", "--from", "de", "--to", "en"),
        *("--allow-missing-translations", "--sample", "32", "--hit-size", "40"),
        stdout=io.StringIO(),
    )
    campaign = Campaign.objects.get()
    assert campaign.sample_size == 32
    api, path = caller("admin"), f"/campaigns/{campaign.code}/settings"
    assert api.get(path).json()["sample_size"] == 32
    assert api.send("patch", path, {"sample_size": 40}).json()["sample_size"] == 40
    assert api.send("patch", path, {"sample_size": 0}).status_code == 422
    assert api.send("patch", path, {"sample_size": None}).json()["sample_size"] is None
