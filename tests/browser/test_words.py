"""What the pages say while a worker is busy: what to do, how long is left, the way out, what is wrong with a text."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.models import Assignment, Campaign, Item, TextReport
from tests.browser.opening import PHONE, Visitor
from tests.browser.rating import (
    agree,
    expect_position,
    expect_saved,
    rate_by_keys,
    slider_place,
    stored_scores,
)
from tests.browser.test_looks import axe_violations
from tests.documents.campaigns import last_of_runs
from tests.factories import make_hits
from tests.hits.test_kinds_in_words import MAKERS

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


def make_long(campaign: Campaign) -> None:
    """Give the first segments long references, which are shown in gray."""
    long = "Many words of a long gray text. " * 60
    campaign.segments.update(reference=long)


IN_SIGHT = """button => {
  const box = button.getBoundingClientRect();
  return button.hidden || (box.top >= 0 && box.bottom <= innerHeight);
}"""


@pytest.mark.parametrize("size", [PHONE, {}], ids=["phone", "desktop"])
@pytest.mark.parametrize("kind", ["editing", "documents", "rating"])
def test_the_cue_of_a_long_text_is_in_sight_wherever_the_controls_stand(
    visitor: Visitor, kind: str, size: dict[str, Any]
):
    settings = {"scores_documents": True} if kind == "documents" else {}
    campaign = MAKERS[kind](**settings)
    make_long(campaign)
    page, assignment = visitor.open_hit(campaign, **size)
    expect_position(page, 1)
    if kind == "documents":
        # The last segment of a document has two sliders, so the controls do not lie over the texts.
        last = last_of_runs(assignment)[0]
        for position in range(1, last):
            expect_position(page, position)
            page.keyboard.type("50")
            page.keyboard.press("Enter")
        expect_position(page, last)
        expect(page.locator("#whole")).to_be_visible()
    if kind == "rating":
        page.get_by_text("Something is wrong with this text").click()
    page.evaluate("scrollTo(0, 0)")
    more = page.locator("#more")
    expect(more).to_be_visible()
    assert more.evaluate(IN_SIGHT)
    for _click in range(40):
        more.evaluate("button => button.hidden || button.click()")
        assert more.evaluate(IN_SIGHT)
    expect(more).to_be_hidden()
    assert axe_violations(page) == []


def test_practice_shows_that_a_text_goes_on_too(page: Page):
    campaign = make_hits()
    agree(page, campaign)
    page.set_viewport_size({"width": 320, "height": 300})
    page.goto(reverse("practice", args=[campaign.code, 1]))
    page.locator("#text-below").evaluate(
        "text => { text.textContent = 'Many words. '.repeat(100); }"
    )
    page.evaluate("scrollTo(0, 0)")
    more = page.locator("#more")
    expect(more).to_be_visible()
    assert more.evaluate(IN_SIGHT)


@pytest.mark.parametrize("kind", ["side", "documents"])
def test_an_empty_slider_in_a_row_says_what_to_do_on_a_phone(visitor: Visitor, kind: str):
    page, _ = visitor.open_hit(MAKERS[kind](), **PHONE)
    expect_position(page, 1)
    hint = page.locator(".scale-row").first.get_by_text("Tap or click the line to answer")
    hint.scroll_into_view_if_needed()
    expect(hint).to_be_visible()
    page.locator("[role=slider]").first.tap()
    expect(hint).to_be_hidden()


@pytest.mark.parametrize("kind", ["side", "ranking"])
@pytest.mark.parametrize("has_script", [True, False])
def test_a_text_of_a_screen_is_reported_with_the_answer(
    visitor: Visitor, kind: str, has_script: bool
):
    page, assignment = visitor.open_hit(MAKERS[kind](), java_script_enabled=has_script)

    def answer() -> None:
        for row in page.locator("#outputs > li").all():
            if kind == "ranking":
                row.locator("input[value='2']").check(force=True)
            elif has_script:
                row.locator("[role=slider]").click()
            else:
                row.locator(".radios input[value='50']").check()
        page.locator("#next").click()

    answer()
    progress = page.locator("#progress")
    expect(progress).to_contain_text("2 of")
    page.get_by_text("Something is wrong with these texts").click()
    page.get_by_label("The text is not displayed properly").check()
    page.get_by_label("Black text 2", exact=True).last.check()
    code = page.locator("[name=problem_item]:checked").get_attribute("value")
    answer()
    expect(progress).to_contain_text("3 of")
    expect(page.locator("[name=problem]:checked")).to_have_count(0)
    if has_script:
        expect_saved(page)
    report = TextReport.objects.get()
    assert (str(report.item.code), report.item.screen, report.reason) == (code, 2, "display")


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
