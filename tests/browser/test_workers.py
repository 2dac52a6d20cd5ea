"""Admins look at workers, exclude one after a preview, and decide about many at once."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.models import AuditEntry, Campaign, Participation
from tests.browser.opening import PHONE, Visitor
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import assert_accessible
from tests.cast import campaign_with_workers, worker_like

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_workers")]


def open_table(visitor: Visitor, campaign: Campaign, **options: Any) -> Page:
    page = staff_context(visitor, "admin", campaign, **options).new_page()
    # Seven plots at once take a while on a busy machine.
    page.set_default_timeout(60_000)
    page.goto(reverse("campaign_workers", args=[campaign.code]))
    return page


def listed_workers(page: Page) -> list[str]:
    return page.locator("tbody th").all_inner_texts()


def test_an_admin_finds_a_worker_and_excludes_them_after_a_preview(visitor: Visitor):
    campaign = campaign_with_workers()
    person = worker_like("honest")
    page = open_table(visitor, campaign)
    assert len(listed_workers(page)) == 4
    page.get_by_label("State").select_option("reliable")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody th")).to_have_count(2)
    page.get_by_role("link", name=str(person.worker)).click()
    expect(page.locator(".sentences")).to_contain_text("Tells degraded from genuine: p")
    pictures = page.locator("figure img")
    expect(pictures).to_have_count(8)
    for place in range(7):
        picture = pictures.nth(place)
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True, timeout=60_000)
        assert picture.evaluate("image => image.naturalWidth") > 100
        assert len(picture.get_attribute("alt") or "") > 40
    with page.expect_download() as download:
        page.get_by_role("link", name="Data for Degraded against genuine as CSV").click()
    assert download.value.path().read_text().startswith("hit,genuine,degraded,difference\n")

    page.get_by_role("button", name="Leave their ratings out").click()
    expect(page.get_by_role("heading", name="Leave their ratings out:")).to_be_visible()
    tile = page.locator(".tiles div").first
    expect(tile).to_contain_text("fall below 2 ratings")
    expect(tile.locator("dd").first).to_have_text("140")
    expect(page.get_by_text("Pay is not affected.")).to_be_visible()
    sides = page.locator(".sides li")
    expect(sides).to_have_count(7)
    expect(sides.first).to_contain_text("Speaks for the worker")
    assert not Participation.objects.exclude(decision="").exists()
    page.get_by_label("Reason").fill("Two accounts <of> one person")
    page.get_by_role("button", name="Leave their ratings out").click()
    expect(page.get_by_role("status")).to_contain_text("Decision applied to 1 worker")
    expect(page.get_by_text("Decided by a person: excluded.")).to_contain_text("Two accounts <of>")
    person.refresh_from_db()
    assert person.state == "excluded" and AuditEntry.objects.first().action == "excluded"


def test_a_decision_about_many_workers_can_be_undone(visitor: Visitor):
    campaign = campaign_with_workers()
    page = open_table(visitor, campaign)
    page.get_by_label("All on this page").check()
    expect(page.locator("[data-count]")).to_have_text("4 selected")
    page.get_by_role("checkbox", name=str(worker_like("honest").worker)).uncheck()
    expect(page.locator("[data-count]")).to_have_text("3 selected")
    # From any row, Enter goes to the decisions, which stay in sight.
    page.get_by_role("checkbox", name=str(worker_like("random").worker)).press("Enter")
    exclude = page.get_by_role("button", name="Leave their ratings out")
    expect(exclude).to_be_focused()
    expect(exclude).to_be_in_viewport()
    exclude.click()
    expect(page.locator("tbody th")).to_have_count(3)
    # The evidence about many workers is folded; the keyboard opens it.
    evidence = page.locator("details").first
    expect(evidence.get_by_role("listitem").first).to_be_hidden()
    evidence.locator("summary").press("Enter")
    expect(evidence.get_by_role("listitem")).to_have_count(7)
    page.get_by_label("Reason").fill("A pilot")
    page.get_by_role("button", name="Leave their ratings out").click()
    expect(page.get_by_role("status").first).to_contain_text("Decision applied to 3 workers")
    assert Participation.objects.filter(decision="excluded").count() == 3
    page.get_by_label("All on this page").check()
    page.get_by_role("button", name="Let the evidence decide").click()
    expect(page.get_by_text("already decided")).to_have_count(1)
    page.get_by_label("Reason").fill("Not a pilot")
    page.get_by_role("button", name="Let the evidence decide").click()
    expect(page.get_by_role("status").first).to_contain_text("Decision applied to 3 workers")
    assert not Participation.objects.exclude(decision="").exists()


def test_sorting_by_a_heading_keeps_the_filters(visitor: Visitor):
    page = open_table(visitor, campaign_with_workers())
    page.get_by_label("Flag").select_option("scrs")
    page.get_by_role("button", name="Show").click()
    heading = page.get_by_role("columnheader", name="Worker")
    heading.get_by_role("link").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    rising = listed_workers(page)
    assert rising == sorted(rising)
    heading.get_by_role("link").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert listed_workers(page) == rising[::-1]
    expect(page.get_by_label("Flag")).to_have_value("scrs")


def test_selecting_nobody_shows_a_hint_without_scripts_too(visitor: Visitor):
    campaign = campaign_with_workers()
    page = open_table(visitor, campaign, java_script_enabled=False)
    page.get_by_role("button", name="Count their ratings").click()
    expect(page.get_by_text("Select at least one worker.")).to_be_visible()
    page.get_by_role("checkbox", name=str(worker_like("random").worker)).check()
    page.get_by_role("button", name="Count their ratings").click()
    page.get_by_label("Reason").fill("Read them with me")
    page.get_by_role("button", name="Count their ratings").click()
    expect(page.get_by_text("Decided by a person: reinstated.")).to_be_visible()


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_the_pages_are_accessible(visitor: Visitor, options: dict[str, Any]):
    campaign = campaign_with_workers()
    worker = worker_like("honest").worker
    page = open_table(visitor, campaign, **options)
    decide = reverse("decide_workers", args=[campaign.code])
    for url in (
        page.url,
        reverse("campaign_worker", args=[campaign.code, worker.code]),
        f"{decide}?choice=exclude&worker={worker.code}",
        f"{reverse('campaign_workers', args=[campaign.code])}?search=nobody",
    ):
        page.goto(url)
        assert_accessible(page, url)
