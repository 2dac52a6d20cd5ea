"""Accessible pages for workers: axe, dark mode, zoom, large text, reduced motion, narrow screens."""

from collections.abc import Sequence

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from hits.models import Item, Segment
from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.tour import tour
from tests.factories import make_hits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_looks")]

# axe's rules for WCAG 2.2 A and AA, and its best practices.
AXE_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
# Rules that depend on the size of the screen; the others judge the markup.
AXE_SIZE_RULES = ("color-contrast", "scrollable-region-focusable", "target-size")
RUN_AXE = """async (options) => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...options });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
}"""

# Texts and controls that are outside the page, cut or covered when they are scrolled to.
HIDDEN_PARTS = """async () => {
  const parts = [...document.querySelectorAll(
    "h1, h2, p, li, dt, dd, a, button, legend, label, textarea, output, .ends span, #slider, .tick"
  )].filter((part) => part.checkVisibility() && !part.closest(".visually-hidden, .skip"));
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
  const found = [];
  for (const part of parts) {
    if (!part.checkVisibility()) continue;
    part.scrollIntoView({ block: "center" });
    const box = part.getBoundingClientRect();
    const faults = [];
    if (isCut(part)) faults.push("cut");
    if (isOutside(box)) faults.push("outside");
    if (isCovered(part, box)) {
      // By something that scripts hide on scrolling, perhaps.
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (isCovered(part, part.getBoundingClientRect())) faults.push("covered");
    }
    if (faults.length) found.push(`${part.tagName} ${part.className} ${part.textContent.trim()}: ${faults}`);
  }
  return found;
}"""


# Whether the line at this share of a text is uncovered when it is scrolled to a bit above the middle.
LINE_IS_ON_TOP = """(text, share) => {
  const line = () => {
    const box = text.getBoundingClientRect();
    return { x: box.left + 20, y: box.top + 12 + share * (box.height - 24) };
  };
  scrollBy(0, line().y - innerHeight * 0.4);
  const { x, y } = line();
  return text.contains(document.elementFromPoint(x, y));
}"""

# A transition that is under way does not stop when the visitor starts to prefer less motion.
END_TRANSITIONS = "document.getAnimations().forEach((animation) => animation.cancel())"


@pytest.fixture(autouse=True)
def a_refused_page_is_expected(complaints: Complaints) -> None:
    complaints.expected.append("404 (Not Found)")


def axe_violations(page: Page, only: Sequence[str] = AXE_TAGS) -> list[str]:
    """The violations that axe finds in light mode, and those of contrast in dark mode."""
    # Otherwise colours would be measured in the middle of a transition.
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.evaluate(END_TRANSITIONS)
    page.evaluate(AXE_SCRIPT)
    light = page.evaluate(RUN_AXE, {"runOnly": list(only)})
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(RUN_AXE, {"runOnly": ["color-contrast"]})
    return [*light, *dark]


