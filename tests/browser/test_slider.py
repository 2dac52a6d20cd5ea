"""The slider starts unset, shows no numbers, and works by keys, buttons and mouse in both directions."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.opening import PHONE, Visitor
from tests.browser.rating import expect_position, expect_saved, slider_place, stored_scores
from tests.factories import make_hits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_slider")]


@pytest.fixture
def mirrored(visitor: Visitor) -> Page:
    """A page in a right-to-left language."""
    page, _ = visitor.open_hit(make_hits(interface_language="ar"))
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    return page


def expect_score(page: Page, score: int) -> None:
    expect(page.locator("#slider")).to_have_attribute("aria-valuenow", str(score))
    expect(page.locator("#thumb")).to_be_visible()
    expect(page.locator("#next")).to_be_enabled()


def expect_unset(page: Page) -> None:
    expect(page.locator("#thumb")).to_be_hidden()
    expect(page.locator("#next")).to_be_disabled()
    expect(page.locator("#slider")).to_have_attribute("aria-valuetext", "not set yet")


def thumb_share(page: Page) -> float:
    """The position of the thumb's centre as a share of the slider, from the left."""
    thumb, slider = (page.locator(name).bounding_box() for name in ("#thumb", "#slider"))
    assert thumb and slider
    return (thumb["x"] + thumb["width"] / 2 - slider["x"]) / slider["width"]


def test_it_starts_unset_and_is_unset_again_for_the_next_item(hit):
    page, _ = hit
    expect_unset(page)
    page.keyboard.press("Enter")
    expect_position(page, 1)
    page.keyboard.press("End")
    expect_score(page, 100)
    page.keyboard.press("Enter")
    expect_position(page, 2)
    expect_unset(page)


def test_no_number_is_shown_while_rating(hit):
    page, _ = hit
    page.keyboard.type("73")
    expect_score(page, 73)
    # Only the texts and the progress may contain digits.
    parts = page.locator("#statement, .question, .controls, #save-state")
    expect(parts).to_have_count(4)
    for part in parts.all():
        assert not re.search(r"\d", part.inner_text())
    expect(page.get_by_text("73")).to_have_count(0)
    expect(page.locator("[title]")).to_have_count(0)
    expect(page).to_have_title("1 of 40")
    generated = page.locator(".controls *").evaluate_all(
        "elements => elements.flatMap(element => ['::before', '::after'].map("
        "part => getComputedStyle(element, part).content))"
    )
    assert set(generated) <= {"none", "normal"}


WORDS = {
    "Home": "not at all",
    "05": "hardly",
    "30": "a little",
    "50": "about half",
    "80": "mostly",
    "99": "almost completely",
    "End": "completely",
}


def test_a_screen_reader_hears_the_value_in_words(hit):
    page, _ = hit
    for position, (keys, words) in enumerate(WORDS.items(), start=1):
        expect_position(page, position)
        press(page, keys)
        expect(page.locator("#slider")).to_have_attribute("aria-valuetext", words)
        page.keyboard.press("Enter")


def press(page: Page, keys: str) -> None:
    """Press named keys, separated by spaces, or type digits."""
    for key in keys.split():
        if key.isdecimal():
            page.keyboard.type(key)
        else:
            page.keyboard.press(key)


def test_its_name_and_description_are_the_statement_and_the_texts(hit):
    page, _ = hit
    statement = page.locator("#statement").inner_text()
    above, below = (page.locator(name).inner_text() for name in ("#text-above", "#text-below"))
    expect(page.get_by_role("slider")).to_have_accessible_name(statement)
    description = f"Gray text: {above} Black text: {below}"
    expect(page.get_by_role("slider")).to_have_accessible_description(description)


SCORES_BY_KEYS = {
    "7": 70,
    "73": 73,
    "100": 100,
    "0": 0,
    "05": 5,
    "737": 70,  # 737 is not a score, so the last digit starts a new one.
    "ArrowRight": 50,  # From unset, the first step starts in the middle.
    "ArrowLeft": 50,
    "50 ArrowRight": 51,
    "50 ArrowUp": 51,
    "50 ArrowLeft": 49,
    "50 ArrowDown": 49,
    "50 PageUp": 60,
    "50 PageDown": 40,
    "50 Home": 0,
    "50 End": 100,
    "Home ArrowLeft": 0,
    "End ArrowRight": 100,
    "95 PageUp": 100,
    "05 PageDown": 0,
}


