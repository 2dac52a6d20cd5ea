"""A real Chromium for the tests, which fail on errors in its console."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from hits.models import Assignment
from tests.browser.opening import CHROMIUM_FLAGS, TIMEOUT_MS, Complaints, Visitor
from tests.factories import make_hits
from tests.setup_browser import ADVICE, browser_path

# Playwright's sync API runs an event loop in this thread, so Django would refuse all queries.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    path = browser_path()
    if path is None:
        pytest.fail(ADVICE)
    browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
    yield browser
    browser.close()


@pytest.fixture
def complaints(live_server: Any) -> Iterator[Complaints]:
    """Errors and warnings of the pages; the test fails if there are any."""
    complaints = Complaints(origin=live_server.url)
    yield complaints
    assert complaints.messages == []


@pytest.fixture
def visitor(chromium: Browser, live_server: Any, complaints: Complaints) -> Iterator[Visitor]:
    """Opens browser profiles and closes them after the test."""
    visitor = Visitor(chromium, live_server.url, complaints)
    yield visitor
    visitor.close()


@pytest.fixture
def context(visitor: Visitor) -> BrowserContext:
    return visitor.open_context()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def hit(visitor: Visitor) -> tuple[Page, Assignment]:
    """The rating page of a new worker, and its assignment."""
    return visitor.open_hit(make_hits())
