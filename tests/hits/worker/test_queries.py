"""The number of queries on a worker's page is small and constant."""

import pytest

from hits.models import Assignment, Item
from hits.rating.assignments import take_assignment
from hits.rating.joining import take_part
from tests.factories import make_hits, make_worker, rate_items
from tests.hits.worker.steps import JSON, enter, page, take

pytestmark = pytest.mark.django_db


@pytest.fixture
def full_assignment(client) -> Assignment:
    """An assignment of 100 items."""
    campaign = make_hits(n_segments=35, hit_size=100, min_ratings=3)
    enter(client, campaign)
    return take(client, campaign)


@pytest.mark.parametrize("position", [1, 50, 99, 100])
def test_a_rating_takes_two_queries_at_every_item(
    client, full_assignment, position, django_assert_num_queries
):
    rate_items(full_assignment, n_items=position - 1)
    sent = {"position": position, "score": 50, "elapsed_ms": 5, "active_ms": 5}
    sent["item"] = Item.objects.get(hit=full_assignment.hit, position=position).code
    with django_assert_num_queries(2):
        answer = client.post(page("rate", full_assignment.code), sent, headers=JSON)
    assert answer.json()["saved"] == position


@pytest.mark.parametrize("n_rated", [0, 50, 99])
def test_the_rating_page_takes_three_queries_at_every_item(
    client, full_assignment, n_rated, django_assert_num_queries
):
    rate_items(full_assignment, n_items=n_rated)
    with django_assert_num_queries(3):
        client.get(page("rate", full_assignment.code))


@pytest.mark.parametrize("n_others", [0, 5])
def test_the_landing_page_takes_four_queries_for_any_number_of_workers(
    client, n_others, django_assert_num_queries
):
    campaign = make_hits(min_ratings=9)
    for _ in range(n_others):
        worker = make_worker()
        take_part(campaign=campaign, worker=worker)
        take_assignment(campaign=campaign, worker=worker)
    enter(client, campaign)
    with django_assert_num_queries(4):
        client.get(campaign.get_absolute_url())
