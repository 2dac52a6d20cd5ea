"""From the landing page to the completion code, by keyboard alone and by touch alone."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import CDPSession, Page, expect

from hits.models import Assignment, Campaign
from tests.browser.opening import PHONE, Visitor
from tests.browser.rating import (
    expect_position,
    rate_by_keys,
    slider_place,
    stored_scores,
    type_score,
)
from tests.factories import make_hits
from tests.recruits import right_answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_whole_way")]

# Almost every score once, in no particular order.
SCORES = [37 * position % 101 for position in range(1, 101)]


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until this has the focus."""
    for _ in range(10):
        if page.locator(selector).evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not reach {selector}.")


def test_a_hit_can_be_done_by_keyboard_alone(page: Page):
    campaign = make_hits(hit_size=100, n_segments=35)
    page.goto(campaign.get_absolute_url())
    tab_to(page, "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What to do")).to_be_visible()
    tab_to(page, "a.button")
    page.keyboard.press("Enter")
    practise_by_keys(page)
    answer_check_by_keys(page, campaign)
    expect_position(page, 1)
    rate_by_keys(page, SCORES)
    submit_by_keys(page)
    assignment = Assignment.objects.get()
    expect(page.locator("output")).to_have_text(assignment.completion_code)
    assert re.fullmatch("[2-9A-Z]{12}", assignment.completion_code)
    assert assignment.comment == "Good texts."
    assert stored_scores(assignment) == SCORES
    for rating in assignment.ratings.all():
        assert 0 <= rating.active_ms <= rating.elapsed_ms < 60_000


def practise_by_keys(page: Page) -> None:
    """Rate the first practice item wrong, then right; the others right. The slider has the focus throughout."""
    expect(page.locator("#slider")).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.locator(".feedback-too_low")).to_be_visible()
    for step, score in enumerate([90, 10, 50], start=1):
        expect(page.locator(".progress")).to_have_text(f"Practice: {step} of 3")
        expect(page.locator("#slider")).to_be_focused()
        type_score(page, score)
        page.keyboard.press("Enter")
        expect(page.locator(".feedback-fine")).to_be_visible()
        expect(page.locator("#slider")).to_be_focused()
        expect(page.locator("#slider")).to_have_attribute("aria-valuenow", str(score))
        page.keyboard.press("Enter")


def answer_check_by_keys(page: Page, campaign: Campaign) -> None:
    expect(page.get_by_role("heading", name="One question")).to_be_visible()
    tab_to(page, "label:nth-of-type(1) input")
    page.keyboard.press("Space")
    for _ in range(3):
        if page.get_by_label(right_answer(campaign), exact=True).is_checked():
            break
        page.keyboard.press("ArrowDown")
    tab_to(page, "button")
    page.keyboard.press("Enter")


def submit_by_keys(page: Page) -> None:
    expect(page.get_by_role("heading", name="You have rated all the texts")).to_be_visible()
    tab_to(page, "textarea")
    page.keyboard.type("Good texts.")
    tab_to(page, "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Thank you!")).to_be_visible()


# Consent, instructions, three practice items of three taps each, and the question of two.
TAPS_TO_THE_FIRST_ITEM = 13
COUNT_TAPS = """addEventListener("pointerup", (event) => {
  if (event.isTrusted) sessionStorage.setItem("taps", 1 + Number(sessionStorage.getItem("taps")));
}, true);"""


def test_a_hit_can_be_done_by_touch_on_a_narrow_phone(visitor: Visitor):
    campaign = make_hits()
    page = visitor.open_context(**PHONE).new_page()
    page.add_init_script(COUNT_TAPS)
    page.goto(campaign.get_absolute_url())
    expect_to_fit(page, "dl.facts")
    page.get_by_role("button").tap()
    expect_to_fit(page, ".example")
    page.get_by_role("link", name="Start practice").tap()
    for score in (90, 10, 50):
        expect_to_fit(page, "#slider")
        tap_score(page, score)
        page.locator("#next").tap()
        expect_to_fit(page, ".feedback-fine")
        page.locator("a.button").tap()
    expect_to_fit(page, ".options")
    page.get_by_label(right_answer(campaign), exact=True).tap()
    page.get_by_role("button").tap()
    expect_to_fit(page, "#rating-form")
    assert page.evaluate("Number(sessionStorage.getItem('taps'))") == TAPS_TO_THE_FIRST_ITEM
    rate_by_finger(page)
    expect_to_fit(page, "textarea")
    page.get_by_role("button").tap()
    expect_to_fit(page, "output")
    assignment = Assignment.objects.get()
    assert page.locator("output").inner_text() == assignment.completion_code
    assert stored_scores(assignment) == SCORES[:40]


MIDDLE = """element => {
  const box = element.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
}"""


def rate_by_finger(page: Page) -> None:
    """Rate most items by a tap and every fifth by a drag."""
    touch = page.context.new_cdp_session(page)
    for position, score in enumerate(SCORES[:40], start=1):
        expect_position(page, position)
        if position % 5:
            tap_score(page, score)
        else:
            drag_to_score(page, touch, score)
        # Unlike `tap`, this does not scroll: the button has to be within reach.
        page.touchscreen.tap(*page.locator("#next").evaluate(MIDDLE))
    page.wait_for_url(re.compile("/finish/$"))


def tap_score(page: Page, score: int) -> None:
    x, y = slider_place(page, score)
    page.touchscreen.tap(x, y)


def drag_to_score(page: Page, touch: CDPSession, score: int) -> None:
    begin, y = slider_place(page, 50)
    end, _ = slider_place(page, score)
    places = [begin, (begin + end) / 2, end]
    for x in places:
        kind = "touchStart" if x is places[0] else "touchMove"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    # Without this pause, Chromium takes the drag for a flick and the next tap for its end.
    page.wait_for_timeout(100)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def expect_to_fit(page: Page, selector: str) -> None:
    """Wait for this part of a page, and check that the page does not scroll sideways."""
    expect(page.locator(selector).first).to_be_visible()
    root = page.locator("html")
    assert root.evaluate("root => root.scrollWidth") <= root.evaluate("root => root.clientWidth")


def test_a_worker_who_has_practised_starts_a_second_hit_at_once(visitor: Visitor):
    page, first = visitor.open_hit(make_hits(n_segments=28))
    rate_by_keys(page, [50] * 40)
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("link", name="Take another set of texts").click()
    expect_position(page, 1)
    second = Assignment.objects.in_progress().get()
    assert second.hit != first.hit
    assert page.url.endswith(reverse("rate", args=[second.code]))
