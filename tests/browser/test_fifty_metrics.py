"""The page of an evaluation of fifty metrics: figures stay readable on a desktop, and it prints."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from analysis.evaluation.stored_evaluations import evaluate_collection
from analysis.models import Evaluation
from tests.browser.opening import Visitor
from tests.browser.staff_pages import session_cookie
from tests.browser.test_staff_looks import assert_it_fits
from tests.evaluations import make_collection
from tests.people import make_person

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser_staff"),
]

NAMES = [f"metric-with-a-name-{number:02}" for number in range(1, 51)]
# In CSS pixels. Smaller text cannot be read.
LEAST_TEXT = 9

# The size of the smallest text of a figure as it is shown, and the texts that cover each other. Letters are
# paths, scaled from 100 units for an em.
TEXTS = r"""async (image) => {
  const source = await (await fetch(image.src)).text();
  const svg = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  const holder = document.createElement("div");
  holder.style.cssText = `position: absolute; left: 0; top: 0; width: ${image.clientWidth}px`;
  svg.style.cssText = "width: 100%; height: auto";
  holder.append(document.importNode(svg, true));
  document.body.append(holder);
  const shrunk = image.clientWidth / svg.viewBox.baseVal.width;
  const parts = [...holder.querySelectorAll('g[id^="text_"]')]
    .map((part) => ({ box: part.getBoundingClientRect(), id: part.id, markup: part.innerHTML }))
    .filter(({ box }) => box.width && box.height);
  const covered = [];
  for (const [i, { box: a, id }] of parts.entries()) {
    for (const { box: b, id: other } of parts.slice(i + 1)) {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1.5 && high > 1.5) covered.push(`${id} / ${other}`);
    }
  }
  holder.remove();
  const sizes = parts.map(({ markup }) => 100 * shrunk * Number(/scale\(([0-9.]+)/.exec(markup)[1]));
  return { n: parts.length, smallest: Math.min(...sizes), covered };
}"""


@pytest.fixture
def owner() -> Any:
    return make_person("superuser")


@pytest.fixture
def evaluation(owner: Any) -> Evaluation:
    names = [f"{name}:higher" for name in NAMES]
    return evaluate_collection(collection=make_collection(owner, *names), created_by=owner)


def open_page(visitor: Visitor, owner: Any, evaluation: Evaluation, **options: Any) -> Page:
    # The policy of the page does not allow the styles of a figure that is looked into.
    context = visitor.open_context(bypass_csp=True, **options)
    context.add_cookies([session_cookie(owner, visitor.origin)])
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.goto(reverse("evaluation", args=[evaluation.code]))
    return page


def test_labels_of_figures_are_large_enough_and_apart(
    visitor: Visitor, owner: Any, evaluation: Evaluation
):
    page = open_page(visitor, owner, evaluation)
    assert_it_fits(page, "fifty metrics")
    figures = page.locator("figure .plot img")
    assert figures.count() > 3
    for place in range(figures.count()):
        image = figures.nth(place)
        image.scroll_into_view_if_needed()
        expect(image).to_have_js_property("complete", True, timeout=120_000)
        texts = image.evaluate(TEXTS)
        name = str(image.get_attribute("src")).rpartition("/")[2]
        assert texts["n"] > 10 and texts["covered"] == [], (name, texts)
        assert texts["smallest"] >= LEAST_TEXT, (name, texts)


def test_it_prints_with_all_tables_and_figures_and_nothing_is_cut(
    visitor: Visitor, owner: Any, evaluation: Evaluation, tmp_path: Path
):
    page = open_page(visitor, owner, evaluation)
    folds = page.locator("main details")
    assert folds.count() > 2
    assert page.locator("main details:not([open])").count() > 0
    page.evaluate(RECORD_PRINTING)
    path = tmp_path / "page.pdf"
    page.pdf(path=path, format="A4")
    assert path.read_bytes().startswith(b"%PDF") and path.stat().st_size > 100_000
    printed = page.evaluate("window.printed")
    assert printed["folded"] == 0 and printed["figures"] > 3, printed
    # Loaded although nobody has scrolled to them.
    assert page.evaluate(MISSING_FIGURES) == 0
    # Folded again afterwards.
    assert page.locator("main details:not([open])").count() > 0
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER_WIDTH, "height": 1_100})
    assert page.evaluate(CUT_OFF) == []


# A4 without margins. Chromium shrinks what is wider by up to a half.
PAPER_WIDTH = 794
RECORD_PRINTING = """() => addEventListener("beforeprint", () => {
  window.printed = {
    folded: document.querySelectorAll("main details:not([open])").length,
    figures: document.querySelectorAll("figure img").length,
  };
})"""
MISSING_FIGURES = """() => [...document.querySelectorAll("figure img")]
  .filter((image) => !image.complete || !image.naturalWidth).length"""
CUT_OFF = """() => [...document.querySelectorAll("main table, main figure img, main pre, main code")]
  .filter((part) => part.checkVisibility() && part.getBoundingClientRect().right > 1.5 * innerWidth)
  .map((part) => `${part.tagName} ${part.getBoundingClientRect().right}`)"""
