"""Which translations a campaign has rated, if not all: their chances, and what gold makes of them."""

from collections import Counter

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from numpy.testing import assert_allclose

from analysis.gold.ranking import rank_systems
from analysis.gold.report import make_report
from analysis.gold.runs import build_gold
from analysis.metrics.computing import compute_metrics
from analysis.models import MetricScore
from analysis.scores.spread import spread_of_metrics
from hits.campaigns.building import build_hits
from hits.campaigns.editing import duplicate_campaign, edit_campaign
from hits.campaigns.lifecycle import change_status
from hits.campaigns.samples import load_chances
from hits.campaigns.sampling import (
    chances_by_spread,
    chances_of_random,
    draw,
    draw_sample,
    spread_of_texts,
)
from hits.exceptions import CannotBuildHITs
from hits.models import Campaign, Segment, SystemOutput, Translation
from tests.api.callers import caller
from tests.factories import make_campaign, make_translations, make_worker
from tests.people import client_of, make_person
from tests.scored_hits import reader, weighed_hit

pytestmark = pytest.mark.django_db
N_SEGMENTS = 60


def campaign_with(choice: str, **fields) -> Campaign:
    """Sixty segments in six documents, translated by two systems, whose texts differ more in later segments."""
    settings = {"sample_size": 40, "hit_size": 40, "min_ratings": 2, "seed": 3}
    campaign = make_campaign(sample_choice=choice, **settings | fields)
    make_translations(campaign, n_segments=N_SEGMENTS)
    for segment in campaign.segments.all():
        segment.document = f"document {(segment.position - 1) // 10}"
        segment.source = "Wort " * (1 + segment.position * 7 % 30)
        segment.save()
    for output in SystemOutput.objects.filter(system__campaign=campaign):
        position = output.segment.position
        words = f"the same {position} text " * 5
        own = " ".join(
            f"{n * 37 % 97}{output.system.name[-1] * 3}{n}" for n in range(position // 6)
        )
        Translation.objects.filter(pk=output.translation_id).update(text=words + own)
    return campaign


def redraw(campaign: Campaign, n: int) -> Counter:
    """Count how often each translation is drawn with n seeds."""
    drawn: Counter = Counter()
    for seed in range(n):
        campaign.seed = seed
        sample = draw_sample(campaign)
        assert len(sample.translations) == campaign.sample_size
        drawn.update(sample.translations)
    return drawn


def test_chances_follow_the_spread_within_bounds_and_add_up():
    chances = chances_by_spread(np.array([0.0, 1.0, 2.0, 5.0]), 2)
    assert_allclose(chances.sum(), 2)
    # Twice the mean spread would be 2.5 times as likely: certain. The others share the rest.
    assert_allclose(chances, [0.25 / 1.75, 0.5 / 1.75, 1 / 1.75, 1])
    assert_allclose(chances_by_spread(np.zeros(4), 2), 0.5)
    assert_allclose(chances_by_spread(np.array([1.0, 50, 90]), 3), 1)


def test_a_shared_translation_is_likelier_in_a_random_sample():
    translations = [0, 0, 0, *range(1, 60), 60, 60]
    chances = chances_of_random(translations, 20)
    assert_allclose(sum(chances.values()), 20)
    n = 3_000
    drawn = Counter(pk for seed in range(n) for pk in draw(translations, size=20, seed=seed))
    for pk in (0, 1, 60):
        error = np.sqrt(chances[pk] * (1 - chances[pk]) / n)
        assert abs(drawn[pk] / n - chances[pk]) < 4 * error
    assert chances_of_random(range(60), 20) == {} == chances_of_random(translations, 61)


def test_a_stratified_sample_has_every_length_document_and_system_alike():
    campaign = campaign_with("stratified")
    sample = draw_sample(campaign)
    assert len(sample.translations) == 40 and sample.chances == {}
    outputs = SystemOutput.objects.filter(translation__in=sample.translations)
    rows = list(outputs.values_list("system__name", "segment__document", "segment__source"))
    assert set(Counter(system for system, _, _ in rows).values()) == {20}
    # A third of the ten segments of each document, in each of two systems.
    documents = Counter(document for _, document, _ in rows)
    assert len(documents) == 6 and set(documents.values()) <= {5, 6, 7, 8}
    lengths = np.array([len(source) for _, _, source in rows])
    everything = [len(source) for source in Segment.objects.values_list("source", flat=True)]
    bands = np.searchsorted(np.quantile(everything, [1 / 3, 2 / 3]), lengths, side="left")
    assert min(Counter(bands.tolist()).values()) >= 10


def test_all_have_the_same_chance_in_a_stratified_sample():
    n = 400
    drawn = redraw(campaign_with("stratified"), n)
    assert len(drawn) == 120
    shares = np.array(list(drawn.values())) / n
    assert np.abs(shares - 1 / 3).max() < 4.5 * np.sqrt(2 / 9 / n)


def test_a_stratified_sample_is_more_even_than_a_random_one():
    spreads = {}
    for choice in ("random", "stratified"):
        campaign = campaign_with(choice)
        lengths = {
            translation.pk: len(translation.segment.source)
            for translation in Translation.objects.filter(
                segment__campaign=campaign
            ).select_related("segment")
        }
        means = []
        for seed in range(60):
            campaign.seed = seed
            means.append(np.mean([lengths[pk] for pk in draw_sample(campaign).translations]))
        spreads[choice] = np.std(means)
    assert spreads["stratified"] < 0.6 * spreads["random"]


def test_texts_differ_by_what_they_do_not_share():
    campaign = campaign_with("differing")
    spreads = spread_of_texts(campaign)
    in_order = [
        spreads[pk] for pk in campaign.segments.order_by("position").values_list("pk", flat=True)
    ]
    assert in_order[0] == 0 and in_order[59] > in_order[30] > in_order[12] > 0
    # By hand: "abcd" and "abce" share "abc" of two sequences each.
    campaign = make_campaign()
    make_translations(campaign, n_segments=1)
    for translation, text in zip(
        Translation.objects.filter(segment__campaign=campaign), ("abcd", "ABCe"), strict=True
    ):
        Translation.objects.filter(pk=translation.pk).update(text=text)
    assert list(spread_of_texts(campaign).values()) == [0.5]


def test_differing_translations_are_likelier_as_the_stored_chances_say():
    campaign = campaign_with("differing")
    build_hits(campaign=campaign)
    stored = load_chances(campaign)
    assert len(stored) == 40 and set(stored) == draw_sample(campaign).translations
    n = 400
    drawn = redraw(campaign, n)
    for pk, chance in stored.items():
        assert abs(drawn[pk] / n - chance) < 4.5 * np.sqrt(chance * (1 - chance) / n) + 1e-9
    positions = np.array([Translation.objects.get(pk=pk).segment.position for pk in drawn])
    assert np.average(positions, weights=list(drawn.values())) > 35 > positions.mean()


def test_rebuilding_replaces_the_chances_and_a_copy_keeps_the_choice():
    campaign = campaign_with("differing")
    build_hits(campaign=campaign)
    edit_campaign(campaign=campaign, actor=None, changes={"sample_choice": "random"})
    assert not campaign.hits.exists()
    summary = build_hits(campaign=campaign)
    assert load_chances(campaign) == {}
    assert "The HITs hold a random sample: 40 of 120 translations." in summary.notes
    edit_campaign(campaign=campaign, actor=None, changes={"sample_choice": "stratified"})
    summary = build_hits(campaign=campaign)
    assert any("spread evenly over lengths and documents" in note for note in summary.notes)
    copy = duplicate_campaign(campaign=campaign, name="Copy", actor=make_person("admin"))
    assert copy.sample_choice == "stratified"


def test_where_metrics_differ_needs_metrics():
    campaign = campaign_with("metrics")
    with pytest.raises(CannotBuildHITs, match="no metric with scores of segments yet"):
        build_hits(campaign=campaign)
    compute_metrics(campaign=campaign, names=["chrF"], levels=["segment"])
    build_hits(campaign=campaign)
    assert len(load_chances(campaign)) == 40


def test_metrics_differ_where_systems_do_or_where_they_contradict_each_other():
    campaign = make_campaign()
    make_translations(campaign, n_segments=3)
    # By the first metric, systems differ on segment 2 only; by the second, on segments 2 and 3, the other way round.
    for name, scores in {"A": [(0, 0), (0, 2), (1, 1)], "B": [(1, 1), (2, 0), (2, 0)]}.items():
        metric = campaign.metrics.create(name=name, level="segment", origin="uploaded", n_scores=6)
        for position, pair in enumerate(scores, start=1):
            for system, score in zip(("system-a", "system-b"), pair, strict=True):
                MetricScore.objects.create(
                    metric=metric,
                    system=system,
                    segment=f"segment-{position}",
                    position=position,
                    score=score,
                )
    spread = spread_of_metrics(campaign)
    first, second, third = (
        spread[segment.pk] for segment in campaign.segments.order_by("position")
    )
    a, b = np.var([0, 0, 0, 2, 1, 1]), np.var([1, 1, 2, 0, 2, 0])
    assert_allclose([first, second, third], [0, np.sqrt((1 / a + 1 / b) / 2), np.sqrt(1 / b / 2)])


def rated(choice: str) -> Campaign:
    campaign = campaign_with(choice, sample_size=80, hit_size=100)
    build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    for seed in (1, 2):
        weighed_hit(campaign, make_worker(), reader(seed))
    return campaign


def test_system_scores_count_each_translation_by_its_chance_and_the_signature_says_so():
    campaign = rated("differing")
    run = build_gold(campaign=campaign, minimum=1)
    chances = load_chances(campaign)
    for row in rank_systems(run).rows:
        scores = list(
            run.scores.filter(
                is_complete=True, translation__systems__name=row["system"]
            ).values_list("translation", "z")
        )
        z = [score for _, score in scores]
        weights = [1 / chances[pk] for pk, _ in scores]
        assert row["z_rated"] == pytest.approx(np.mean(z))
        assert row["z"] == pytest.approx(np.average(z, weights=weights))
    assert "sample:differing,80,weights=1/chance" in run.signature
    assert "sys:weighted-by-chance" in rank_systems(run).signature
    methods = " ".join(make_report(run).methods)
    assert "A sample of 80 translations was rated, drawn more often where" in methods
    assert "each of these is weighted by 1 / its chance of being drawn" in methods
    weighted = rank_systems(build_gold(campaign=campaign, minimum=1, method="weighted"))
    assert "weights=1/chance" in weighted.signature
    page = client_of("researcher").get(f"/campaigns/{campaign.code}/results/").content.decode()
    assert "z of rated" in page or "Weighted" in page


def test_a_metric_helps_with_chances_too():
    campaign = rated("differing")
    compute_metrics(campaign=campaign, names=["chrF"], levels=["segment"])
    run = build_gold(campaign=campaign, minimum=1, helper="chrF")
    assert "weights=1/chance" in run.signature and "helper:chrF" in run.signature
    assert run.helper["n_outputs"] == 120


def test_even_samples_leave_scores_as_they_are():
    run = build_gold(campaign=rated("stratified"), minimum=1)
    assert run.helper is None and "sample:stratified,80|" in run.signature
    assert "sys:mean-of-segments" in rank_systems(run).signature


def test_the_page_and_the_api_take_the_choice():
    campaign = campaign_with("random")
    api, path = caller("admin"), f"/campaigns/{campaign.code}/settings"
    assert api.get(path).json()["sample_choice"] == "random"
    assert api.send("patch", path, {"sample_choice": "differing"}).json()["sample_choice"] == (
        "differing"
    )
    assert api.send("patch", path, {"sample_choice": "best"}).status_code == 422
    # A setting that only rankings have.
    assert api.send("patch", path, {"output_choice": "random"}).status_code == 422
    page = client_of("admin").get(f"/campaigns/{campaign.code}/").content.decode()
    assert "40 translations are rated, drawn more often where" in page


def test_documents_and_later_rounds_are_drawn_at_random_only():
    campaign = campaign_with("stratified")
    campaign.presentation = Campaign.Presentation.DOCUMENT
    with pytest.raises(ValidationError, match="only be sampled at random"):
        campaign.full_clean()
    campaign.sample_choice = "random"
    campaign.full_clean()
    ranking = make_campaign(task="rank", hit_size=20, sample_choice="metrics")
    with pytest.raises(ValidationError, match="metrics cannot be used to choose"):
        ranking.full_clean()
