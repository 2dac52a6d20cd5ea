"""Rating what is seen or heard: a whole HIT with pictures and sounds, by keyboard, on a phone, offline, without scripts."""

import base64
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits.media.detecting import FileType, type_of
from hits.models import Assignment
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.rating import (
    expect_position,
    expect_saved,
    rate_by_keys,
    slider_place,
    stored_scores,
    type_score,
)
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


def test_the_gray_text_follows_a_source_without_a_transcript(visitor: Visitor, tmp_path: Path):
    page, assignment = visitor.open_hit(media_campaign(tmp_path / "upload"))
    items = assignment.hit.items.order_by("position").select_related("translation__segment")
    sources = [item.translation.segment.source for item in items]
    start = next(place for place, source in enumerate(sources) if not source)
    rate_by_keys(page, [50] * start)
    expect_saved(page)
    page.reload()
    for position, source in enumerate(sources[start:], start=start + 1):
        expect_position(page, position)
        above = page.locator("#text-above")
        expect(above).to_have_text(source)
        expect(above).to_be_visible(visible=bool(source))
        if source and position > start + 1:
            return
        rate_by_keys(page, [50], first=position)


def test_earlier_segments_of_a_document_keep_their_media(visitor: Visitor, tmp_path: Path):
    campaign = media_campaign(tmp_path / "upload", presentation="document")
    page, assignment = visitor.open_hit(campaign)
    items = list(assignment.hit.items.order_by("position"))
    kinds = kinds_of(assignment)
    place = next(
        place
        for place in range(1, 40)
        if kinds[place - 1] == "audio" and items[place].run == items[place - 1].run
    )
    rate_by_keys(page, [50] * place)
    expect_position(page, place + 1)
    for _ in range(2):
        # As the script shows it, and as the server does after a reload.
        player = page.locator("#earlier-texts audio").last
        expect(player).to_be_visible()
        player.evaluate(
            "audio => audio.addEventListener('play', () => { audio.dataset.played = 'yes'; })"
        )
        player.focus()
        page.keyboard.press("Space")
        expect(player).to_have_attribute("data-played", "yes")
        expect_position(page, place + 1)
        expect_saved(page)
        page.reload()


def test_a_whole_hit_side_by_side_shows_each_source_once(visitor: Visitor, tmp_path: Path):
    campaign = media_campaign(tmp_path / "upload", presentation="side", outputs_per_screen=2)
    page, assignment = visitor.open_hit(campaign, **PHONE)
    first = {item.screen: item for item in assignment.hit.items.order_by("-position")}
    for screen, item in sorted(first.items()):
        expect_position(page, screen)
        media = item.translation.segment.media
        expect_media(page, media.kind if media else "")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        sliders = page.get_by_role("slider")
        for place in range(sliders.count()):
            sliders.nth(place).focus()
            page.keyboard.type("50")
        page.locator("#next").click()
    page.get_by_role("button", name="Submit").wait_for()
    assert assignment.ratings.count() == 40


RECORD = """async () => {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: "video/webm;codecs=vp8" });
  const chunks = [];
  let n_frames = 0;
  const stopped = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.ondataavailable = ({ data }) => { if (data.size) chunks.push(data); };
  recorder.start(40);
  const draw = () => {
    context.fillRect(n_frames, 0, 5, 5);
    n_frames += 1;
    if (chunks.length > 3) recorder.stop();
    else requestAnimationFrame(draw);
  };
  draw();
  await stopped;
  const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""


def test_a_video_is_played(visitor: Visitor, tmp_path: Path):
    # Recorded by the browser that plays it, so that no video has to be kept here.
    blank = visitor.open_context().new_page()
    video = base64.b64decode(blank.evaluate(RECORD))
    assert type_of(video) == FileType("video", "video/webm")
    page, assignment = visitor.open_hit(media_campaign(tmp_path / "upload", video=video))
    place = first_place(assignment, "video")
    rate_by_keys(page, [50] * (place - 1))
    expect_position(page, place)
    player = page.get_by_label("The source as a video")
    expect(player).to_have_js_property("videoWidth", 300)
    player.evaluate("video => { video.muted = true; }")
    player.focus()
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelector('#media video').currentTime > 0")
    assert page.locator("#media-problem").is_hidden()


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
    # Enter may have started it, and the space bar would pause it then.
    audio.evaluate(
        """audio => {
            audio.pause();
            audio.addEventListener('play', () => { audio.dataset.played = 'yes'; });
        }"""
    )
    page.keyboard.press("Space")
    expect(audio).to_have_attribute("data-played", "yes")
    assert (
        audio.evaluate("audio => audio.textTracks[0].cues?.length ?? audio.textTracks.length") == 1
    )


@pytest.mark.parametrize("has_script", [True, False])
def test_it_is_rated_by_touch_on_a_phone_with_and_without_scripts(
    visitor: Visitor, tmp_path: Path, has_script: bool
):
    campaign = media_campaign(tmp_path / "upload")
    page, assignment = visitor.open_hit(campaign, **PHONE, java_script_enabled=has_script)
    kinds = kinds_of(assignment)
    # Until a picture, a sound and a text have been rated.
    n_rated = 1 + max(kinds.index(kind) for kind in ("image", "audio", ""))
    for position, kind in enumerate(kinds[:n_rated], start=1):
        expect(page.locator("#progress")).to_have_text(f"{position} of 40")
        if has_script:
            expect_position(page, position)
            expect_media(page, kind)
        if kind:
            box = page.locator("#media > *").first.bounding_box()
            assert box and box["x"] >= 0 and box["x"] + box["width"] <= 320
        if has_script:
            page.touchscreen.tap(*slider_place(page, 60))
        else:
            page.locator(".radios input[value='60']").check()
        page.locator("#next").tap()
    expect(page.locator("#progress")).to_have_text(f"{n_rated + 1} of 40")
    if has_script:
        expect_saved(page)
    assert stored_scores(assignment) == [60] * n_rated


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