def test_scores_set_by_keys_are_stored(hit):
    page, assignment = hit
    for position, (keys, score) in enumerate(SCORES_BY_KEYS.items(), start=1):
        expect_position(page, position)
        press(page, keys)
        expect_score(page, score)
        assert thumb_share(page) == pytest.approx(score / 100, abs=0.005)
        page.keyboard.press("Enter")
    expect_saved(page)
    assert stored_scores(assignment) == list(SCORES_BY_KEYS.values())


def test_digits_with_a_pause_between_them_are_two_numbers(hit):
    page, _ = hit
    press(page, "7")
    page.wait_for_timeout(1_000)
    press(page, "3")
    expect_score(page, 30)


def test_the_step_buttons_move_it_by_one(hit):
    page, assignment = hit
    more = page.get_by_role("button", name="A little more")
    less = page.get_by_role("button", name="A little less")
    more.click()
    expect_score(page, 50)
    more.click()
    more.click()
    less.click()
    expect_score(page, 51)
    page.locator("#next").click()
    expect_saved(page)
    assert stored_scores(assignment) == [51]


def test_a_click_and_a_drag_set_it(hit):
    page, assignment = hit
    page.mouse.click(*slider_place(page, 23))
    expect_score(page, 23)
    page.mouse.move(*slider_place(page, 30))
    page.mouse.down()
    page.mouse.move(*slider_place(page, 60), steps=4)
    expect_score(page, 60)
    # The pointer may leave the slider.
    x, y = slider_place(page, 100)
    page.mouse.move(x + 60, y + 90, steps=4)
    expect_score(page, 100)
    page.mouse.move(*slider_place(page, 88), steps=4)
    page.mouse.up()
    page.mouse.move(*slider_place(page, 10))
    expect_score(page, 88)
    page.locator("#next").click()
    expect_saved(page)
    assert stored_scores(assignment) == [88]


def test_the_other_mouse_button_does_not_set_it(hit):
    page, _ = hit
    page.mouse.click(*slider_place(page, 23), button="right")
    expect_unset(page)


def has_outline(page: Page, selector: str) -> bool:
    return page.locator(selector).evaluate(
        "element => [element, ...element.querySelectorAll('.track')]"
        ".map(part => getComputedStyle(part))"
        ".some(style => style.outlineStyle === 'solid' && parseFloat(style.outlineWidth) >= 3)"
    )


def test_the_focus_is_visible_on_every_control(hit):
    page, _ = hit
    page.keyboard.press("End")
    for name in ("#slider", "[data-by='-1']", "#next", "[data-by='1']"):
        expect(page.locator(name)).to_be_focused()
        assert has_outline(page, name), name
        page.keyboard.press("Tab")


def test_the_focus_is_not_drawn_for_a_pointer_until_a_key_is_pressed(hit):
    page, _ = hit
    page.mouse.click(*slider_place(page, 40))
    page.locator("#next").click()
    expect_position(page, 2)
    expect(page.locator("#slider")).to_be_focused()
    assert not has_outline(page, "#slider")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(page.locator("#slider")).to_be_focused()
    assert has_outline(page, "#slider")


MIRRORED_SCORES_BY_KEYS = {
    "50 ArrowLeft": 51,
    "50 ArrowRight": 49,
    "50 ArrowUp": 51,
    "50 ArrowDown": 49,
    "Home": 0,
    "End": 100,
    "30": 30,
}


def test_it_is_mirrored_for_pages_written_from_right_to_left(mirrored: Page):
    for position, (keys, score) in enumerate(MIRRORED_SCORES_BY_KEYS.items(), start=1):
        expect_position(mirrored, position)
        press(mirrored, keys)
        expect_score(mirrored, score)
        assert thumb_share(mirrored) == pytest.approx(1 - score / 100, abs=0.005)
        mirrored.keyboard.press("Enter")


def test_the_pointer_is_mirrored_too(mirrored: Page):
    box = mirrored.locator("#slider").bounding_box()
    assert box is not None
    mirrored.mouse.click(box["x"] + box["width"] * 0.2, box["y"] + box["height"] / 2)
    expect(mirrored.locator("#slider")).to_have_attribute("aria-valuenow", "80")
    ends = [mirrored.locator(".ends span").nth(i).bounding_box() for i in (0, 1)]
    assert ends[0]["x"] > ends[1]["x"]


def test_targets_are_large_enough_for_a_thumb(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), **PHONE)
    controls = page.locator("#slider, .steps button")
    expect(controls).to_have_count(4)
    for control in controls.all():
        box = control.bounding_box()
        assert box["width"] >= 44 and box["height"] >= 44
