"""A worker's page costs the same few queries, however much there is."""

import pytest

from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.models import Assignment, Campaign, Item
from hits.rating.assignments import take_assignment
from hits.rating.joining import take_part
from tests.factories import make_campaign, make_hits, make_translations, make_worker, rate_items
from tests.hits.worker.steps import JSON, enter, page, take

pytestmark = pytest.mark.django_db


@pytest.fixture
def full_assignment(client) -> Assignment:
    """A HIT of 100 items in hand."""
    campaign = make_campaign(hit_size=100, min_ratings=3)
    make_translations(campaign, n_segments=35)
    build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    enter(client, campaign)
    return take(client, campaign)


RATING_QUERIES = 2


@pytest.mark.parametrize("position", [1, 50, 99, 100])
def test_a_rating_costs_the_same_few_queries_at_every_item(
    client, full_assignment, position, django_assert_num_queries
):
    rate_items(full_assignment, n_items=position - 1)
    sent = {"position": position, "score": 50, "elapsed_ms": 5, "active_ms": 5}
    sent["item"] = Item.objects.get(hit=full_assignment.hit, position=position).code
    with django_assert_num_queries(RATING_QUERIES):
        answer = client.post(page("rate", full_assignment.code), sent, headers=JSON)
    assert answer.json()["saved"] == position


@pytest.mark.parametrize("n_rated", [0, 50, 99])
def test_the_rating_page_costs_the_same_few_queries_at_every_item(
    client, full_assignment, n_rated, django_assert_num_queries
):
    rate_items(full_assignment, n_items=n_rated)
    with django_assert_num_queries(3):
        client.get(page("rate", full_assignment.code))


@pytest.mark.parametrize("n_others", [0, 5])
def test_the_landing_page_costs_the_same_few_queries_however_many_came_before(
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
