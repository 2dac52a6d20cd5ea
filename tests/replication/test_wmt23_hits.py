"""WMT23 English to German in its documents, and side by side: what holds for HITs of made-up campaigns holds for these."""

from collections import defaultdict
from itertools import groupby
from typing import Any

import pytest

from analysis.stats.roles import Role
from hits.campaigns.building import build_hits
from hits.campaigns.importing import import_campaign
from hits.hit_sizes import items_between
from hits.models import Campaign, Item, Segment, SystemOutput, Translation

from .locating import replication_data

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.xdist_group("wmt23 hits")]

SIZE = 100


def built(**settings: Any) -> Campaign:
    campaign = import_campaign(
        path=replication_data("wmt23-mtme", "wmt23"),
        name=f"wmt23 {settings['presentation']}",
        source_language="en",
        target_language="de",
        clean=True,
        degradation=Campaign.Degradation.PUBLISHED,
        hit_size=SIZE,
        seed=23,
        **settings,
    ).campaign
    build_hits(campaign=campaign)
    return campaign


def hits_of(campaign: Campaign) -> list[list[Item]]:
    items = Item.objects.filter(hit__campaign=campaign).select_related("translation", "partner")
    return [
        list(own) for _, own in groupby(items.order_by("hit", "position"), lambda item: item.hit_id)
    ]


def check_partners(hits: list[list[Item]]) -> None:
    for hit in hits:
        assert [item.position for item in hit] == list(range(1, SIZE + 1))
        hidden = [item for item in hit if item.partner]
        assert {item.role != Role.GENUINE for item in hidden} == {True}
        assert all(item.role == Role.GENUINE for item in hit if not item.partner)
        for item in hidden:
            assert item.partner.translation_id == item.translation_id
            assert abs(item.position - item.partner.position) > items_between(SIZE)
            is_degraded = item.role == Role.BAD_REFERENCE
            assert (item.text != item.partner.text) == is_degraded
        genuine = [item.translation_id for item in hit if item.role == Role.GENUINE]
        assert len(set(genuine)) == len(genuine)


def check_all_are_rated(campaign: Campaign, hits: list[list[Item]]) -> None:
    rated = {item.translation_id for hit in hits for item in hit if item.role == Role.GENUINE}
    wanted = Translation.objects.filter(segment__campaign=campaign).values_list("pk", flat=True)
    assert rated == set(wanted)


def test_documents() -> None:
    campaign = built(presentation="document")
    hits = hits_of(campaign)
    check_partners(hits)
    check_all_are_rated(campaign, hits)
    segments = {segment.pk: segment for segment in Segment.objects.filter(campaign=campaign)}
    assert len({segment.document for segment in segments.values()}) > 50
    systems = defaultdict(set)
    outputs = SystemOutput.objects.filter(system__campaign=campaign)
    for translation, system in outputs.values_list("translation", "system"):
        systems[translation].add(system)
    for hit in hits:
        # Some texts are too short to be degraded.
        assert sum(item.role == Role.BAD_REFERENCE for item in hit) >= SIZE // 10 - 2
        for _, run in groupby(hit, lambda item: item.run):
            items = list(run)
            shown = [segments[item.translation.segment_id] for item in items]
            # Consecutive segments of one document by one system, at most ten.
            assert len({segment.document for segment in shown}) == 1
            start = shown[0].position
            assert [segment.position for segment in shown] == list(range(start, start + len(shown)))
            assert set.intersection(*(systems[item.translation_id] for item in items))
            assert len(items) <= campaign.run_length


def test_side_by_side() -> None:
    campaign = built(presentation="side", outputs_per_screen=4)
    hits = hits_of(campaign)
    check_partners(hits)
    check_all_are_rated(campaign, hits)
    for hit in hits:
        assert sum(item.role == Role.BAD_REFERENCE for item in hit) >= 7
        for _, screen in groupby(hit, lambda item: item.screen):
            items = list(screen)
            assert len({item.translation.segment_id for item in items}) == 1
            assert len({item.text for item in items}) == len(items) <= 4
            assert sum(item.role == Role.BAD_REFERENCE for item in items) <= 1
