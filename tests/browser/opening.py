"""Browser profiles for tests: for a person and a device, with a record of console errors."""

from dataclasses import dataclass, field
from typing import Any

from django.core.signing import get_cookie_signer
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from hits.models import Assignment, Campaign, Worker
from hits.rating.assignments import take_assignment
from hits.rating.joining import take_part
from hits.recruiting.visitors import COOKIE
from tests.factories import make_worker

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# A phone with the narrowest screen that pages must fit (WCAG 1.4.10).
PHONE: dict[str, Any] = {
    "viewport": {"width": 320, "height": 568},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}

# Long enough for a busy machine.
TIMEOUT_MS = 15_000


@dataclass
class Complaints:
    """Console errors, uncaught exceptions, CSP violations and external requests."""

    origin: str
    messages: list[str] = field(default_factory=list)
    # Parts of the text of errors that a test causes on purpose.
    expected: list[str] = field(default_factory=list)

    def listen_to(self, context: BrowserContext) -> None:
        context.on("console", self._hear)
        context.on("weberror", lambda error: self._note(str(error.error)))
        context.on("request", self._follow)

    def _hear(self, message: ConsoleMessage) -> None:
        # Chromium reports violations of the Content Security Policy as errors too.
        if message.type in {"error", "warning"}:
            self._note(message.text)

    def _follow(self, request: Request) -> None:
        if not request.url.startswith((self.origin, "data:", "blob:")):
            self._note(f"A request left the server: {request.url}")

    def _note(self, text: str) -> None:
        if not any(part in text for part in self.expected):
            self.messages.append(text)


class Visitor:
    """Opens profiles of one browser on one server."""

    def __init__(self, browser: Browser, origin: str, complaints: Complaints) -> None:
        self._browser = browser
        self.origin = origin
        self._complaints = complaints
        self._contexts: list[BrowserContext] = []

    def open_context(self, *, worker: Worker | None = None, **options: Any) -> BrowserContext:
        context = self._browser.new_context(base_url=self.origin, **DESKTOP | options)
        context.set_default_timeout(TIMEOUT_MS)
        self._complaints.listen_to(context)
        self._contexts.append(context)
        if worker:
            context.add_cookies([worker_cookie(worker, self.origin)])
        return context

    def open_hit(self, campaign: Campaign, **options: Any) -> tuple[Page, Assignment]:
        """Open the rating page of a new worker who has already practised."""
        assignment = assignment_of(make_worker(), campaign)
        page = self.open_context(worker=assignment.worker, **options).new_page()
        page.goto(rating_address(assignment))
        return page, assignment

    def close(self) -> None:
        for context in self._contexts:
            context.close()


def worker_cookie(worker: Worker, origin: str) -> Any:
    """The cookie that identifies a worker, as `hits.recruiting.visitors` sets it."""
    value = get_cookie_signer(salt=COOKIE).sign(str(worker.code))
    return {"name": COOKIE, "value": value, "url": origin}


def qualify(worker: Worker, campaign: Campaign) -> None:
    participation = take_part(campaign=campaign, worker=worker)
    participation.qualified_at = timezone.now()
    participation.save(update_fields=["qualified_at"])


def assignment_of(worker: Worker, campaign: Campaign) -> Assignment:
    qualify(worker, campaign)
    assignment = take_assignment(campaign=campaign, worker=worker)
    assert assignment is not None
    return assignment


def rating_address(assignment: Assignment) -> str:
    return reverse("rate", args=[assignment.code])
