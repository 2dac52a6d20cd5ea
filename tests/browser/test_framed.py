"""A worker rates in a frame of another site, as at Mechanical Turk, without cookies of ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from hits.models import Assignment, Campaign, Participation, Recruitment, Submission
from tests.browser.opening import Complaints
from tests.factories import make_hits, rate
from tests.simulators.serving import serving

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("browser_framed")]


@dataclass
class Turk:
    """A site that shows an address in a frame and accepts POST requests to its externalSubmit."""

    origin: str = ""
    framed: str = ""
    posted: list[dict[str, list[str]]] = field(default_factory=list)


def _handler(turk: Turk) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            frame = f'<iframe name="task" width="900" height="800" src="{escape(turk.framed)}">'
            self._answer(f"<!doctype html><link rel=icon href=data:,><title>HIT</title>{frame}")

        def do_POST(self) -> None:
            assert self.path == "/mturk/externalSubmit"
            turk.posted.append(
                parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            )
            self._answer("<!doctype html><title>Done</title><h1>Submitted at Turk</h1>")

        def _answer(self, page: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    return Handler


@contextmanager
def running_turk() -> Iterator[Turk]:
    turk = Turk()
    # It is at 127.0.0.1 and our site at localhost, so for the browser these are two sites.
    with serving(_handler(turk)) as turk.origin:
        yield turk


@pytest.fixture
def turk(settings: Any, complaints: Complaints) -> Iterator[Turk]:
    with running_turk() as turk:
        settings.MTURK_FRAME_ORIGINS = settings.MTURK_SUBMIT_ORIGINS = [turk.origin]
        complaints.expected.append(turk.origin)
        yield turk


def make_turk_campaign() -> Campaign:
    campaign = make_hits()
    Recruitment.objects.update_or_create(campaign=campaign, defaults={"provider": "mturk"})
    return campaign


def question(origin: str, campaign: Campaign, **parameters: str) -> str:
    path = reverse("external_question", args=[campaign.code])
    return f"{origin}{path}?{urlencode(parameters)}"


def accepted(turk: Turk) -> dict[str, str]:
    return {
        "assignmentId": "ASSIGNMENT1",
        "hitId": "HIT1",
        "workerId": "ALICE",
        "turkSubmitTo": turk.origin,
    }


def test_a_worker_rates_and_submits_in_a_frame_without_cookies(
    page: Page, turk: Turk, live_server: Any
):
    assert live_server.url.startswith("http://localhost")
    campaign = make_turk_campaign()
    turk.framed = question(live_server.url, campaign, **accepted(turk))
    page.goto(turk.origin)
    task = page.frame_locator("iframe")
    task.get_by_role("button", name="I agree").click()
    expect(task.get_by_role("heading", name="What to do")).to_be_visible()
    Participation.objects.update(qualified_at=campaign.created_at)
    frame = page.frame("task")
    assert frame
    frame.goto(frame.url.replace("/instructions/", "/next/"))
    for position in (1, 2):
        expect(
            task.locator(f"body:has(#meter[value='{position - 1}']) #rating-form")
        ).to_be_attached()
        task.locator("[role=slider]").press("7")
        page.keyboard.press("0")
        page.keyboard.press("Enter")
    expect(task.locator("body:has(#meter[value='2']) #rating-form")).to_be_attached()
    expect(task.locator("#save-state")).to_have_text("Saved")
    assignment = Assignment.objects.get()
    assert list(assignment.ratings.values_list("score", flat=True)) == [70, 70]
    for item in assignment.hit.items.order_by("position")[2:]:
        rate(assignment, item)
    frame.goto(frame.url)
    task.get_by_role("button").click()
    task.get_by_role("button", name="Finish and submit").click()
    expect(task.get_by_role("heading", name="Submitted at Turk")).to_be_visible()
    assert [sent["assignmentId"] for sent in turk.posted] == [["ASSIGNMENT1"]]
    assignment.refresh_from_db()
    assert turk.posted[0]["completionCode"] == [assignment.completion_code]
    assert Submission.objects.get().assignment == assignment
    assert page.context.cookies() == []


def test_a_preview_in_the_frame_has_nothing_to_rate(page: Page, turk: Turk, live_server: Any):
    preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}
    turk.framed = question(live_server.url, make_turk_campaign(), **preview)
    page.goto(turk.origin)
    task = page.frame_locator("iframe")
    expect(task.get_by_text("This is a preview.")).to_be_visible()
    expect(task.locator("form, input, button, [role=slider]")).to_have_count(0)


def test_another_site_cannot_frame_it(
    page: Page, turk: Turk, live_server: Any, complaints: Complaints
):
    complaints.expected += ["frame-ancestors", "127.0.0.1", "chrome-error"]
    campaign = make_turk_campaign()
    with running_turk() as stranger:
        stranger.framed = question(live_server.url, campaign, **accepted(turk))
        with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            page.goto(stranger.origin)
        expect(page.frame_locator("iframe").get_by_role("button", name="I agree")).to_have_count(0)
