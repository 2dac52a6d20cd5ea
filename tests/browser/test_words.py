"""What the pages say while a worker is busy: what to do, how long is left, the way out, what is wrong with a text."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.models import Assignment, Item, TextReport
from tests.browser.opening import PHONE, Visitor
from tests.browser.rating import (
    expect_position,
    expect_saved,
    rate_by_keys,
    slider_place,
    stored_scores,
)
from tests.factories import make_hits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_slider")]


def test_keys_mean_the_slider_wherever_the_focus_is(hit: tuple[Page, Assignment]):
    page, assignment = hit
    page.locator("#text-below").click()
    expect(page.locator("#slider")).not_to_be_focused()
    page.keyboard.type("62")
    page.get_by_role("button", name="A little more").click()
    page.keyboard.press("Enter")
    expect_position(page, 2)
    page.get_by_role("button", name="A little more").click()
    page.keyboard.type("40")
    page.get_by_role("button", name="A little less").click()
    page.keyboard.press("Enter")
    expect_position(page, 3)
    expect_saved(page)
    assert stored_scores(assignment) == [63, 39]


def test_an_empty_slider_says_what_to_do(hit: tuple[Page, Assignment]):
    page, _ = hit
    hint = page.get_by_text("Tap or click the line to answer")
    expect(hint).to_be_visible()
    page.keyboard.press("End")
    expect(hint).to_be_hidden()
    page.keyboard.press("Enter")
    expect_position(page, 2)
    expect(hint).to_be_visible()


def test_help_time_and_the_way_out_are_one_tap_away_on_a_phone(visitor: Visitor):
    page, assignment = visitor.open_hit(make_hits(), **PHONE)
    expect(page.locator("#time-left")).to_have_text("2 h 59 min left")
    statement = page.locator("#statement").inner_text()
    page.get_by_text("Instructions", exact=True).tap()
    expect(page.locator(".panel blockquote")).to_have_text(statement)
    expect(page.locator(".panel blockquote")).to_be_in_viewport()
    page.get_by_text("Instructions", exact=True).tap()
    expect(page.locator(".panel")).to_be_hidden()
    page.touchscreen.tap(*slider_place(page, 80))
    page.locator("#next").tap()
    expect_saved(page)
    page.get_by_role("link", name="Stop for now").tap()
    expect(page.get_by_text("Your work is saved: 1 of 40.")).to_be_visible()
    page.get_by_role("link", name="Continue").tap()
    expect_position(page, 2)
    assert stored_scores(assignment) == [80]


def test_a_long_text_shows_that_it_goes_on(visitor: Visitor):
    campaign = make_hits()
    Item.objects.filter(hit__campaign=campaign, position=1).update(text="Many words. " * 100)
    page, _ = visitor.open_hit(campaign, **PHONE)
    more = page.locator("#more")
    expect(more).to_be_visible()
    for _tap in range(12):
        more.evaluate("button => button.hidden || button.click()")
    expect(more).to_be_hidden()
    below, controls = (page.locator(name).bounding_box() for name in ("#text-below", ".controls"))
    assert below and controls and below["y"] + below["height"] <= controls["y"] + 1
    page.touchscreen.tap(*slider_place(page, 20))
    page.locator("#next").tap()
    expect_position(page, 2)


@pytest.mark.parametrize("has_script", [True, False])
def test_a_problem_is_reported_with_the_rating_and_work_goes_on(visitor: Visitor, has_script: bool):
    page, assignment = visitor.open_hit(make_hits(), **PHONE, java_script_enabled=has_script)
    page.get_by_text("Something is wrong with this text").tap()
    page.get_by_text("The text is not displayed properly").tap()
    if has_script:
        page.touchscreen.tap(*slider_place(page, 10))
    else:
        page.locator(".radios input[value='10']").check()
    page.locator("#next").tap()
    expect(page.locator("#progress")).to_have_text("2 of 40")
    expect(page.get_by_label("The text is not displayed properly")).to_be_hidden()
    if has_script:
        expect_saved(page)
        rate_by_keys(page, [50], first=2)
        expect_saved(page)
    report = TextReport.objects.get()
    assert (report.reason, report.item.position) == ("display", 1)
    assert stored_scores(assignment)[0] == 10


def test_the_completion_code_is_copied_with_one_click(visitor: Visitor):
    page, assignment = visitor.open_hit(make_hits(pay_per_hit="2.50"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    rate_by_keys(page, [50] * 40)
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("button", name="Copy the code").click()
    expect(page.locator("#copied")).to_have_text("Copied")
    assignment.refresh_from_db()
    assert page.evaluate("navigator.clipboard.readText()") == assignment.completion_code
    expect(page.get_by_text("Your pay for this work is 2.50 USD.")).to_be_visible()


def test_the_first_page_names_the_languages_and_who_runs_it(page: Page):
    campaign = make_hits(
        task="source", n_segments=32, run_by="Example University", contact="lab@example.org"
    )
    page.goto(reverse("landing", args=[campaign.code]))
    for text in ("German, English", "Example University", "lab@example.org"):
        expect(page.get_by_text(text)).to_be_visible()
