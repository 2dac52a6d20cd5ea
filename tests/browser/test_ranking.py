"""A whole ranking HIT by keyboard and by touch, with the network away in the middle."""

import pytest
from playwright.sync_api import Page, expect

from hits.models import Assignment, Rank
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.rating import expect_position, expect_saved
from tests.browser.test_looks import axe_violations
from tests.ranking.campaigns import ranking_campaign

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
