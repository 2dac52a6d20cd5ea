"""A whole ranking HIT by keyboard and by touch, with the network away in the middle."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

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


def drag(page: Page, row: Locator, target: Locator, *, by_touch: bool = False) -> None:
    """Drag a text by its grip to just before another, by mouse or with a finger."""
    grip, box = row.locator(".grip").bounding_box(), target.bounding_box()
    assert grip and box
    start = (grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    end = (start[0], box["y"] + 3)
    if not by_touch:
        page.mouse.move(*start)
        page.mouse.down()
        page.mouse.move(*end, steps=5)
        page.mouse.up()
        return
    fingers = page.context.new_cdp_session(page)
    steps = [(*start, "touchStart"), *((end[0], end[1], "touchMove"),) * 2, (0, 0, "touchEnd")]
    for x, y, kind in steps:
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def tall(width: int) -> dict[str, Any]:
    """A window that shows a whole screen, so that a drag does not depend on scrolling."""
    return {"viewport": {"width": width, "height": 1600}}


def codes_of(page: Page) -> list[str | None]:
    return [row.locator(".text").get_attribute("id") for row in page.locator("#outputs > li").all()]


def ranks_given(page: Page) -> list[str]:
    return [
        row.locator("input:checked").get_attribute("value") or ""
        for row in page.locator("#outputs > li").all()
    ]


def stored_ranks(assignment: Assignment, screen: int) -> dict[str, int | None]:
    ranks = Rank.objects.filter(assignment=assignment, item__screen=screen).select_related("item")
    return {f"text-{row.item.code}": row.rank for row in ranks}


def test_a_whole_hit_is_ranked_by_dragging_with_a_finger(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(ranking_campaign(), **PHONE | tall(320))
    dragged = {}
    for position in (1, 2, 3):
        expect_position(page, position)
        rows = page.locator("#outputs > li")
        codes = codes_of(page)
        # The last becomes the first.
        drag(page, rows.last, rows.first, by_touch=True)
        assert codes_of(page) == [codes[-1], *codes[:-1]]
        dragged[position] = codes_of(page)
        # No tap: Chromium may take one right after a drag without a pause for the end of a fling.
        page.locator("#next").click()
    finish(page)
    for position, codes in dragged.items():
        expected = {code: rank for rank, code in enumerate(codes, start=1)}
        assert stored_ranks(assignment, position) == expected


def test_dragging_keeps_equal_texts_equal(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(ranking_campaign(systems=tuple("ABCDE")), **tall(1280))
    expect_position(page, 1)
    rows = page.locator("#outputs > li")
    for rank in "11223":
        page.keyboard.press(rank)
    # A drag that moves nothing changes nothing.
    drag(page, rows.nth(2), rows.nth(2))
    assert ranks_given(page) == list("11223")
    # The last goes to the front, alone, and then between the two that are the best, as their equal.
    drag(page, rows.last, rows.first)
    assert ranks_given(page) == list("12233")
    drag(page, rows.first, rows.nth(2))
    assert ranks_given(page) == list("11122")
    # Only the grip drags, so that the text itself can be selected.
    assert not rows.first.evaluate("row => row.draggable")
    order = codes_of(page)
    page.locator("#next").click()
    expect_position(page, 2)
    expect_saved(page)
    assert stored_ranks(assignment, 1) == dict(zip(order, (1, 1, 1, 2, 2), strict=True))


def test_two_outputs_stand_side_by_side_with_two_ranks(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(ranking_campaign(outputs_per_screen=2))
    for position in (1, 2, 3):
        expect_position(page, position)
        boxes = [row.bounding_box() for row in page.locator("#outputs > li").all()]
        left, right = (box for box in boxes if box)
        assert left["y"] == right["y"] and left["x"] + left["width"] <= right["x"]
        first = page.locator("#outputs > li").first.get_by_role("radio")
        assert [radio.get_attribute("value") for radio in first.all()] == ["1", "2"]
        assert axe_violations(page) == []
        if position == 1:
            # The right one goes to the left.
            codes, grip = codes_of(page), page.locator(".grip").last
            grip.hover()
            page.mouse.down()
            page.mouse.move(left["x"] + 5, left["y"] + 20, steps=5)
            page.mouse.up()
            assert codes_of(page) == codes[::-1]
        else:
            page.keyboard.press("2")
            page.keyboard.press("1")
        page.locator("#next").click()
    finish(page)
    assert list(stored_ranks(assignment, 1).values()) in ([1, 2], [2, 1])
    phone, _ = visitor.open_hit(ranking_campaign(outputs_per_screen=2), **PHONE)
    upper, lower = (row.bounding_box() for row in phone.locator("#outputs > li").all())
    assert upper and lower and upper["x"] == lower["x"] and upper["y"] < lower["y"]


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
