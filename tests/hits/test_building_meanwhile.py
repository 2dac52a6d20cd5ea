"""HITs are planned before the campaign is locked: what happens to the campaign meanwhile."""

from collections.abc import Callable

import pytest

from hits.campaigns.building import build_hits
from hits.campaigns.editing import edit_campaign
from hits.campaigns.lifecycle import change_status
from hits.exceptions import CannotBuildHITs
from hits.models import HIT, AuditEntry, Campaign, Item
from hits.rating.assignments import take_assignment
from tests.factories import make_campaign, make_translations, make_worker

pytestmark = pytest.mark.django_db


def make_draft(**fields: object) -> Campaign:
    campaign = make_campaign(is_open=False, **fields)
    make_translations(campaign, n_segments=28)
    return campaign


def once(act: Callable[[], object]) -> Callable[[int], None]:
    """Return a progress function that acts when the first HIT is planned."""
    pending = [act]

    def progress(n_items: int) -> None:
        if pending:
            pending.pop()()

    return progress


def pks(campaign: Campaign) -> list[int]:
    return list(campaign.hits.order_by("pk").values_list("pk", flat=True))


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 8},
        {"hit_size": 60},
        {"degradation": "balanced"},
        {"shows_gray_references": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_changed_settings_refuse_the_build_and_nothing_is_stored(changes):
    campaign = make_draft()
    change = once(lambda: edit_campaign(campaign=campaign, actor=None, changes=changes))
    with pytest.raises(CannotBuildHITs) as refusal:
        build_hits(campaign=Campaign.objects.get(), progress=change)
    assert str(refusal.value) == (
        f"{campaign.name} was changed while its HITs were being built. Build them again."
    )
    assert not HIT.objects.exists() and not Item.objects.exists()
    assert not AuditEntry.objects.filter(action="HITs built").exists()
    assert build_hits(campaign=campaign).n_hits == campaign.hits.count() > 0


def test_a_refused_rebuild_keeps_the_hits():
    campaign = make_draft()
    build_hits(campaign=campaign)
    before = pks(campaign)
    change = once(lambda: Campaign.objects.update(seed=8))
    with pytest.raises(CannotBuildHITs, match="was changed"):
        build_hits(campaign=campaign, rebuild=True, progress=change)
    assert pks(campaign) == before


def test_other_settings_may_change_and_the_hits_follow_them():
    campaign = make_draft(min_ratings=2)
    changes = {"min_ratings": 5, "name": "Renamed", "trust_rule": "guarded"}
    change = once(lambda: edit_campaign(campaign=campaign, actor=None, changes=changes))
    assert build_hits(campaign=Campaign.objects.get(), progress=change).n_hits == 2
    assert [hit.places_left for hit in campaign.hits.all()] == [5, 5]


def test_of_two_builds_at_once_the_later_is_refused():
    campaign = make_draft()
    with pytest.raises(CannotBuildHITs, match="already has HITs"):
        build_hits(campaign=campaign, progress=once(lambda: build_hits(campaign=campaign)))
    assert campaign.hits.count() == 2 and Item.objects.count() == 80
    assert AuditEntry.objects.filter(action="HITs built").count() == 1


def test_two_rebuilds_at_once_leave_one_set_of_hits():
    campaign = make_draft()
    build_hits(campaign=campaign)
    rebuild = once(lambda: build_hits(campaign=campaign, rebuild=True))
    build_hits(campaign=campaign, rebuild=True, progress=rebuild)
    numbers = list(campaign.hits.order_by("number").values_list("number", flat=True))
    assert numbers == [1, 2] and Item.objects.count() == 80


def test_a_campaign_that_is_opened_meanwhile_is_not_rebuilt():
    campaign = make_draft()
    build_hits(campaign=campaign)
    before = pks(campaign)
    opening = once(lambda: change_status(campaign=campaign, to=Campaign.Status.OPEN))
    with pytest.raises(CannotBuildHITs, match="is open"):
        build_hits(campaign=Campaign.objects.get(), rebuild=True, progress=opening)
    assert pks(campaign) == before


def test_hits_that_are_taken_meanwhile_are_not_rebuilt():
    campaign = make_draft()
    build_hits(campaign=campaign)

    def take_and_pause() -> None:
        change_status(campaign=campaign, to=Campaign.Status.OPEN)
        take_assignment(campaign=campaign, worker=make_worker())
        change_status(campaign=campaign, to=Campaign.Status.PAUSED)

    before = pks(campaign)
    with pytest.raises(CannotBuildHITs, match="already taken"):
        build_hits(campaign=Campaign.objects.get(), rebuild=True, progress=once(take_and_pause))
    assert pks(campaign) == before
