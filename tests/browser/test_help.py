"""The help in a browser: accessible, narrow and dark, by keyboard."""

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from da_platform.help import pages
from tests.browser.opening import PHONE, Visitor
from tests.browser.staff_pages import staff_context
from tests.browser.test_looks import AXE_SIZE_RULES
from tests.browser.test_staff_looks import assert_accessible

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_pages")]


def addresses() -> list[str]:
    search = reverse("help_search")
    return [
        *(reverse("help_page", args=[name]) for name in pages.files()),
        f"{search}?q=gold",
        f"{search}?q=zzz",
    ]


@pytest.mark.slow
def test_every_page_is_accessible_on_a_desktop(page: Page):
    for address in addresses():
        page.goto(address)
        assert_accessible(page, address, text_size=32)


@pytest.mark.slow
def test_every_page_is_accessible_on_a_narrow_phone(visitor: Visitor):
    page = visitor.open_context(**PHONE).new_page()
    for address in addresses():
        page.goto(address)
        assert_accessible(page, address, rules=AXE_SIZE_RULES)


def test_staff_find_a_word_by_keyboard(visitor: Visitor):
    page = staff_context(visitor).new_page()
    page.goto(reverse("home"))
    page.get_by_role("banner").get_by_role("link", name="Help").press("Enter")
    page.get_by_label("Search the help").fill("unproven")
    page.keyboard.press("Enter")
    page.locator(".hits a").first.press("Enter")
    expect(page).to_have_url(f"{visitor.origin}/help/glossary/#unproven")
    expect(page.get_by_role("heading", name="Unproven")).to_be_in_viewport()


def test_links_lead_from_page_to_page_and_pictures_are_shown(page: Page):
    page.goto(reverse("help_page", args=["tutorial"]))
    picture = page.get_by_role("img", name="The ranking of systems")
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    page.get_by_role("article").get_by_role("link", name="clusters").click()
    expect(page.get_by_role("heading", name="Cluster", exact=True)).to_be_in_viewport()
