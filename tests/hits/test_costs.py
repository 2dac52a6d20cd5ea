"""What a campaign will cost, by hand."""

from decimal import Decimal

import pytest
from django.urls import reverse

from hits.campaigns.costs import Cost, count_hits
from tests.factories import make_campaign, make_hits, make_translations
from tests.people import client_of


def cost(**fields) -> Cost:
    numbers = {
        "n_hits": 5,
        "n_translations": 336,
        "ratings": 15,
        "pay": Decimal("2.00"),
        "fee_percent": Decimal(33),
        "pass_percent": 50,
    }
    return Cost(**numbers | fields)


def test_five_hits_by_hand():
    # 5 x 15 = 75 trusted, 150 at one in two; 300 to workers, 99 of fees; 399 / 336 = 1.1875.
    found = cost()
    assert (found.n_trusted, found.n_assignments) == (75, 150)
    assert (found.to_workers, found.fee, found.total) == (300, 99, 399)
    assert found.per_translation == Decimal("1.19")


@pytest.mark.parametrize(("percent", "n"), [(100, 75), (99, 76), (35, 215), (5, 1500)])
def test_a_part_of_an_assignment_is_a_whole_one(percent, n):
    assert cost(pass_percent=percent).n_assignments == n


def test_nothing_costs_nothing():
    assert cost(n_hits=0, n_translations=0).total == cost(n_translations=0).per_translation == 0


@pytest.mark.django_db
def test_hits_are_counted_before_they_are_built_as_after():
    campaign = make_campaign()
    make_translations(campaign, n_segments=30)
    assert count_hits(campaign) == (3, 60)
    assert count_hits(make_hits(n_segments=30)) == (3, 60)
    assert count_hits(make_campaign()) == (0, 0)


@pytest.mark.django_db
def test_the_page_calculates_with_what_the_form_says_or_else_the_campaign():
    campaign = make_hits(pay_per_hit="1.00", min_ratings=10)
    client, url = client_of("admin"), reverse("campaign_cost", args=[campaign.code])
    assert '<span data-out="total">26.60</span>' in client.get(url).content.decode()
    asked = {"pay": "3", "fee": "0", "passing": "100", "ratings": "5"}
    assert '<span data-out="total">15.00</span>' in client.get(url, asked).content.decode()
    page = client.get(url, asked | {"passing": "0", "ratings": "NaN"}).content.decode()
    assert "were not valid" in page and '<span data-out="total">60.00</span>' in page