def set_text_size(page: Page, pixels: int) -> None:
    """Change the text size in the settings of the browser; the default is 16."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("Page.setFontSizes", {"fontSizes": {"standard": pixels}})
    expect(page.locator("html")).to_have_css("font-size", f"{pixels}px")


def assert_accessible(page: Page, name: str = "") -> None:
    assert axe_violations(page) == [], name
    assert page.evaluate(HIDDEN_PARTS) == [], name


def assert_accessible_with_large_text(page: Page, name: str) -> None:
    assert_accessible(page, name)
    set_text_size(page, 32)
    assert page.evaluate(HIDDEN_PARTS) == [], f"{name}, large text"
    set_text_size(page, 16)


@pytest.mark.slow
def test_every_page_is_accessible_on_a_desktop_zoomed_in_or_not(visitor: Visitor):
    for name, page in tour(visitor, device_scale_factor=2):
        assert_accessible_with_large_text(page, name)
        # A window of 1280 x 800 at a zoom of 200 %.
        page.set_viewport_size({"width": 640, "height": 400})
        assert page.evaluate(HIDDEN_PARTS) == [], f"{name}, zoomed"
        page.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.slow
def test_every_page_is_accessible_on_a_narrow_phone(visitor: Visitor):
    for name, page in tour(visitor, **PHONE):
        assert_accessible_with_large_text(page, name)


def test_the_checks_find_bad_pages(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), **PHONE)
    page.locator("#statement").evaluate("text => { text.style.color = '#eeeeee'; }")
    assert "color-contrast" in "".join(axe_violations(page))
    # Dark on dark, which is only found in dark mode.
    page.locator("#statement").evaluate("text => { text.style.color = '#333333'; }")
    assert "color-contrast" in "".join(axe_violations(page))
    assert page.evaluate(HIDDEN_PARTS) == []
    page.locator(".controls").evaluate("part => { part.style.minHeight = '85vh'; }")
    assert "covered" in "".join(page.evaluate(HIDDEN_PARTS))
    page.locator("#statement").evaluate("text => { text.style.whiteSpace = 'nowrap'; }")
    assert "cut" in "".join(page.evaluate(HIDDEN_PARTS))


def test_a_long_text_can_be_read_to_its_end_above_the_controls(visitor: Visitor):
    campaign = make_hits()
    long_text = " ".join(["A long text with many words in it."] * 60)
    Item.objects.filter(hit__campaign=campaign).update(text=long_text)
    Segment.objects.filter(campaign=campaign).update(reference=long_text)
    page, _ = visitor.open_hit(campaign, **PHONE)
    for selector in ("#text-above", "#text-below"):
        for share in (0, 0.5, 1):
            assert page.locator(selector).evaluate(LINE_IS_ON_TOP, share), (selector, share)
    # The controls are always within reach.
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#next")).to_be_in_viewport(ratio=1)
    expect(page.locator("#slider")).to_be_in_viewport(ratio=1)


def colour(page: Page, selector: str, name: str = "color") -> str:
    return page.locator(selector).first.evaluate(
        "(element, name) => getComputedStyle(element).getPropertyValue(name)", name
    )


def test_the_texts_stay_gray_and_black_on_white_in_dark_mode(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), color_scheme="dark")
    assert colour(page, "#text-below") == "rgb(0, 0, 0)"
    assert colour(page, ".texts", "background-color") == "rgb(255, 255, 255)"
    gray = [int(part) for part in colour(page, "#text-above")[4:-1].split(",")]
    assert max(gray) - min(gray) < 20 and 80 < gray[0] < 120
    assert colour(page, "body", "background-color") == "rgb(20, 23, 28)"
    assert colour(page, "#statement") == "rgb(238, 241, 245)"


def test_nothing_moves_with_reduced_motion(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), reduced_motion="reduce")
    moving = page.locator("*").evaluate_all(
        "elements => elements.map(element => getComputedStyle(element)).filter(style => "
        "style.transitionDuration !== '0s' || style.animationName !== 'none').length"
    )
    assert moving == 0


def test_the_texts_are_gray_and_black_on_white_in_forced_colours(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), forced_colors="active", color_scheme="dark")
    assert colour(page, ".texts", "background-color") == "rgb(255, 255, 255)"
    assert colour(page, "#text-below", "color") == "rgb(0, 0, 0)"
    assert colour(page, "#text-above", "color") == "rgb(102, 106, 114)"


def test_the_slider_is_visible_in_forced_colours(visitor: Visitor):
    page, _ = visitor.open_hit(make_hits(), forced_colors="active")
    expect(page.locator("#thumb")).to_be_hidden()
    page.keyboard.type("30")
    expect(page.locator("#thumb")).to_be_visible()
    assert colour(page, "#thumb", "background-color") != colour(page, "body", "background-color")
    assert colour(page, ".track", "border-top-color") != colour(page, "body", "background-color")
