"""Campaigns over the API: listed page by page, and how far they are."""

import pytest

from hits.campaigns import kept_counts
from hits.campaigns.statuses import campaign_statuses
from hits.models import KeptCounts
from tests.api.callers import caller
from tests.factories import make_campaign, make_hits

pytestmark = pytest.mark.django_db


def test_only_the_campaigns_of_the_page_are_counted(monkeypatch):
    names = [make_campaign().name for _ in range(3)]
    counted = []

    def spying(campaigns):
        counted.extend(one.name for one in campaigns)
        return campaign_statuses(campaigns)

    monkeypatch.setattr("hits.api.campaigns.campaign_statuses", spying)
    page = caller("researcher").get("/campaigns", limit=1, offset=1).json()
    assert page["count"] == 3 and [one["name"] for one in page["items"]] == counted == [names[1]]


def test_forecast_and_cost_are_the_kept_ones_as_on_the_page(monkeypatch):
    monkeypatch.setattr(kept_counts, "LARGE", 1)
    campaign = make_hits()
    kept_counts.keep_counts()
    kept = KeptCounts.objects.get()
    KeptCounts.objects.update(
        overview=kept.overview | {"forecast": kept.overview["forecast"] | {"n_missing": 77}}
    )
    admin = caller("admin")
    for name in ("forecast", "cost"):
        assert admin.get(f"/campaigns/{campaign.code}/{name}").json()["n_missing"] == 77
