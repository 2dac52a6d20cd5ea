"""Campaigns over the API: the paginated list, forecast and cost."""

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

    def spy(campaigns):
        counted.extend(campaign.name for campaign in campaigns)
        return campaign_statuses(campaigns)

    monkeypatch.setattr("hits.api.campaigns.campaign_statuses", spy)
    page = caller("researcher").get("/campaigns", limit=1, offset=1).json()
    assert page["count"] == 3 and [row["name"] for row in page["items"]] == counted == [names[1]]


def test_forecast_and_cost_use_the_stored_counts(monkeypatch):
    monkeypatch.setattr(kept_counts, "LARGE", 1)
    campaign = make_hits()
    kept_counts.keep_counts()
    counts = KeptCounts.objects.get()
    KeptCounts.objects.update(
        overview=counts.overview | {"forecast": counts.overview["forecast"] | {"n_missing": 77}}
    )
    admin = caller("admin")
    for name in ("forecast", "cost"):
        assert admin.get(f"/campaigns/{campaign.code}/{name}").json()["n_missing"] == 77
