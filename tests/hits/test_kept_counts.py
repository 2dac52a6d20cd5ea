"""Large campaigns show stored counts; small ones are counted on every page."""

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
    """Stop the clock, so that stored counts do not get too old during a test."""
    with time_machine.travel(NOW, tick=False):
        yield


def submit_one(campaign: Campaign) -> None:
    assignment = take_assignment(campaign=campaign, worker=make_worker())
    rate_items(assignment)
    submit_assignment(assignment=assignment)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A large campaign with one submitted HIT when it was counted."""
    campaign = make_hits(min_ratings=5)
    monkeypatch.setattr(kept_counts, "LARGE", 5)
    submit_one(campaign)
    assert keep_counts(at=NOW) == 1
    return Campaign.objects.get(pk=campaign.pk)


def n_submitted(campaign: Campaign, at: Any) -> int:
    counts = overview_of(campaign, at=at).progress.counts
    return counts.n_unproven + counts.n_stalled + counts.n_trusted


def test_the_counts_of_a_small_campaign_are_not_stored():
    campaign = make_hits(min_ratings=5)
    assert do_chores().n_counted == 0
    submit_one(campaign)
    assert n_submitted(campaign, timezone.now()) == 1
    assert not KeptCounts.objects.exists()


def test_stored_counts_are_the_same_as_fresh_ones(large: Campaign):
    stored = overview_of(large, at=NOW)
    KeptCounts.objects.all().delete()
    assert stored == overview_of(large, at=NOW)
    assert stored.forecast.at == NOW


def test_a_dashboard_shows_stored_counts(large: Campaign):
    submit_one(large)
    assert n_submitted(large, NOW + A_MINUTE) == 1
    assert campaign_statuses([large])[0].n_submitted == 1
    # The status of a single campaign is always counted.
    assert campaign_status(large).n_submitted == 2


def test_chores_count_again_after_a_page_was_viewed(large: Campaign):
    submit_one(large)
    assert keep_counts(at=NOW + A_MINUTE) == 0
    overview_of(large, at=NOW + A_MINUTE)
    assert keep_counts(at=NOW + A_MINUTE) == 1
    assert n_submitted(large, NOW + A_MINUTE) == 2
    assert keep_counts(at=NOW + A_MINUTE) == 0


def test_without_views_chores_count_every_quarter_of_an_hour(large: Campaign):
    assert keep_counts(at=NOW + timedelta(minutes=14)) == 0
    assert keep_counts(at=NOW + timedelta(minutes=16)) == 1


def test_without_chores_the_page_counts(large: Campaign):
    submit_one(large)
    assert n_submitted(large, NOW + TOO_OLD + A_MINUTE) == 2
    assert campaign_statuses([large])[0].n_submitted == 2


def test_a_campaign_is_large_by_the_assignments_it_needs(monkeypatch: pytest.MonkeyPatch):
    campaign = make_hits(min_ratings=5)
    monkeypatch.setattr(kept_counts, "LARGE", 6)
    assert keep_counts() == 0
    Campaign.objects.filter(pk=campaign.pk).update(min_ratings=6)
    assert keep_counts() == 1


def test_the_pages_say_when_the_counts_were_made(large: Campaign):
    client = Client()
    client.force_login(make_person("superuser"))
    assert "assignments trusted, counted " in client.get("/").content.decode()
    page = client.get(f"/campaigns/{large.code}/").content.decode()
    assert f"as of {NOW:%H:%M:%S} UTC" in page
