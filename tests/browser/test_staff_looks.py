"""Accessible pages for staff: axe in light and dark mode, narrow screens, large text, print."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.opening import PHONE, Complaints, Visitor
from tests.browser.staff_pages import staff_tour
from tests.browser.test_looks import AXE_SIZE_RULES, AXE_TAGS, axe_violations, set_text_size

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser_staff"),
]

# Parts that are wider than the page, except tables in a part that scrolls.
STICKS_OUT = """() => [...document.querySelectorAll("main *, header *")].filter((part) =>
  part.checkVisibility() && !part.closest(".table, .wide .plot, section.wide, .visually-hidden, pre, svg, .bar") &&
  part.getBoundingClientRect().right > document.documentElement.clientWidth + 1
).map((part) => `${part.tagName} ${part.className} ${part.textContent.trim().slice(0, 40)}`)"""


@pytest.fixture(autouse=True)
def a_report_is_a_file(complaints: Complaints) -> None:
    complaints.expected.append("file:///")


def assert_it_fits(page: Page, name: str) -> None:
    root = page.locator("html")
    assert page.evaluate(STICKS_OUT) == [], name
    assert root.evaluate("root => root.scrollWidth <= root.clientWidth"), name


def assert_accessible(
    page: Page, name: str, *, rules: Sequence[str] = AXE_TAGS, text_size: int = 24
) -> None:
    """Check a page with axe, and whether it fits at the normal and at this text size."""
    assert axe_violations(page, only=rules) == [], name
    assert_it_fits(page, name)
    set_text_size(page, text_size)
    assert_it_fits(page, f"{name}, large text")
    set_text_size(page, 16)


def test_every_page_is_accessible_on_a_desktop(visitor: Visitor, tmp_path: Path):
    for name, page in staff_tour(visitor, tmp_path):
        assert_accessible(page, name, text_size=32)


def test_every_page_is_accessible_on_a_narrow_phone(visitor: Visitor, tmp_path: Path):
    for name, page in staff_tour(visitor, tmp_path, **PHONE):
        assert_accessible(page, name, rules=AXE_SIZE_RULES)


def test_menus_and_buttons_are_not_printed(visitor: Visitor, tmp_path: Path):
    names = {"campaign_overview", "audit_log", "home"}
    opened = set()
    for name, page in staff_tour(visitor, tmp_path, only=names):
        page.emulate_media(media="print")
        for part in (".masthead", ".tabs", ".filters", ".button"):
            assert page.locator(part).filter(visible=True).count() == 0, (name, part)
        assert page.locator("main").filter(visible=True).count() == 1
        opened.add(name)
    assert opened == names
