"""Large campaigns show what was counted lately; small ones are counted on the spot."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from hits.campaigns import kept_counts
from hits.campaigns.kept_counts import TOO_OLD, keep_counts, overview_of
from hits.campaigns.statuses import campaign_status, campaign_statuses
from hits.chores import do_chores
from hits.models import Campaign, KeptCounts
from hits.rating.assignments import submit_assignment, take_assignment
from tests.factories import make_hits, make_worker, rate_items
from tests.people import make_person

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)
A_MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def now() -> Iterator[None]:
    """However long other tests take: what is too old to be shown is so by this clock."""
    with time_machine.travel(NOW, tick=False):
        yield


def hand_one_in(campaign: Campaign) -> None:
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    rate_items(assignment)
    submit_assignment(assignment=assignment)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign that counts as large, with one HIT handed in when it was counted."""
    campaign = make_hits(min_ratings=5)
    monkeypatch.setattr(kept_counts, "LARGE", 5)
    hand_one_in(campaign)
    assert keep_counts(at=NOW) == 1
    return Campaign.objects.get(pk=campaign.pk)


def n_submitted(campaign: Campaign, at: Any) -> int:
    counts = overview_of(campaign, at=at).progress.counts
    return counts.n_unproven + counts.n_stalled + counts.n_trusted


def test_a_small_campaign_is_not_kept_and_always_up_to_date():
    campaign = make_hits(min_ratings=5)
    assert do_chores().n_counted == 0
    hand_one_in(campaign)
    assert n_submitted(campaign, timezone.now()) == 1
    assert not KeptCounts.objects.exists()


def test_what_is_kept_is_what_was_counted(large: Campaign):
    kept = overview_of(large, at=NOW)
    KeptCounts.objects.all().delete()
    assert kept == overview_of(large, at=NOW)
    assert kept.forecast.at == NOW


def test_a_dashboard_shows_what_is_kept(large: Campaign):
    hand_one_in(large)
    assert n_submitted(large, NOW + A_MINUTE) == 1
    assert campaign_statuses([large])[0].n_submitted == 1
    # One that is asked for by itself is counted.
    assert campaign_status(large).n_submitted == 2


def test_chores_count_again_while_somebody_looks(large: Campaign):
    hand_one_in(large)
    assert keep_counts(at=NOW + A_MINUTE) == 0
    overview_of(large, at=NOW + A_MINUTE)
    assert keep_counts(at=NOW + A_MINUTE) == 1
    assert n_submitted(large, NOW + A_MINUTE) == 2
    assert keep_counts(at=NOW + A_MINUTE) == 0


def test_chores_count_now_and_then_while_nobody_looks(large: Campaign):
    assert keep_counts(at=NOW + timedelta(minutes=14)) == 0
    assert keep_counts(at=NOW + timedelta(minutes=16)) == 1


def test_without_chores_whoever_looks_counts(large: Campaign):
    hand_one_in(large)
    assert n_submitted(large, NOW + TOO_OLD + A_MINUTE) == 2
    assert campaign_statuses([large])[0].n_submitted == 2


def test_a_campaign_is_large_by_the_assignments_it_wants(monkeypatch: pytest.MonkeyPatch):
    campaign = make_hits(min_ratings=5)
    monkeypatch.setattr(kept_counts, "LARGE", 6)
    assert keep_counts() == 0
    Campaign.objects.filter(pk=campaign.pk).update(min_ratings=6)
    assert keep_counts() == 1


def test_the_pages_say_when_it_was_counted(large: Campaign):
    client = Client()
    client.force_login(make_person("superuser"))
    assert "places, counted " in client.get("/").content.decode()
    page = client.get(f"/campaigns/{large.code}/").content.decode()
    assert f"as of {NOW:%H:%M:%S} UTC" in page
