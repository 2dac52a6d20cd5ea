"""Rating what is seen or heard: a whole HIT with pictures and sounds, by keyboard, on a phone, offline, without scripts."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits.models import Assignment
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.rating import expect_position, expect_saved, rate_by_keys, type_score
from tests.browser.test_looks import axe_violations
from tests.media import media_campaign

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_words")]


@pytest.fixture(autouse=True)
def media_folder(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_DIR = tmp_path / "kept"


def kinds_of(assignment: Assignment) -> list[str]:
    """The kind of media of each item, in order; empty for texts."""
    items = assignment.hit.items.order_by("position")
    kinds = items.values_list("translation__segment__media__kind", flat=True)
    return [kind or "" for kind in kinds]


def first_place(assignment: Assignment, kind: str) -> int:
    return kinds_of(assignment).index(kind) + 1


def expect_media(page: Page, kind: str) -> None:
    """Wait until the page shows this kind of media, loaded."""
    image, audio = page.locator("#media img"), page.locator("#media audio")
    expect(image).to_have_count(int(kind == "image"))
    expect(audio).to_have_count(int(kind == "audio"))
    if kind == "image":
        expect(image).to_be_visible()
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("image => image.naturalWidth") > 60
    if kind == "audio":
        expect(audio).to_have_js_property("readyState", 4)
    expect(page.locator("#media-problem")).to_be_hidden()


def test_a_whole_hit_with_pictures_and_sounds(visitor: Visitor, tmp_path: Path):
    page, assignment = visitor.open_hit(media_campaign(tmp_path / "upload"))
    seen = set()
    for position, kind in enumerate(kinds_of(assignment), start=1):
        expect_position(page, position)
        expect_media(page, kind)
        if kind not in seen:
            assert axe_violations(page) == [], kind
        seen.add(kind)
        type_score(page, 10 + position)
        page.keyboard.press("Enter")
    assert seen == {"", "image", "audio"}
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("completion code").wait_for()
    assert assignment.ratings.count() == 40


def test_the_player_is_used_by_keyboard_and_never_rates(visitor: Visitor, tmp_path: Path):
    page, assignment = visitor.open_hit(media_campaign(tmp_path / "upload"))
    place = first_place(assignment, "audio")
    rate_by_keys(page, [50] * (place - 1))
    expect_position(page, place)
    audio = page.get_by_label("The source as sound")
    expect(audio).to_have_js_property("readyState", 4)
    audio.focus()
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect_position(page, place)
    assert page.locator("#slider").get_attribute("class") is not None
    expect(page.locator("#next")).to_be_disabled()
    audio.evaluate(
        "audio => audio.addEventListener('play', () => { audio.dataset.played = 'yes'; })"
    )
    page.keyboard.press("Space")
    expect(audio).to_have_attribute("data-played", "yes")
    assert (
        audio.evaluate("audio => audio.textTracks[0].cues?.length ?? audio.textTracks.length") == 1
    )


@pytest.mark.parametrize("has_script", [True, False])
def test_it_fits_a_phone_with_and_without_scripts(
    visitor: Visitor, tmp_path: Path, has_script: bool
):
    campaign = media_campaign(tmp_path / "upload")
    page, assignment = visitor.open_hit(campaign, **PHONE, java_script_enabled=has_script)
    kind = kinds_of(assignment)[0]
    if kind:
        box = page.locator("#media > *").first.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 320
    if not has_script:
        page.locator(".radios input[value='60']").check()
        page.locator("#next").click()
        expect(page.locator("#progress")).to_have_text("2 of 40")


def test_without_a_connection_it_says_so_and_loads_when_it_is_back(
    visitor: Visitor, complaints: Complaints, tmp_path: Path
):
    complaints.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to load resource"]
    page, assignment = visitor.open_hit(media_campaign(tmp_path / "upload"))
    kinds = kinds_of(assignment)
    expect_media(page, kinds[0])
    place = next(p for p, kind in enumerate(kinds, start=1) if p > 1 and kind == "image")
    rate_by_keys(page, [50] * (place - 2))
    expect_position(page, place - 1)
    expect_saved(page)
    page.context.set_offline(True)
    type_score(page, 40)
    page.keyboard.press("Enter")
    expect_position(page, place)
    expect(page.get_by_text("could not be loaded")).to_be_visible()
    page.context.set_offline(False)
    expect_media(page, "image")
    expect_saved(page)
    assert assignment.ratings.count() == place - 1
