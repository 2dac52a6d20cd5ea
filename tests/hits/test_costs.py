"""The estimated cost of a campaign, compared with a calculation by hand."""

import io
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.urls import reverse

from hits.campaigns.costs import Cost, count_hits, estimate_before_import
from hits.campaigns.importing.service import CheckSummary
from hits.models import Campaign
from tests.factories import make_campaign, make_hits, make_translations
from tests.people import client_of


def cost(**fields) -> Cost:
    counts = {"n_hits": 5, "n_translations": 336, "ratings": 15, "pass_percent": 50}
    return Cost(**counts | {"pay": Decimal("2.00"), "fee_percent": Decimal(33)} | fields)


def test_the_cost_of_five_hits():
    # 5 x 15 = 75 trusted, 150 at one in two; 300 to workers, 99 of fees; 399 / 336 = 1.1875.
    estimate = cost()
    assert (estimate.n_trusted, estimate.n_assignments) == (75, 150)
    assert (estimate.to_workers, estimate.fee, estimate.total) == (300, 99, 399)
    assert estimate.per_translation == Decimal("1.19")


@pytest.mark.parametrize(("percent", "n"), [(100, 75), (99, 76), (35, 215), (5, 1500)])
def test_assignments_are_rounded_up(percent, n):
    assert cost(pass_percent=percent).n_assignments == n


def test_nothing_costs_nothing():
    assert cost(n_hits=0, n_translations=0).total == cost(n_translations=0).per_translation == 0


@pytest.mark.django_db
def test_the_number_of_hits_is_the_same_before_and_after_building():
    campaign = make_campaign()
    make_translations(campaign, n_segments=30)
    assert count_hits(campaign) == (3, 60)
    assert count_hits(make_hits(n_segments=30)) == (3, 60)
    assert count_hits(make_campaign()) == (0, 0)


@pytest.mark.django_db
def test_the_page_uses_the_form_or_else_the_campaigns_settings():
    campaign = make_hits(pay_per_hit="1.00", min_ratings=10)
    client, url = client_of("admin"), reverse("campaign_cost", args=[campaign.code])
    assert '<span data-out="total">26.60</span>' in client.get(url).content.decode()
    form = {"pay": "3", "fee": "0", "passing": "100", "ratings": "5"}
    assert '<span data-out="total">15.00</span>' in client.get(url, form).content.decode()
    page = client.get(url, form | {"passing": "0", "ratings": "NaN"}).content.decode()
    assert "were not valid" in page and '<span data-out="total">60.00</span>' in page


@pytest.mark.django_db
def test_before_the_import_it_costs_the_same_as_after():
    stored = make_hits(n_segments=30, pay_per_hit="1.00", min_ratings=10)
    names = ("pay_per_hit", "min_ratings", "task", "hit_size", "degradation")
    draft = Campaign(**{name: getattr(stored, name) for name in names})
    found = CheckSummary(["a", "b"], 30, 60, False, [], 0, [])
    estimate = estimate_before_import(draft, found)
    assert estimate and (estimate.n_hits, estimate.total) == (3, Decimal("79.80"))
    assert estimate_before_import(draft, replace(found, n_outputs=3)) is None
    page = client_of("admin").get(reverse("campaign_cost", args=[stored.code])).content.decode()
    assert '<span data-out="total">79.80</span>' in page


@pytest.mark.django_db
def test_costs_overview_and_status_agree():
    campaign = make_hits(pay_per_hit="1.00", min_ratings=10, spending_cap=50, currency="EUR")
    client = client_of("admin")
    for name in ("campaign_cost", "campaign_overview"):
        page = client.get(reverse(name, args=[campaign.code])).content.decode()
        assert "20.00" in page and "26.60" in page, name
    out = io.StringIO()
    call_command("campaign_status", campaign.name, stdout=out)
    assert "about 20.00 EUR more for workers, 26.60 with a fee of 33 %" in out.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "question", "button"),
    [
        ({"pay_per_hit": 0}, "<strong>nothing</strong>", "Open campaign without pay"),
        ({"pay_per_hit": 1}, "<strong>no spending cap</strong>", "Open campaign without a cap"),
        ({"pay_per_hit": 1, "spending_cap": 5}, "stop before it is complete", "Open campaign"),
    ],
)
def test_opening_asks_about_missing_pay_and_a_missing_cap(fields, question, button):
    campaign = make_hits(is_open=False, min_ratings=10, **fields)
    Campaign.objects.update(status="draft")
    url = reverse("campaign_overview", args=[campaign.code])
    page = client_of("admin").get(url).content.decode()
    assert question in page and f'value="open">{button}</button>' in page


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["paused", "closed"])
@pytest.mark.parametrize(
    ("fields", "question", "button"),
    [
        ({"pay_per_hit": 0}, "<strong>nothing</strong>", "Reopen campaign without pay"),
        ({"pay_per_hit": 1}, "<strong>no spending cap</strong>", "Reopen campaign without a cap"),
        ({"pay_per_hit": 1, "spending_cap": 5}, "", "Reopen campaign"),
    ],
)
def test_opening_again_asks_the_same(status, fields, question, button):
    campaign = make_hits(**fields)
    Campaign.objects.update(status=status)
    for name in ("campaign_overview", "campaign_settings"):
        page = client_of("admin").get(reverse(name, args=[campaign.code])).content.decode()
        assert f'value="open">{button}</button>' in page, name
        for asked in ("<strong>nothing</strong>", "<strong>no spending cap</strong>"):
            assert (asked in page) == (asked == question), name


@pytest.mark.django_db
def test_the_cost_is_shown_before_hits_are_built():
    campaign = make_campaign(is_open=False, pay_per_hit=1, min_ratings=10)
    Campaign.objects.update(status="draft")
    make_translations(campaign, n_segments=30)
    url = reverse("campaign_overview", args=[campaign.code])
    page = client_of("admin").get(url).content.decode()
    assert "Next: build HITs" in page and "<strong>79.80 USD</strong>" in page
    assert "79.80" not in client_of("researcher").get(url).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["draft", "paused"])
@pytest.mark.parametrize(
    ("fields", "installation", "missing"),
    [
        ({}, {}, "who runs this or how to reach anybody"),
        ({"run_by": "Ada"}, {}, "how to reach you"),
        ({"contact": "ada@example.org"}, {}, "who runs this"),
        ({"run_by": "Ada"}, {"PRIVACY_CONTACT": "ada@example.org"}, ""),
        ({"contact": "ada@example.org"}, {"ORGANISER": "Ada"}, ""),
    ],
)
def test_a_campaign_that_names_nobody_warns_before_it_opens(
    status, fields, installation, missing, settings
):
    campaign = make_hits(**fields)
    Campaign.objects.update(status=status)
    settings.ORGANISER = settings.PRIVACY_CONTACT = ""
    for name, value in installation.items():
        setattr(settings, name, value)
    url = reverse("campaign_overview", args=[campaign.code])
    page = client_of("admin").get(url).content.decode()
    assert (f"<strong>{missing}</strong>" in page) if missing else ("are not told" not in page)
    assert "are not told" not in client_of("researcher").get(url).content.decode()
