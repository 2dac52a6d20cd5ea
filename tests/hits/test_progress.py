"""The dashboard's numbers are the same as counted row by row."""

from collections import Counter
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.campaigns.progress import MAX_COLUMNS, count_assignments, pace, progress_of
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Campaign, Item, Participation, Rating
from hits.rating.assignments import release_expired, take_assignment
from hits.rating.joining import take_part
from hits.rating.places import forecast
from hits.workers.trust import weigh_pending
from tests.decisions import exclude, reinstate
from tests.factories import make_hits, make_worker, rate_items

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_campaign(shared_rows: None) -> Campaign:
    """A campaign with trusted, discarded and unproven work."""
    campaign = make_hits(n_segments=28, min_ratings=3, hit_size=40)
    crowd = {Behaviour.HONEST: 4, Behaviour.RANDOM: 2, Behaviour.CONSTANT: 1}
    simulate_workers(campaign=campaign, crowd=crowd, hits_per_worker=2, seed=5)
    weigh_pending()
    return campaign


@pytest.fixture
def campaign(shared_campaign: Campaign) -> Campaign:
    return Campaign.objects.get(pk=shared_campaign.pk)


def recounted(campaign: Campaign) -> Counter[str]:
    """Count the ratings of genuine items by their worker's state, one by one."""
    ratings = Rating.objects.filter(
        assignment__hit__campaign=campaign,
        assignment__status=Assignment.Status.SUBMITTED,
        item__role=Item.Role.GENUINE.value,
    ).select_related("assignment")
    states = {
        participation.worker_id: participation
        for participation in Participation.objects.filter(campaign=campaign)
    }
    counts: Counter[str] = Counter()
    for rating in ratings:
        worker = states[rating.assignment.worker_id]
        counts[
            "trusted" if worker.is_trusted else "discarded" if worker.is_discarded else "unproven"
        ] += 1
    return counts


def recounted_missing(campaign: Campaign) -> int:
    """Count the missing assignments, one HIT at a time."""
    discarded = set(
        Participation.objects.discarded().filter(campaign=campaign).values_list("worker", flat=True)
    )
    n_missing = 0
    for hit in campaign.hits.prefetch_related("assignments"):
        held = [
            assignment
            for assignment in hit.assignments.all()
            if assignment.status in ("in_progress", "submitted")
            and assignment.worker_id not in discarded
        ]
        n_missing += max(0, campaign.min_ratings - len(held))
        assert hit.places_left == max(0, campaign.min_ratings - len(held))
    return n_missing


def assert_matches(campaign: Campaign) -> None:
    progress, ratings = progress_of(campaign), recounted(campaign)
    counts = progress.counts
    for name in ("trusted", "discarded"):
        assert progress.ratings[name] == ratings[name], name
    assert progress.ratings["unproven"] + progress.ratings["stalled"] == ratings["unproven"]
    assert counts.n_missing == recounted_missing(campaign)
    assignments = Assignment.objects.filter(hit__campaign=campaign)
    assert counts.n_in_progress == assignments.in_progress().count()
    assert counts.n_expired == assignments.expired().count()
    assert sum(counts.hit_states.values()) == counts.n_hits == campaign.hits.count()
    assert sum(counts.hits_by_trusted.values()) == counts.n_hits
    assert progress.n_workers == campaign.participations.count()
    assert sum(column.n for column in progress.pace) == assignments.submitted().count()
    assert forecast(campaign).n_missing == counts.n_missing


def test_in_a_new_campaign_everything_is_missing():
    campaign = make_hits(min_ratings=2)
    progress = progress_of(campaign)
    counts = progress.counts
    assert (counts.n_missing, counts.n_wanted, counts.share_done) == (2, 2, 0)
    assert counts.hit_states["untouched"] == 1 and progress.pace == []
    assert progress.ratings["missing"] == 2 * 28


def test_the_numbers_are_right_after_a_simulation(campaign):
    counts = count_assignments(campaign)
    assert counts.n_trusted and counts.n_discarded
    assert_matches(campaign)


def test_the_numbers_are_right_after_an_exclusion_and_a_reinstatement(campaign):
    admin = User.objects.create_user("admin")
    trusted = Participation.objects.trusted().filter(campaign=campaign)
    before = count_assignments(campaign)
    exclude(participation=trusted.first(), actor=admin, reason="sold the account")
    assert count_assignments(campaign).n_trusted < before.n_trusted
    assert_matches(campaign)
    discarded = Participation.objects.filter(trust=Participation.Trust.UNRELIABLE)
    reinstate(participation=discarded.first(), actor=admin, reason="was misled")
    assert_matches(campaign)


def test_the_numbers_are_right_while_a_hit_is_in_progress_and_after_its_lease(campaign):
    exclude(
        participation=Participation.objects.trusted().filter(campaign=campaign).first(),
        actor=User.objects.create_user("admin"),
        reason="opens places again",
    )
    bob = make_worker()
    take_part(campaign=campaign, worker=bob)
    assignment = take_assignment(campaign=campaign, worker=bob)
    assert assignment is not None
    rate_items(assignment, n_items=5)
    assert count_assignments(campaign).n_in_progress == 1
    assert_matches(campaign)
    release_expired(at=timezone.now() + timedelta(days=1))
    counts = count_assignments(campaign)
    assert (counts.n_in_progress, counts.n_expired) == (0, 1)
    assert_matches(campaign)


def test_queries_do_not_grow_with_workers(campaign):
    def n_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            progress_of(campaign)
        assert not any("hits_rating" in query["sql"] for query in queries)
        return len(queries)

    before = n_queries()
    Campaign.objects.filter(pk=campaign.pk).update(min_ratings=20)
    campaign.refresh_from_db()
    for _ in range(3):
        take_part(campaign=campaign, worker=make_worker())
    assert n_queries() == before == 8


@pytest.mark.parametrize("days", [0, 1, 5, 40, 400, 4000])
def test_the_pace_fits_into_the_chart_at_any_age_of_the_campaign(campaign, days):
    first = Assignment.objects.submitted().earliest("submitted_at").submitted_at
    now = first + timedelta(days=days, minutes=7)
    columns = pace(campaign, now)
    assert 1 <= len(columns) <= MAX_COLUMNS
    assert columns[-1].start <= now < columns[-1].end
    assert all(a.end == b.start for a, b in zip(columns, columns[1:], strict=False))
