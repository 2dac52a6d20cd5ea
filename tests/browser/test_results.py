"""A researcher builds gold, reads and downloads the ranking, and prints the report."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from analysis.models import GoldRun
from da_platform.jobs.models import Job
from da_platform.jobs.running import run_job
from hits.models import Campaign
from tests.browser.opening import Visitor
from tests.browser.staff_pages import make_busy_campaign, staff_context

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_staff")]


@pytest.fixture
def campaign() -> Campaign:
    return make_busy_campaign()


@pytest.fixture
def page(visitor: Visitor, campaign: Campaign) -> Page:
    page = staff_context(visitor, "researcher").new_page()
    page.goto(reverse("campaign_results", args=[campaign.code]))
    return page


def build(page: Page) -> None:
    """Start a gold job on the page and run it."""
    page.get_by_label("Ratings needed for a score").fill("1")
    page.get_by_role("button", name="Build gold").click()
    expect(page).to_have_url(re.compile("/jobs/"))
    for job in Job.objects.unfinished():
        run_job(job.pk)
    # Wait until the page has reloaded itself; leaving it before would fail.
    expect(page.locator("[data-progress]")).to_have_count(0)


def test_a_researcher_goes_from_ratings_to_a_printed_report(page: Page, campaign: Campaign):
    expect(page.get_by_text("No gold yet")).to_be_visible()
    build(page)
    page.goto(reverse("campaign_results", args=[campaign.code]))
    expect(page.get_by_role("heading", name="Gold 1")).to_be_visible()
    systems = page.get_by_role("region", name="Systems from best to worst")
    rows = systems.get_by_role("row")
    expect(rows).to_have_count(1 + campaign.systems.count())
    assert page.locator("figure img").count() > 0
    for picture in page.locator("figure img").all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("picture => picture.naturalWidth") > 100
    with page.expect_download() as download:
        page.get_by_role("link", name="System ranking as CSV", exact=True).click()
    assert download.value.suggested_filename.endswith(".csv")
    with page.expect_download() as download:
        page.get_by_role("link", name="Figure: System ranking as PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    page.get_by_role("link", name="Report", exact=True).click()
    expect(page.get_by_role("heading", name="Methods")).to_be_visible()
    assert page.pdf()[:4] == b"%PDF"
    with page.expect_download() as download:
        page.get_by_role("link", name="PDF", exact=True).first.click()
    assert download.value.path().read_bytes()[:4] == b"%PDF"


def test_segment_scores_can_be_sorted_and_filtered(page: Page, campaign: Campaign):
    build(page)
    run = GoldRun.objects.get()
    page.goto(f"{reverse('campaign_segments', args=[campaign.code])}?run={run.number}")
    page.get_by_role("link", name="z", exact=True).click()
    expect(page.get_by_role("columnheader", name="z", exact=True)).to_have_attribute(
        "aria-sort", "ascending"
    )
    page.get_by_label("System").select_option(campaign.systems.order_by("name")[0].name)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text(f"{campaign.segments.count()} translations")).to_be_visible()


def test_a_researcher_sees_no_workers_and_no_money(page: Page, campaign: Campaign):
    tabs = page.get_by_role("navigation", name="Campaign")
    expect(tabs.get_by_role("link")).to_have_text(["Overview", "Results", "Metrics"])
    page.goto(reverse("campaign_overview", args=[campaign.code]))
    text = page.locator("main").inner_text()
    names = campaign.participations.values_list("worker__external_id", flat=True)
    assert "EUR" not in text and not [name for name in names if name in text]


def test_a_question_mark_explains_a_word_to_the_keyboard(page: Page, campaign: Campaign):
    build(page)
    page.goto(reverse("campaign_results", args=[campaign.code]))
    explanation = page.get_by_text("The mean z of a translation’s trusted ratings")
    expect(explanation).to_be_hidden()
    page.get_by_role("button", name="What does “Gold” mean?").press("Enter")
    expect(explanation).to_be_visible()
    page.keyboard.press("Escape")
    expect(explanation).to_be_hidden()
