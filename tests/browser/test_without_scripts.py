"""Without JavaScript, every page works as a plain form."""

import re

import pytest
from playwright.sync_api import Page, expect

from hits.models import Assignment, Rating
from tests.browser.opening import PHONE, Complaints, Visitor, assignment_of, rating_address
from tests.browser.rating import stored_scores
from tests.factories import make_hits, make_worker
from tests.recruits import right_answer

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser_without_scripts"),
]

SCORES = [29 * position % 101 for position in range(1, 41)]


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return visitor.open_context(java_script_enabled=False).new_page()


def choose(page: Page, score: int) -> None:
    page.locator(f".radios input[value='{score}']").check()
    page.locator("#next").click()


def test_a_hit_can_be_done_with_plain_forms(page: Page):
    campaign = make_hits()
    page.goto(campaign.get_absolute_url())
    page.get_by_role("button").click()
    page.get_by_role("link", name="Start practice").click()
    for score in (90, 10, 50):
        choose(page, score)
        expect(page.locator(".feedback-fine")).to_be_visible()
        page.locator("a.button").click()
    page.get_by_label(right_answer(campaign), exact=True).check()
    page.get_by_role("button", name="Submit answer").click()
    for position, score in enumerate(SCORES, start=1):
        expect(page.locator("#progress")).to_have_text(f"{position} of 40")
        choose(page, score)
    page.get_by_label("Is there anything you would like to tell us?").fill("No scripts here.")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("output")).to_have_text(re.compile("^[2-9A-Z]{12}$"))
    assignment = Assignment.objects.get()
    assert assignment.comment == "No scripts here."
    assert stored_scores(assignment) == SCORES


def test_next_without_a_choice_is_prevented_by_the_browser(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), java_script_enabled=False)
    page.locator("#next").click()
    expect(page.locator(".radios input:invalid").first).to_be_visible()
    expect(page.locator("#progress")).to_have_text("1 of 40")
    assert not Rating.objects.exists()


def test_next_without_a_choice_is_refused_by_the_server(visitor: Visitor, complaints: Complaints):
    complaints.expected.append("422")
    page, _ = visitor.open_hit(make_hits(), java_script_enabled=False)
    # As in an old browser without `required`.
    page.locator(".radios input").evaluate_all(
        "inputs => inputs.forEach(input => input.removeAttribute('required'))"
    )
    page.locator("#next").click()
    expect(page.get_by_role("alert")).to_have_text("Set the slider first.")
    expect(page.locator("#progress")).to_have_text("1 of 40")
    assert not Rating.objects.exists()
    choose(page, 64)
    expect(page.locator("#progress")).to_have_text("2 of 40")
    assert Rating.objects.get().score == 64


def test_the_scale_works_by_arrow_keys_with_a_visible_focus(visitor: Visitor):
    page, assignment = visitor.open_hit(make_hits(), java_script_enabled=False)
    page.locator(".radios input[value='50']").check()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    checked = page.locator(".radios input:checked")
    expect(checked).to_have_attribute("value", "52")
    outline = checked.evaluate("input => getComputedStyle(input).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#progress")).to_have_text("2 of 40")
    assert stored_scores(assignment) == [52]


def test_the_scale_fits_a_narrow_phone(visitor: Visitor):
    page, assignment = visitor.open_hit(make_hits(), java_script_enabled=False, **PHONE)
    box = page.locator(".radios").bounding_box()
    assert box is not None and box["width"] <= 320
    page.touchscreen.tap(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    page.locator("#next").tap()
    expect(page.locator("#progress")).to_have_text("2 of 40")
    assert stored_scores(assignment)[0] in range(74, 77)


def test_going_back_does_not_rate_an_item_twice(visitor: Visitor):
    page, assignment = visitor.open_hit(make_hits(), java_script_enabled=False)
    choose(page, 30)
    expect(page.locator("#progress")).to_have_text("2 of 40")
    page.go_back()
    choose(page, 70)
    expect(page.locator("#progress")).to_have_text(re.compile("[23] of 40"))
    assert stored_scores(assignment)[0] == 30


def test_scripts_that_fail_to_load_leave_the_plain_form(visitor: Visitor, complaints: Complaints):
    complaints.expected += ["ERR_FAILED", "Slider is not defined"]
    assignment = assignment_of(make_worker(), make_hits())
    context = visitor.open_context(worker=assignment.worker)
    context.route("**/slider.js", lambda route: route.abort())
    page = context.new_page()
    page.goto(rating_address(assignment))
    choose(page, 37)
    expect(page.locator("#progress")).to_have_text("2 of 40")
    assert stored_scores(assignment) == [37]
