"""Every text is marked with its language and direction, on the page, in examples and in items."""

from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from da_platform.catalogues import name_in_itself
from hits.models import Campaign
from hits.rating.practice import statement_for
from tests.browser.campaigns import make_hits_between
from tests.browser.opening import PHONE, Visitor
from tests.browser.rating import (
    agree,
    expect_position,
    expect_saved,
    rate_by_keys,
    slider_place,
    stored_scores,
)
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import HIDDEN_PARTS
from tests.factories import make_hits
from tests.hits.test_kinds_in_words import MAKERS
from tests.script_direction import direction_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_languages")]


def expect_language(locator: Locator, language: str, direction: str) -> None:
    expect(locator).to_have_attribute("lang", language)
    assert locator.evaluate("element => getComputedStyle(element).direction") == direction


def test_an_arabic_campaign_is_right_to_left_everywhere(page: Page):
    campaign = make_hits_between("en", "ar")
    agree(page, campaign)
    expect_language(page.locator("html"), "ar", "rtl")
    for text in page.locator(".example .text").all():
        expect_language(text, "ar", "rtl")
    page.locator("a.button").click()
    expect_language(page.locator("#statement"), "ar", "rtl")
    expect_language(page.locator("#text-above"), "ar", "rtl")
    # The page's script has run, so nothing moves any more.
    expect(page.locator("#slider")).to_be_focused()
    page.mouse.click(*slider_place(page, 90))
    page.locator("#next").click()
    expect_language(page.locator(".feedback"), "ar", "rtl")


def test_arabic_items_are_rated_on_a_mirrored_page(visitor: Visitor):
    page, assignment = visitor.open_hit(make_hits_between("en", "ar"), **PHONE)
    expect_language(page.locator("html"), "ar", "rtl")
    expect_language(page.locator("#statement"), "ar", "rtl")
    expect_language(page.locator("#text-above"), "ar", "rtl")
    expect_language(page.locator("#text-below"), "ar", "rtl")
    page.touchscreen.tap(*slider_place(page, 80))
    page.locator("#next").tap()
    expect_position(page, 2)
    expect_language(page.locator("#text-below"), "ar", "rtl")
    expect_saved(page)
    assert stored_scores(assignment) == [80]


def test_arabic_items_on_an_english_page_keep_their_own_direction(visitor: Visitor):
    campaign = make_hits_between("en", "ar", interface_language="en")
    page, _ = visitor.open_hit(campaign)
    expect_language(page.locator("html"), "en", "ltr")
    expect_language(page.locator("#statement"), "ar", "rtl")
    expect_language(page.locator("#text-below"), "ar", "rtl")


# The pages that differ between kinds of task; the others are checked for one kind.
PAGES_OF_A_KIND: tuple[tuple[Any, ...], ...] = (
    ("preview_landing",),
    ("preview_instructions",),
    ("preview_practice", 1),
    ("preview_item", 1, 1),
)
OTHER_PAGES: tuple[tuple[Any, ...], ...] = (
    ("preview_privacy",),
    ("preview_check",),
    ("preview_finish", 1),
    ("preview_done", 1),
    ("decline",),
)
WIDTHS = ({"width": 320, "height": 568}, {"width": 1280, "height": 800})


def test_work_in_every_language_fits_a_narrow_phone(visitor: Visitor):
    page, assignment = visitor.open_hit(make_hits(), **PHONE)
    for language, _ in settings.LANGUAGES:
        Campaign.objects.update(target_language=language, interface_language=language)
        for name in ("rate", "stop"):
            page.goto(reverse(name, args=[assignment.code]))
            side = direction_of(name_in_itself(language))
            expect_language(page.locator("html"), language, side)
            assert page.evaluate(HIDDEN_PARTS) == [], (language, name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rating", "ranking", "editing"])
def test_every_page_in_every_language_fits_phones_and_desktops(visitor: Visitor, kind: str):
    campaign = MAKERS[kind](pay_per_hit="2.50", run_by="Example University")
    pages = PAGES_OF_A_KIND + (OTHER_PAGES if kind == "rating" else ())
    page = staff_context(visitor, "superuser").new_page()
    for language, _ in settings.LANGUAGES:
        Campaign.objects.update(target_language=language, interface_language=language)
        for name, *numbers in pages:
            page.goto(reverse(name, args=[campaign.code, *numbers]))
            expect_language(page.locator("html"), language, direction_of(name_in_itself(language)))
            for size in WIDTHS:
                page.set_viewport_size(size)  # type: ignore[arg-type]
                assert page.evaluate(HIDDEN_PARTS) == [], (language, name, size)


def test_a_chinese_campaign_is_marked_as_chinese(visitor: Visitor):
    campaign = make_hits_between("en", "zh")
    page, assignment = visitor.open_hit(campaign)
    expect_language(page.locator("html"), "zh-hans", "ltr")
    expect_language(page.locator("#statement"), "zh", "ltr")
    expect(page.locator("#statement")).to_have_text(statement_for("zh", "reference"))
    expect_language(page.locator("#text-above"), "zh", "ltr")
    expect_language(page.locator("#text-below"), "zh", "ltr")
    rate_by_keys(page, [33, 66])
    expect_saved(page)
    assert stored_scores(assignment) == [33, 66]


def test_a_source_based_campaign_shows_two_languages_in_two_directions(visitor: Visitor):
    campaign = make_hits_between("ar", "en", task=Campaign.Task.SOURCE_ADEQUACY)
    page, assignment = visitor.open_hit(campaign)
    for position in (1, 2):
        expect_position(page, position)
        item = assignment.hit.items.select_related("translation__segment").get(position=position)
        expect_language(page.locator("#text-above"), "ar", "rtl")
        expect(page.locator("#text-above")).to_have_text(item.translation.segment.source)
        expect_language(page.locator("#text-below"), "en", "ltr")
        expect(page.locator("#text-below")).to_have_text(item.text)
        rate_by_keys(page, [50], first=position)
    assert item.translation.segment.reference not in page.content()


def test_so_does_its_practice(page: Page):
    agree(page, make_hits_between("ar", "en", task=Campaign.Task.SOURCE_ADEQUACY))
    for example in page.locator(".example").all():
        expect_language(example.locator(".text-above"), "ar", "rtl")
        expect_language(example.locator(".text-below"), "en", "ltr")
    page.locator("a.button").click()
    expect_language(page.locator("#text-above"), "ar", "rtl")
    expect_language(page.locator("#text-below"), "en", "ltr")


def test_a_fluency_campaign_shows_no_gray_text(page: Page, visitor: Visitor):
    campaign = make_hits_between("de", "en", n_segments=20, task=Campaign.Task.FLUENCY)
    agree(page, campaign)
    expect(page.locator(".text-above")).to_have_count(0)
    page.locator("a.button").click()
    expect(page.locator("#slider")).to_be_visible()
    expect(page.locator(".text-above")).to_have_count(0)
    rating, assignment = visitor.open_hit(campaign)
    expect(rating.locator("#statement")).to_have_text("The text is fluent English.")
    rate_by_keys(rating, [20, 90])
    expect_position(rating, 3)
    expect(rating.locator(".text-above")).to_have_count(0)
    expect(rating.get_by_role("slider")).to_have_accessible_description(
        rating.locator("#text-below").inner_text()
    )
    expect_saved(rating)
    assert stored_scores(assignment) == [20, 90]
