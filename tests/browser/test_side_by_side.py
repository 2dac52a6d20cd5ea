"""A whole HIT side by side by keyboard and by touch, with the network away in the middle, and without scripts."""

import pytest
from playwright.sync_api import Page, expect

from hits.models import Assignment, Rating
from hits.ranking.screens import order_shown
from hits.task_kinds import kind_of
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.rating import expect_position, expect_saved
from tests.browser.test_looks import assert_accessible
from tests.side_by_side.campaigns import side_campaign

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_slider")]

NARROW = PHONE | {"viewport": {"width": 320, "height": 640}}


def n_screens(assignment: Assignment) -> int:
    return kind_of(assignment.hit.campaign).n_screens(assignment.hit)


def finish(page: Page) -> None:
    page.wait_for_url("**/finish/")
    page.locator("main button").last.click()
    page.wait_for_url("**/done/")


def set_by_keys(page: Page) -> None:
    """Score all texts of a screen from its first slider: 20, 30 and so on."""
    n_outputs = page.locator("#outputs > li").count()
    for place in range(n_outputs):
        slider = page.locator("#outputs [role=slider]").nth(place)
        expect(slider).to_be_focused()
        page.keyboard.press(str(place + 2))
        expect(slider).to_have_attribute("aria-valuenow", str(10 * (place + 2)))
        page.keyboard.press("Enter")


def test_a_whole_hit_by_keyboard_with_the_network_away(
    visitor: Visitor, complaints: Complaints
) -> None:
    complaints.expected.append("Failed to load resource")
    page, assignment = visitor.open_hit(side_campaign())
    for position in range(1, n_screens(assignment) + 1):
        expect_position(page, position)
        expect(page.locator("#next")).to_be_disabled()
        if position == 3:
            page.context.set_offline(True)
        set_by_keys(page)
        if position == 4:
            page.context.set_offline(False)
            expect_saved(page)
    finish(page)
    ratings = Rating.objects.filter(assignment=assignment)
    assert ratings.count() == 40
    assert all(rating.score == 10 * ((rating.place or 1) + 1) for rating in ratings)
    for screen in range(1, n_screens(assignment) + 1):
        items = list(assignment.hit.items.filter(screen=screen).order_by("position"))
        shown = [item.pk for item in order_shown(assignment, screen, items)]
        stored = ratings.filter(item__screen=screen).order_by("place")
        assert list(stored.values_list("item", flat=True)) == shown


def test_a_whole_hit_by_touch_on_a_narrow_phone(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(side_campaign(), **NARROW)
    for position in range(1, n_screens(assignment) + 1):
        expect_position(page, position)
        for row in page.locator("#outputs > li").all():
            row.locator("[role=slider]").scroll_into_view_if_needed()
            row.locator("[role=slider]").tap()
            row.locator(".step").last.tap()
        if position == 1:
            assert_accessible(page, "side by side on a phone")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator("#next").tap()
    finish(page)
    scores = set(Rating.objects.values_list("score", flat=True))
    assert scores <= {50, 51, 52}


def test_screen_readers_get_a_name_and_both_texts_for_every_slider(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(side_campaign())
    for position in (1, 2):
        expect_position(page, position)
        [screen] = kind_of(assignment.hit.campaign).screens(
            assignment, first=position, last=position
        )
        for number, output in enumerate(screen["outputs"], 1):
            slider = page.get_by_role("slider", name=f"Black text {number}", exact=True)
            expect(slider).to_have_accessible_description(
                f"Gray text: {screen['above']} {output['text']}"
            )
        set_by_keys(page)
    assert_accessible(page, "side by side")


def test_scores_survive_a_reload_and_are_stored_once(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(side_campaign())
    expect_position(page, 1)
    set_by_keys(page)
    expect_position(page, 2)
    expect_saved(page)
    stored = Rating.objects.filter(assignment=assignment).count()
    page.reload()
    expect_position(page, 2)
    assert Rating.objects.filter(assignment=assignment).count() == stored


def test_a_whole_hit_without_scripts(visitor: Visitor) -> None:
    page, assignment = visitor.open_hit(side_campaign(), java_script_enabled=False)
    total = n_screens(assignment)
    for position in range(1, total + 1):
        expect(page.locator("#progress")).to_have_text(f"{position} of {total}")
        for row in page.locator("#outputs > li").all():
            row.locator(".radios input[value='61']").check()
        page.locator("#next").click()
    finish(page)
    assert set(Rating.objects.values_list("score", flat=True)) == {61}
