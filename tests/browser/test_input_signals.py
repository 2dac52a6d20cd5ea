"""The rating page counts how items are rated, keeps the counts across reloads, and hides the canary."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits.models import Assignment, InputSignals
from hits.rating.canary import canary_of
from hits.rating.signals import FOCUS_LOST, KEYS, POINTER, SCRIPTED, TOUCHES
from tests.browser.opening import PHONE, Visitor
from tests.browser.rating import expect_position, expect_saved, rate_by_keys, slider_place
from tests.browser.test_looks import axe_violations
from tests.factories import make_hits, rate_items

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_signals")]

SIZE = 40
# An event made by a script, and a click on Next that no person made.
PRESS = """() => document.getElementById("slider").dispatchEvent(
  new KeyboardEvent("keydown", { key: "5", bubbles: true }))"""
SEND = "() => document.getElementById('rating-form').requestSubmit()"
LEAVE = """() => {
  window.dispatchEvent(new Event("blur"));
  window.dispatchEvent(new Event("focus"));
}"""


def near_the_end(visitor: Visitor, n_left: int, **fields: Any) -> tuple[Page, Assignment]:
    """Open a HIT of which this many items are left."""
    options = fields.pop("device", {})
    page, assignment = visitor.open_hit(make_hits(**fields), **options)
    rate_items(assignment, n_items=SIZE - n_left)
    page.reload()
    expect_position(page, SIZE - n_left + 1)
    return page, assignment


def submit(page: Page, assignment: Assignment) -> InputSignals:
    # Scripts of the page have run then; the button is there before.
    page.wait_for_load_state()
    page.locator("main button").click()
    expect(page.locator("output")).to_be_visible()
    return InputSignals.objects.get(assignment=assignment)


def test_keys_pointer_and_leaving_are_counted_by_item(visitor):
    page, assignment = near_the_end(visitor, 3)
    rate_by_keys(page, [73], first=38)
    expect_position(page, 39)
    page.mouse.move(10, 10)
    page.mouse.click(*slider_place(page, 40))
    page.locator("#next").click()
    expect_position(page, 40)
    page.evaluate(LEAVE)
    rate_by_keys(page, [20], first=40)
    page.locator("#comment").wait_for()
    signals = submit(page, assignment)
    by_keys, by_pointer, away = signals.items[-3:]
    assert signals.items[:37] == [None] * 37
    # Two digits and Enter; more if the machine was slow.
    assert by_keys[KEYS] >= 3 and by_keys[POINTER] == 0 and by_keys[SCRIPTED] == 0
    assert by_pointer[POINTER] >= 2 and by_pointer[KEYS] == 0 and by_pointer[SCRIPTED] == 0
    assert away[FOCUS_LOST] == 1
    assert (signals.n_items_scripted, signals.n_items_unfocused) == (0, 1)


def test_input_made_by_a_script_is_noted(visitor):
    page, assignment = near_the_end(visitor, 1)
    page.evaluate(PRESS)
    page.evaluate(SEND)
    page.locator("#comment").wait_for()
    signals = submit(page, assignment)
    # The key, and a score that nobody set.
    assert signals.items[-1] == [0, 0, 0, 0, 2]
    assert signals.n_items_without_input == signals.n_items_scripted == 1


def test_counts_survive_a_reload(visitor):
    page, assignment = near_the_end(visitor, 2)
    rate_by_keys(page, [30], first=39)
    expect_saved(page)
    page.reload()
    rate_by_keys(page, [60], first=40)
    page.locator("#comment").wait_for()
    page.reload()
    signals = submit(page, assignment)
    assert all(item[KEYS] >= 3 for item in signals.items[-2:])


def test_touches_are_counted_on_a_phone(visitor):
    page, assignment = near_the_end(visitor, 1, device=PHONE)
    page.touchscreen.tap(*slider_place(page, 70))
    page.locator("#next").tap()
    page.locator("#comment").wait_for()
    signals = submit(page, assignment)
    assert signals.items[-1][TOUCHES] == 2 and signals.items[-1][SCRIPTED] == 0


def test_pasting_into_the_comment_is_counted(visitor):
    page, assignment = near_the_end(visitor, 1)
    rate_by_keys(page, [50], first=40)
    comment = page.locator("#comment")
    comment.wait_for()
    page.wait_for_load_state()
    comment.fill("copied")
    comment.press("Control+a")
    comment.press("Control+c")
    comment.press("Control+v")
    assert submit(page, assignment).n_comment_pastes == 1


def test_nothing_is_kept_if_the_campaign_records_nothing(visitor):
    page, assignment = near_the_end(visitor, 1, records_signals=False)
    rate_by_keys(page, [50], first=40)
    page.locator("#comment").wait_for()
    assert page.evaluate("() => Object.keys(localStorage)") == []
    page.locator("main button").click()
    expect(page.locator("output")).to_be_visible()
    assert not InputSignals.objects.filter(assignment=assignment).exists()


def test_the_canary_is_in_the_source_but_neither_seen_nor_announced(visitor):
    page, assignment = visitor.open_hit(make_hits(has_canary=True))
    expect_position(page, 1)
    instruction = canary_of(assignment).instruction
    assert instruction in page.content()
    assert instruction not in page.locator("body").inner_text()
    assert "automated" not in page.locator("body").aria_snapshot()
    expect(page.get_by_text(instruction)).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.get_by_text(instruction)).to_be_hidden()
    page.emulate_media(media="screen")
    assert axe_violations(page) == []
