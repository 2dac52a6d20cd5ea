"""A whole ranking HIT by keyboard and by touch, with the network away in the middle."""

import re

import pytest
from playwright.sync_api import Page, expect

from hits.models import Assignment, Rank
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.rating import expect_position, expect_saved
from tests.browser.test_looks import axe_violations
from tests.ranking.campaigns import ranking_campaign
from tests.recruits import right_answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_slider")]


def finish(page: Page) -> None:
    page.wait_for_url("**/finish/")
    page.locator("main button").last.click()
    page.wait_for_url("**/done/")


def test_a_whole_hit_by_keyboard_with_the_network_away(
    visitor: Visitor, complaints: Complaints
) -> None:
    complaints.expected.append("Failed to load resource")
    page, assignment = visitor.open_hit(ranking_campaign())
    for position in (1, 2, 3):
        expect_position(page, position)
        expect(page.locator("#next")).to_be_disabled()
        if position == 2:
            page.context.set_offline(True)
        n_outputs = page.locator("#outputs > li").count()
        for rank in range(n_outputs):
            page.keyboard.press(str(rank + 1))
        page.keyboard.press("Enter")
        if position == 2:
            page.context.set_offline(False)
    finish(page)
    in_order = Rank.objects.filter(assignment=assignment).order_by("item__screen", "place")
    assert [row.rank for row in in_order] == [row.place for row in in_order]
    assert Assignment.objects.get().completion_code


def test_a_whole_hit_by_touch_and_a_skipped_screen(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(ranking_campaign(), **PHONE)
    for position in (1, 2, 3):
        expect_position(page, position)
        if position == 2:
            page.locator("#skip summary").tap()
            page.locator("#skip input").first.check()
            page.locator("#skip button").tap()
            continue
        for row in page.locator("#outputs > li").all():
            row.locator("label").nth(2).tap()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert axe_violations(page) == []
        page.locator("#next").tap()
    finish(page)
    ranks = Rank.objects.filter(assignment=assignment)
    assert set(ranks.filter(item__screen=2).values_list("skip", flat=True)) == {"hard"}
    assert set(ranks.exclude(item__screen=2).values_list("rank", flat=True)) == {3}


def test_ranks_survive_a_reload_and_are_stored_once(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(ranking_campaign())
    expect_position(page, 1)
    for rank in range(page.locator("#outputs > li").count()):
        page.keyboard.press(str(rank + 1))
    page.keyboard.press("Enter")
    expect_position(page, 2)
    expect_saved(page)
    stored = Rank.objects.filter(assignment=assignment).count()
    page.reload()
    expect_position(page, 2)
    assert Rank.objects.filter(assignment=assignment).count() == stored


def test_a_whole_hit_without_scripts_from_consent_to_the_code(visitor: Visitor) -> None:
    campaign = ranking_campaign(is_open=True)
    page = visitor.open_context(java_script_enabled=False).new_page()
    page.goto(campaign.get_absolute_url())
    page.get_by_role("button").click()
    page.get_by_role("link", name="Start practice").click()
    for _ in range(3):
        page.locator("input[name='rank-copy'][value='1']").check(force=True)
        page.locator("input[name='rank-translation'][value='3']").check(force=True)
        page.locator("#practice-form button").click()
        expect(page.locator(".feedback-fine")).to_be_visible()
        page.locator("#then").click()
    page.get_by_label(right_answer(campaign), exact=True).check()
    page.get_by_role("button", name="Submit answer").click()
    for position in (1, 2, 3):
        expect(page.locator("#progress")).to_have_text(f"{position} of 3")
        if position == 3:
            page.locator("#skip summary").click()
            page.get_by_label("I do not understand the texts").check()
            page.get_by_role("button", name="Skip these texts").click()
            break
        for place, row in enumerate(page.locator("#outputs > li").all(), start=1):
            row.locator(f"input[value='{place}']").check(force=True)
        page.locator("#next").click()
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("output")).to_have_text(re.compile("^[2-9A-Z]{12}$"))
    assignment = Assignment.objects.get()
    ranks = Rank.objects.filter(assignment=assignment).order_by("item__screen", "place")
    # The order shown is stored, and the ranks follow it.
    assert all(row.rank == row.place for row in ranks if row.item.screen < 3)
    assert {row.skip for row in ranks if row.item.screen == 3} == {"hard"}


def test_dragging_texts_into_order_ranks_them(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(ranking_campaign())
    expect_position(page, 1)
    rows = page.locator("#outputs > li")
    codes = [row.locator(".text").get_attribute("id") for row in rows.all()]
    # The last becomes the first.
    rows.last.drag_to(rows.first, target_position={"x": 40, "y": 2})
    dragged = [row.locator(".text").get_attribute("id") for row in rows.all()]
    assert dragged == [codes[-1], *codes[:-1]]
    page.locator("#next").click()
    expect_position(page, 2)
    expect_saved(page)
    ranks = Rank.objects.filter(assignment=assignment, item__screen=1)
    assert {f"text-{row.item.code}": row.rank for row in ranks} == {
        code: rank for rank, code in enumerate(dragged, start=1)
    }


def test_a_screen_reader_hears_which_text_a_rank_is_for(visitor: Visitor) -> None:
    page, _ = visitor.open_hit(ranking_campaign(shows="both"))
    for position in (1, 2):
        expect_position(page, position)
        rows = page.locator("#outputs > li")
        for number, row in enumerate(rows.all(), start=1):
            group = page.get_by_role("group", name=f"Rank of text {number}", exact=True)
            described_by = group.get_attribute("aria-describedby")
            assert described_by == row.locator(".text").get_attribute("id")
            assert [
                radio.get_attribute("value") for radio in group.get_by_role("radio").all()
            ] == list("12345")
            page.keyboard.press("2")
        assert axe_violations(page) == []
        # The ties are announced by the radio buttons themselves; the next screen starts at its first text.
        page.keyboard.press("Enter")
    expect_position(page, 3)
    expect(page.locator("#outputs input").first).to_be_focused()
