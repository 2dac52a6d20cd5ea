"""Pages that everyone can read: axe, dark mode, zoom, large text, little motion, narrow screens."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.tour import tour
from tests.factories import make_hits

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser_looks"),
]

# axe's rules for WCAG 2.2 A and AA, and what it calls best practice.
AXE_OPTIONS = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}

# Of every text and control: is it inside the page, whole, and on top once it is scrolled to?
HIDDEN_PARTS = """() => {
  const parts = [...document.querySelectorAll(
    "h1, h2, p, li, dt, dd, a, button, legend, label, textarea, output, .ends span, #slider, .tick"
  )].filter((part) => part.checkVisibility() && !part.closest(".visually-hidden"));
  // The slider's track is a little wider than the slider, so that its ends can be reached.
  const isCut = (part) =>
    part.id !== "slider" &&
    part.scrollWidth > part.clientWidth + 1 &&
    getComputedStyle(part).display !== "inline";
  const isOutside = (box) => box.left < -1 || box.right > document.documentElement.clientWidth + 1;
  const isCovered = (part, box) => {
    const x = (box.left + box.right) / 2;
    const y = (box.top + box.bottom) / 2;
    const top = document.elementFromPoint(x, y);
    return !top || !(part.contains(top) || top.contains(part));
  };
  return parts.flatMap((part) => {
    part.scrollIntoView({ block: "center" });
    const box = part.getBoundingClientRect();
    const faults = [];
    if (isCut(part)) faults.push("cut");
    if (isOutside(box)) faults.push("outside");
    if (isCovered(part, box)) faults.push("covered");
    return faults.length ? [`${part.tagName} ${part.className} ${part.textContent.trim()}: ${faults}`] : [];
  });
}"""


@pytest.fixture(autouse=True)
def a_refused_page_is_expected(complaints: Complaints) -> None:
    complaints.expected.append("404 (Not Found)")


@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_axe_finds_no_violation_in_light_or_dark(visitor: Visitor, device: str):
    axe = Axe()
    for name, page in tour(visitor, **PHONE if device == "phone" else {}):
        for scheme in ("light", "dark"):
            # Without the transition of a colour, which would be measured half way.
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            results = axe.run(page, options=AXE_OPTIONS)
            assert results.violations_count == 0, f"{name}, {scheme}: {results.generate_report()}"


def test_nothing_is_covered_or_cut_at_200_percent_zoom(visitor: Visitor):
    zoomed = {"viewport": {"width": 640, "height": 400}, "device_scale_factor": 2}
    for name, page in tour(visitor, **zoomed):
        assert page.evaluate(HIDDEN_PARTS) == [], name


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_is_covered_or_cut_with_text_of_twice_the_size(visitor: Visitor, width: int):
    for name, page in tour(visitor, viewport={"width": width, "height": 760}):
        # What the setting for larger text does in a browser.
        cdp = page.context.new_cdp_session(page)
        cdp.send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
        page.reload()
        size = page.locator("html").evaluate("root => getComputedStyle(root).fontSize")
        assert size == "32px"
        assert page.evaluate(HIDDEN_PARTS) == [], name


def test_nothing_is_covered_or_cut_on_a_narrow_phone(visitor: Visitor):
    for name, page in tour(visitor, **PHONE):
        assert page.evaluate(HIDDEN_PARTS) == [], name


def colour(page: Page, selector: str, of: str = "color") -> str:
    return page.locator(selector).first.evaluate(
        "(element, of) => getComputedStyle(element).getPropertyValue(of)", of
    )


def test_the_texts_stay_gray_and_black_on_white_paper_in_dark_mode(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), color_scheme="dark")
    assert colour(page, "#text-below") == "rgb(0, 0, 0)"
    assert colour(page, ".texts", "background-color") == "rgb(255, 255, 255)"
    gray = [int(part) for part in colour(page, "#text-above")[4:-1].split(",")]
    assert max(gray) - min(gray) < 20 and 80 < gray[0] < 120
    assert colour(page, "body", "background-color") == "rgb(20, 23, 28)"
    assert colour(page, "#statement") == "rgb(238, 241, 245)"


def test_nothing_moves_for_those_who_asked_for_less_motion(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), reduced_motion="reduce")
    moving = page.locator("*").evaluate_all(
        "elements => elements.map(element => getComputedStyle(element)).filter(style => "
        "style.transitionDuration !== '0s' || style.animationName !== 'none').length"
    )
    assert moving == 0


def test_the_slider_can_be_seen_in_forced_colours(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), forced_colors="active")
    expect(page.locator("#thumb")).to_be_hidden()
    page.keyboard.type("30")
    expect(page.locator("#thumb")).to_be_visible()
    assert colour(page, "#thumb", "background-color") != colour(page, "body", "background-color")
    assert colour(page, ".track", "border-top-color") != colour(page, "body", "background-color")
