"""Set up two-step login with the key on the page, and log in with its codes."""

from base64 import b32decode
from collections.abc import Iterator

import pytest
import time_machine
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone
from django_otp.oath import TOTP
from playwright.sync_api import Page, expect

from tests.browser.opening import PHONE, Visitor
from tests.browser.test_staff_looks import assert_accessible
from tests.people import make_person
from tests.two_step import PASSWORD

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_staff")]


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A running clock that a test can advance until the app shows another code."""
    with time_machine.travel(timezone.now(), tick=True) as clock:
        yield clock


@pytest.fixture
def alice() -> User:
    alice = make_person("admin")
    alice.set_password(PASSWORD)
    alice.save()
    return alice


def give_password(page: Page, user: User) -> None:
    page.goto(reverse("login"))
    page.get_by_label("Username").fill(user.get_username())
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def begin(page: Page) -> bytes:
    """Start the set-up and read the key, as for an app that cannot scan."""
    page.goto(reverse("two_step"))
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Set up").click()
    return b32decode((page.locator(".secret").text_content() or "").replace(" ", ""))


def code_of(key: bytes) -> str:
    app = TOTP(key)
    app.time = timezone.now().timestamp()
    return f"{app.token():06}"


@pytest.mark.parametrize("device", [{}, PHONE], ids=["desktop", "phone"])
def test_setting_it_up_and_logging_in_is_accessible(visitor: Visitor, alice, clock, device):
    page = visitor.open_context(**device).new_page()
    give_password(page, alice)
    page.goto(reverse("two_step"))
    assert_accessible(page, "off")
    key = begin(page)
    picture = page.get_by_role("img", name="QR code")
    expect(picture).to_be_visible()
    assert picture.evaluate("element => element.getBoundingClientRect().width") >= 200
    assert_accessible(page, "set up")
    page.get_by_label("Current code from the app").fill(code_of(key))
    page.get_by_role("button", name="Turn on").click()
    expect(page.locator(".codes li")).to_have_count(10)
    assert_accessible(page, "recovery codes")
    recovery = page.locator(".codes code").first.text_content() or ""
    page.goto(reverse("two_step"))
    assert_accessible(page, "on")

    page = visitor.open_context(**device).new_page()
    give_password(page, alice)
    expect(page.get_by_role("textbox", name="Code", exact=True)).to_be_focused()
    assert_accessible(page, "code")
    page.get_by_text("Don't have your phone?").click()
    assert_accessible(page, "recovery code")
    page.get_by_label("Recovery code").fill(recovery)
    page.get_by_role("button", name="Log in with recovery code").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


def test_it_works_without_scripts(visitor: Visitor, alice, clock):
    page = visitor.open_context(java_script_enabled=False).new_page()
    give_password(page, alice)
    key = begin(page)
    used = code_of(key)
    page.get_by_label("Current code from the app").fill(used)
    page.get_by_role("button", name="Turn on").click()
    expect(page.locator(".codes li")).to_have_count(10)

    page = visitor.open_context(java_script_enabled=False).new_page()
    give_password(page, alice)
    code = page.get_by_role("textbox", name="Code", exact=True)
    # The code that turned it on cannot be used again.
    code.fill(used)
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("was already used")
    clock.shift(31)
    code.fill(code_of(key))
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
