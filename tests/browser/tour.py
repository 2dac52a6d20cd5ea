"""Open every page for workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.campaigns.lifecycle import change_status
from hits.models import HIT, Campaign, Participation
from hits.rating.assignments import submit_assignment, take_assignment
from tests.browser.opening import Visitor, assignment_of, qualify, rating_address
from tests.factories import make_hits, make_worker, rate_items
from tests.recruits import wrong_answer

# The same heading whatever the reason.
NO_HIT = "Nothing to do right now"
UNAVAILABLE = {
    "none_left": NO_HIT,
    "paused": "Paused for now",
    "closed": "This task has ended",
    "done": NO_HIT,
    "excluded": NO_HIT,
    "screened_out": NO_HIT,
    "busy": "You have an unfinished task",
}


def tour(visitor: Visitor, **options: Any) -> Iterator[tuple[str, Page]]:
    """Open the pages from landing to completion code, then those for when there is nothing to rate."""
    yield from _way_in(visitor, **options)
    yield from _way_through(visitor, **options)
    for reason in UNAVAILABLE:
        with unavailable(visitor, reason, **options) as page:
            yield f"unavailable, {reason}", page


def _way_in(visitor: Visitor, **options: Any) -> Iterator[tuple[str, Page]]:
    campaign = make_hits(pay_per_hit="2.50", instructions="Take your time.\n\nRead twice.")
    page = visitor.open_context(**options).new_page()
    page.goto(campaign.get_absolute_url())
    yield "landing", page
    page.locator("main button").click()
    expect(page.locator(".example").first).to_be_visible()
    yield "instructions", page
    page.goto(reverse("practice", args=[campaign.code, 1]))
    yield "practice", page
    page.locator("#slider").press("Home")
    page.locator("#next").click()
    expect(page.locator(".feedback")).to_be_visible()
    yield "feedback", page
    page.goto(reverse("check", args=[campaign.code]))
    yield "check", page
    page.get_by_label(wrong_answer(campaign), exact=True).check()
    page.locator("main button").click()
    expect(page.get_by_role("alert")).to_be_visible()
    yield "check, wrong", page
    page.close()


def _way_through(visitor: Visitor, **options: Any) -> Iterator[tuple[str, Page]]:
    page, assignment = visitor.open_hit(make_hits(), **options)
    expect(page.locator("#slider")).to_be_focused()
    yield "rate", page
    page.keyboard.type("70")
    expect(page.locator("#next")).to_be_enabled()
    yield "rate, set", page
    rate_items(assignment)
    page.goto(reverse("finish", args=[assignment.code]))
    yield "finish", page
    page.get_by_role("button").click()
    expect(page.locator("output")).to_be_visible()
    yield "done", page
    page.close()
    stranger = visitor.open_context(**options).new_page()
    stranger.goto(rating_address(assignment))
    expect(stranger.get_by_role("alert")).to_be_visible()
    yield "refused", stranger
    stranger.close()


@contextmanager
def unavailable(visitor: Visitor, reason: str, **options: Any) -> Iterator[Page]:
    """Open the page that explains to a worker why there is nothing to rate."""
    campaign, worker = make_hits(), make_worker()
    qualify(worker, campaign)
    participation = Participation.objects.filter(campaign=campaign, worker=worker)
    match reason:
        case "none_left":
            HIT.objects.filter(campaign=campaign).update(places_left=0)
        case "paused" | "closed":
            change_status(campaign=campaign, to=Campaign.Status(reason))
        case "done":
            assignment = assignment_of(worker, campaign)
            rate_items(assignment)
            submit_assignment(assignment=assignment)
        case "excluded":
            participation.update(decision="excluded", decision_reason="spam")
        case "screened_out":
            participation.update(qualified_at=None, n_check_tries=2)
        case "busy":
            other = make_hits()
            qualify(worker, other)
            take_assignment(campaign=other, worker=worker)
    page = visitor.open_context(worker=worker, **options).new_page()
    page.goto(reverse("next_hit", args=[campaign.code]))
    yield page
    page.close()
