"""Pages around the rating page: no errors, and an explanation when there is nothing to rate."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.campaigns.lifecycle import change_status
from hits.models import Assignment, Item, Participation
from tests.browser.opening import Complaints, Visitor, assignment_of, rating_address
from tests.browser.rating import agree, expect_position, rate_by_keys, stored_scores, wait_until
from tests.browser.tour import UNAVAILABLE, tour, unavailable
from tests.factories import make_hits, make_worker, rate_items
from tests.recruits import wrong_answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_pages")]


# Long enough for requests that a page makes after it was loaded.
LATE_REQUESTS_MS = 100


def test_no_page_logs_errors_or_makes_external_requests(visitor: Visitor, complaints: Complaints):
    # The page of someone else's HIT is a 404.
    complaints.expected.append("404 (Not Found)")
    names = []
    for name, page in tour(visitor):
        if name.startswith("unavailable, "):
            expect_reason(page, name.removeprefix("unavailable, "))
        page.wait_for_load_state("load")
        page.wait_for_timeout(LATE_REQUESTS_MS)
        assert complaints.messages == [], name
        names.append(name)
    assert len(names) == len(set(names)) == 11 + len(UNAVAILABLE)


def expect_reason(page: Page, reason: str) -> None:
    """The page says why there is nothing to rate."""
    expect(page.get_by_role("heading", level=1)).to_have_text(UNAVAILABLE[reason])
    expect(page.locator("main p").first).not_to_be_empty()
    expect(page.locator("#slider")).to_have_count(0)


def test_errors_in_the_browser_are_noticed(visitor: Visitor, complaints: Complaints):
    page, _ = visitor.open_hit(make_hits())
    page.evaluate("document.body.append(Object.assign(new Image(), {src: 'https://example.org/'}))")
    wait_until(page, lambda: any("Content Security Policy" in text for text in complaints.messages))
    complaints.messages.clear()
    page.evaluate("setTimeout(() => { throw new Error('Oh no') })")
    wait_until(page, lambda: any("Oh no" in text for text in complaints.messages))
    complaints.messages.clear()


@pytest.mark.parametrize("status", ["paused", "closed"])
def test_a_new_worker_sees_that_a_campaign_is_not_open(page: Page, status: str):
    campaign = change_status(campaign=make_hits(), to=status)
    page.goto(campaign.get_absolute_url())
    expect(page.get_by_role("heading", level=1)).to_have_text(UNAVAILABLE[status])
    assert not Participation.objects.exists()


def test_a_started_hit_can_be_finished_after_the_campaign_is_closed(visitor: Visitor):
    assignment = assignment_of(make_worker(), make_hits())
    rate_items(assignment, n_items=38)
    change_status(campaign=assignment.hit.campaign, to="closed")
    page = visitor.open_context(worker=assignment.worker).new_page()
    page.goto(assignment.hit.campaign.get_absolute_url())
    page.get_by_role("link", name="Continue").click()
    rate_by_keys(page, [10, 90], first=39)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()
    assert stored_scores(assignment)[-2:] == [10, 90]


def test_two_wrong_answers_screen_a_worker_out(page: Page):
    campaign = make_hits()
    wrong = page.get_by_label(wrong_answer(campaign), exact=True)
    agree(page, campaign)
    page.goto(reverse("check", args=[campaign.code]))
    wrong.check()
    page.get_by_role("button").click()
    expect(page.get_by_role("alert")).to_contain_text("You have one more try")
    wrong.check()
    page.get_by_role("button").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Thank you for your interest")
    # The instructions stay open, as for everyone else who gets no further HIT.
    for name in ("check", "next_hit"):
        page.goto(reverse(name, args=[campaign.code]))
        expect(heading).to_have_text(UNAVAILABLE["screened_out"])
    assert not Assignment.objects.exists()


def test_the_check_cannot_be_skipped(page: Page):
    campaign = make_hits()
    agree(page, campaign)
    page.goto(reverse("next_hit", args=[campaign.code]))
    expect(page.get_by_role("heading", level=1)).to_have_text("What to do")
    assert not Assignment.objects.exists()


def test_a_busy_worker_can_continue_the_unfinished_task(visitor: Visitor):
    with unavailable(visitor, "busy") as page:
        page.get_by_role("link", name="Continue").click()
        expect_position(page, 1)
        assert page.url.endswith(rating_address(Assignment.objects.get()))


def test_markup_in_a_text_is_shown_as_text_by_page_and_script(visitor: Visitor):
    text = "</script><img src=x onerror=alert(1)><b>bold</b>"
    campaign = make_hits()
    Item.objects.update(text=text)
    page, _ = visitor.open_hit(campaign)
    for position in (1, 2):
        expect_position(page, position)
        expect(page.get_by_text(text, exact=True)).to_be_visible()
        assert page.locator("main img, main b").count() == 0
        # The first text comes from the template, the second from the script.
        rate_by_keys(page, [50], first=position)
