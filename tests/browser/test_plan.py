"""Someone plans a campaign with sliders; the sizes and curves follow."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.browser.opening import Visitor
from tests.browser.staff_pages import staff_context

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_staff")]


@pytest.fixture
def page(visitor: Visitor) -> Page:
    page = staff_context(visitor, "researcher").new_page()
    page.goto(reverse("plan_campaign"))
    return page


def test_sizes_curves_and_the_address_follow_the_sliders(page: Page):
    cheapest = page.locator("#plan-results p").filter(has_text="Cheapest:")
    before = cheapest.text_content()
    slider = page.get_by_role("slider", name="Systems", exact=True)
    slider.focus()
    slider.press("ArrowRight")
    expect(page.get_by_role("spinbutton", name="Systems", exact=True)).to_have_value("6")
    expect(cheapest).to_contain_text("for 6 systems")
    assert cheapest.text_content() != before
    expect(page).to_have_url(re.compile("systems=6"))
    picture = page.locator("figure img").first
    assert "systems=6" in picture.get_attribute("src")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("picture => picture.naturalWidth") > 100
    # The address is that of the same plan.
    page.reload()
    expect(cheapest).to_contain_text("for 6 systems")
    expect(slider).to_have_js_property("value", "6")


def test_a_number_moves_its_slider_and_a_refused_one_waits_for_the_button(page: Page):
    difference = page.get_by_role("spinbutton", name="Difference to find, in z")
    difference.fill("0.3")
    expect(page.get_by_role("slider", name="Difference to find, in z")).to_have_js_property(
        "value", "0.3"
    )
    expect(page).to_have_url(re.compile(r"difference=0\.3"))
    difference.fill("0")
    page.get_by_text("How ratings vary").click()
    expect(page.get_by_label("Workers’ tastes for systems")).to_be_visible()
    expect(page).to_have_url(re.compile(r"difference=0\.3"))
