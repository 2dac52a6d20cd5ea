"""Admins look at held HITs and decide about all of them at once."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.models import Assignment, Campaign
from tests.browser.opening import PHONE, Visitor
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import assert_accessible
from tests.factories import make_worker
from tests.holds import do_held_hit, make_guarded_hits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_workers")]


@pytest.fixture
def campaign() -> Campaign:
    campaign = make_guarded_hits(n_segments=28, min_ratings=2)
    for _ in range(3):
        do_held_hit(campaign, make_worker())
    return campaign


def open_held_hits(visitor: Visitor, campaign: Campaign, **options: Any) -> Page:
    page = staff_context(visitor, "admin", campaign, **options).new_page()
    page.set_default_timeout(60_000)
    page.goto(reverse("held_hits", args=[campaign.code]))
    return page


def test_an_admin_discards_all_held_hits_after_a_preview(visitor: Visitor, campaign: Campaign):
    page = open_held_hits(visitor, campaign)
    expect(page.locator("tbody tr")).to_have_count(3)
    page.get_by_label("All on this page").check()
    expect(page.locator("[data-count]")).to_have_text("3 selected")
    page.get_by_role("button", name="Do not count them").click()
    expect(page.get_by_role("heading", name="Do not count them: 3 HITs")).to_be_visible()
    assert set(Assignment.objects.values_list("hold", flat=True)) == {"held"}
    page.get_by_label("Reason").fill("A script")
    page.get_by_role("button", name="Do not count them").click()
    expect(page.get_by_text("Decision applied to 3 HITs")).to_be_visible()
    assert set(Assignment.objects.values_list("hold", flat=True)) == {"discarded"}


@pytest.mark.parametrize(
    "options", [{}, PHONE, {"color_scheme": "dark"}], ids=["desktop", "phone", "dark"]
)
def test_the_pages_are_accessible(visitor: Visitor, campaign: Campaign, options: dict[str, Any]):
    page = open_held_hits(visitor, campaign, **options)
    assert_accessible(page)
    page.locator("tbody input").first.check()
    page.get_by_role("button", name="Count them", exact=False).first.click()
    expect(page.get_by_label("Reason")).to_be_visible()
    assert_accessible(page)
