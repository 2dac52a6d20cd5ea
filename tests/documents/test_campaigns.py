"""Campaigns in documents: built, refused, simulated, weighed, scored."""

import pytest
from django.core.exceptions import ValidationError

from analysis.stats.roles import Role
from hits.campaigns.behaviours import Behaviour
from hits.campaigns.building import build_hits
from hits.models import Campaign, DocumentRating, Item, Participation, Rating
from tests.factories import make_campaign, make_translations
from tests.simulated_crowds import collect

from .campaigns import document_campaign

pytestmark = pytest.mark.django_db


def test_the_same_seed_builds_the_same_hits():
    one, other = (document_campaign(name=name) for name in "ab")
    fields = ("position", "run", "role", "text")
    assert list(Item.objects.filter(hit__campaign=one).values_list(*fields)) == list(
        Item.objects.filter(hit__campaign=other).values_list(*fields)
    )


def test_texts_without_documents_are_shown_alone_and_a_note_says_so():
    campaign = make_campaign(presentation="document")
    make_translations(campaign, n_segments=20)
    summary = build_hits(campaign=campaign)
    assert any("which document" in note for note in summary.notes)
    runs = Item.objects.values_list("hit", "run")
    assert len(set(runs)) == len(runs)


def test_a_sample_takes_whole_runs():
    campaign = document_campaign(n_segments=60, sample_size=40)
    genuine = Item.objects.filter(hit__campaign=campaign, role=Role.GENUINE.value)
    assert genuine.values("translation").distinct().count() == 40


@pytest.mark.parametrize("task", ["rank", "edit"])
def test_only_ratings_are_given_in_documents(task):
    campaign = Campaign(name="x", source_language="de", target_language="en", task=task)
    campaign.hit_size = 3 if task == "rank" else 20
    campaign.presentation = "document"
    with pytest.raises(ValidationError, match="Only ratings"):
        campaign.full_clean()


def test_a_whole_is_scored_only_in_documents():
    campaign = Campaign(name="x", source_language="de", target_language="en", scores_documents=True)
    with pytest.raises(ValidationError, match="presentation in documents"):
        campaign.full_clean()


def test_a_simulated_crowd_is_told_apart_and_scores_documents():
    campaign = document_campaign(
        n_segments=100, hit_size=100, scores_documents=True, trust_rule="guarded", min_ratings=3
    )
    collect(campaign, {Behaviour.HONEST: 4, Behaviour.RANDOM: 2}, seed=4)
    trust = Participation.objects.values_list("worker__external_id", "trust")
    honest = [verdict for name, verdict in trust if name.startswith("honest")]
    careless = [verdict for name, verdict in trust if name.startswith("random")]
    assert honest == ["reliable"] * 4 and "reliable" not in careless
    assert Rating.objects.count() == 600
    assert DocumentRating.objects.count() > 6 * 5
