from collections import Counter

import pytest
from django.db import IntegrityError, transaction

from analysis.stats.roles import Role
from hits.campaigns.building import build_hits
from hits.campaigns.editing import edit_campaign
from hits.campaigns.lifecycle import change_status
from hits.exceptions import CannotBuildHITs
from hits.models import HIT, Campaign, Item
from hits.rating.assignments import take_assignment
from tests.factories import make_campaign, make_hits, make_translations, make_worker

pytestmark = pytest.mark.django_db


def test_hits_are_built_with_the_texts_of_their_roles():
    campaign = make_campaign()
    make_translations(campaign, n_segments=20)
    summary = build_hits(campaign=campaign)
    assert (summary.n_hits, summary.n_items, summary.hit_size) == (2, 80, 40)
    items = Item.objects.select_related("translation__segment", "partner", "hit")
    assert Counter(item.role for item in items) == {0: 56, 1: 8, 2: 8, 3: 8}
    for item in items:
        expected = {
            Role.GENUINE: item.translation.text,
            Role.REPEAT: item.translation.text,
            Role.REFERENCE: item.translation.segment.reference,
        }.get(item.role)
        if item.role == Role.BAD_REFERENCE:
            assert item.text != item.translation.text
            assert len(item.text.split()) == len(item.translation.text.split())
        else:
            assert item.text == expected
        if item.partner:
            assert item.partner.role == Role.GENUINE
            assert item.partner.hit == item.hit
            assert item.partner.translation == item.translation


def contents(campaign: Campaign) -> list[tuple]:
    return list(
        Item.objects.filter(hit__campaign=campaign)
        .order_by("hit__number", "position")
        .values_list(
            "hit__number", "position", "role", "text", "partner__position", "translation__text"
        )
    )


def test_the_same_seed_gives_the_same_hits_to_the_byte_and_new_public_codes():
    campaign = make_campaign()
    make_translations(campaign, n_segments=20)
    build_hits(campaign=campaign)
    first, codes = contents(campaign), set(Item.objects.values_list("code", flat=True))
    build_hits(campaign=campaign, rebuild=True)
    assert contents(campaign) == first
    assert codes.isdisjoint(Item.objects.values_list("code", flat=True))
    Campaign.objects.filter(pk=campaign.pk).update(seed=8)
    campaign.refresh_from_db()
    build_hits(campaign=campaign, rebuild=True)
    assert contents(campaign) != first


@pytest.mark.parametrize("task", [Campaign.Task.SOURCE_ADEQUACY, Campaign.Task.FLUENCY])
def test_tasks_without_references_have_eight_genuine_items_in_a_set(task):
    campaign = make_campaign(task=task)
    make_translations(campaign, n_segments=16)
    campaign.segments.update(reference="")
    build_hits(campaign=campaign)
    roles = Counter(Item.objects.values_list("role", flat=True))
    assert roles == {Role.GENUINE: 32, Role.BAD_REFERENCE: 4, Role.REPEAT: 4}


def test_too_few_translations_make_smaller_hits_and_a_note():
    campaign = make_campaign(hit_size=100)
    make_translations(campaign, n_segments=20)
    summary = build_hits(campaign=campaign)
    assert summary.hit_size == 40
    assert summary.notes[0] == (
        "40 translations do not fill a HIT of 100 items: the HITs have 40 items."
    )
    assert summary.notes[-1] == "16 translations are in two HITs, to fill up the last HIT."


def test_far_too_few_translations_are_an_error_and_nothing_is_stored():
    campaign = make_campaign()
    make_translations(campaign, n_segments=13)
    with pytest.raises(CannotBuildHITs, match="needs 28 different translations; there are 26"):
        build_hits(campaign=campaign)
    assert not HIT.objects.exists()


def test_texts_that_cannot_be_degraded_stop_the_build_and_nothing_is_stored():
    campaign = make_campaign()
    for translation in make_translations(campaign):
        translation.text = ""
        translation.save(update_fields=["text"])
    with pytest.raises(CannotBuildHITs, match="can be degraded"):
        build_hits(campaign=campaign)
    assert not HIT.objects.exists()


def test_hits_are_built_with_the_current_settings_even_from_a_stale_campaign():
    campaign = make_campaign(hit_size=60, seed=7, min_ratings=2)
    make_translations(campaign, n_segments=28)
    stale = Campaign.objects.get(pk=campaign.pk)
    changes = {"hit_size": 40, "seed": 8, "min_ratings": 5}
    edit_campaign(campaign=campaign, actor=None, changes=changes)
    assert build_hits(campaign=stale).hit_size == 40
    assert [hit.places_left for hit in campaign.hits.all()] == [5, 5]
    built = contents(campaign)
    build_hits(campaign=campaign, rebuild=True)
    assert contents(campaign) == built


def test_hits_are_not_built_twice_unless_asked():
    campaign = make_hits()
    with pytest.raises(CannotBuildHITs, match="--rebuild"):
        build_hits(campaign=campaign)


def test_an_open_campaign_is_not_rebuilt():
    with pytest.raises(CannotBuildHITs, match="Pause it"):
        build_hits(campaign=make_hits(), rebuild=True)


def test_hits_that_were_taken_are_not_rebuilt():
    campaign = make_hits()
    take_assignment(campaign=campaign, worker=make_worker())
    change_status(campaign=campaign, to=Campaign.Status.PAUSED)
    with pytest.raises(CannotBuildHITs, match="taken"):
        build_hits(campaign=campaign, rebuild=True)


def test_queries_grow_with_batches_not_with_items(django_assert_max_num_queries):
    campaign = make_campaign()
    make_translations(campaign, n_segments=70)
    with django_assert_max_num_queries(16):
        build_hits(campaign=campaign)


def test_the_database_refuses_a_genuine_item_with_a_partner_and_a_second_partner():
    make_hits()
    qc = Item.objects.filter(partner__isnull=False).first()
    free = Item.objects.filter(role=Role.GENUINE, qc_items=None).first()
    for change in [
        {"role": Role.GENUINE},
        {"partner": None},
        {"partner": qc.pk},
        {"position": 0},
        {"role": 9},
    ]:
        with pytest.raises(IntegrityError), transaction.atomic():
            Item.objects.filter(pk=qc.pk).update(**change)
    other = Item.objects.filter(partner__isnull=False).exclude(pk=qc.pk).first()
    with pytest.raises(IntegrityError), transaction.atomic():
        Item.objects.filter(pk=other.pk).update(partner=qc.partner)
    Item.objects.filter(pk=qc.pk).update(partner=free)


def test_a_note_warns_of_hits_too_small_to_judge_a_worker():
    small, single = make_campaign(), make_campaign()
    make_translations(small, n_segments=28)
    make_translations(single)
    assert "workers who do a single HIT stay unproven" in build_hits(campaign=small).notes[0]
    assert "decide about workers yourself" in build_hits(campaign=single).notes[0]
