"""Take the pictures of the documentation from a running demo: `python -m tests.browser.take_screenshots`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django

# Before anything of the platform is imported: a database of its own, gone after the run.
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.urls import reverse  # noqa: E402
from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402
from pytest_django.live_server_helper import LiveServer  # noqa: E402

from analysis.gold import build_gold  # noqa: E402
from analysis.jobs import run_job, start_job  # noqa: E402
from analysis.models import Evaluation  # noqa: E402
from hits.demo import prepare_demo_campaign  # noqa: E402
from hits.models import Assignment, Campaign, Item, Segment  # noqa: E402
from hits.practice import practice_for  # noqa: E402
from hits.services import submit_assignment  # noqa: E402
from hits.simulation import Behaviour, simulate_workers  # noqa: E402
from hits.trust import weigh_pending  # noqa: E402
from tests.browser.campaigns import make_hits_between  # noqa: E402
from tests.browser.opening import (  # noqa: E402
    CHROMIUM_FLAGS,
    assignment_of,
    rating_address,
    worker_cookie,
)
from tests.browser.rating import slider_place  # noqa: E402
from tests.browser.staff_pages import session_cookie  # noqa: E402
from tests.factories import make_worker, rate_items  # noqa: E402
from tests.people import make_person  # noqa: E402
from tests.setup_browser import ADVICE, browser_path  # noqa: E402

FOLDER = settings.BASE_DIR / "docs" / "images"
# A picture in a README should load at once.
MAX_BYTES = 250_000

# Without motion no button is caught while it changes its colour.
WINDOW: dict[str, Any] = {"viewport": {"width": 900, "height": 640}, "reduced_motion": "reduce"}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 780},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


class Photographer:
    """Opens pages for a new worker of a campaign and keeps pictures of them."""

    def __init__(self, browser: Browser, origin: str) -> None:
        self._browser = browser
        self._origin = origin

    def open(self, path: str, *, assignment: Assignment | None = None, **options: Any) -> Page:
        context = self._browser.new_context(base_url=self._origin, **WINDOW | options)
        if assignment:
            context.add_cookies([worker_cookie(assignment.worker, self._origin)])
        page = context.new_page()
        page.goto(path)
        return page

    def open_as(self, user: User, path: str, **options: Any) -> Page:
        """Open a page as someone of the staff."""
        context = self._browser.new_context(base_url=self._origin, **WINDOW | options)
        context.add_cookies([session_cookie(user, self._origin)])
        page = context.new_page()
        page.goto(path)
        return page

    def open_hit(self, campaign: Campaign, **options: Any) -> Page:
        """Open a HIT a little way in, with the slider set."""
        assignment = assignment_of(make_worker(), campaign)
        rate_items(assignment, n_items=13)
        page = self.open(rating_address(assignment), assignment=assignment, **options)
        expect(page.locator("#slider")).to_be_focused()
        page.mouse.click(*slider_place(page, 66))
        expect(page.locator("#next")).to_be_enabled()
        return page


def keep(page: Page, name: str) -> None:
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path, caret="initial", clip=filled_part(page))
    size = path.stat().st_size
    print(f"{path.relative_to(settings.BASE_DIR)}  {size:,} bytes")
    assert size <= MAX_BYTES, f"{name} is too large."


def filled_part(page: Page) -> Any:
    """The window without the empty space at its end."""
    window = page.viewport_size
    last = page.locator("main > *:visible").last.bounding_box()
    assert window and last
    end = last["y"] + last["height"] + 24
    return {"x": 0, "y": 0, "width": window["width"], "height": min(end, window["height"])}


def take_way_in(photographer: Photographer, campaign: Campaign) -> None:
    page = photographer.open(campaign.get_absolute_url())
    keep(page, "landing")
    page.locator("main button").click()
    expect(page.locator(".example").first).to_be_visible()
    keep(page, "instructions")
    page.goto(reverse("practice", args=[campaign.code, 3]))
    page.locator("#slider").press("9")
    page.locator("#next").click()
    expect(page.locator(".feedback")).to_be_visible()
    keep(page, "practice")


def take_rating(photographer: Photographer, campaign: Campaign) -> None:
    keep(photographer.open_hit(campaign), "rate")
    keep(photographer.open_hit(campaign, **PHONE), "rate-phone")
    keep(photographer.open_hit(campaign, color_scheme="dark"), "rate-dark")
    keep(photographer.open_hit(make_arabic_campaign()), "rate-arabic")


def make_arabic_campaign() -> Campaign:
    """A campaign whose item on the picture is one that makes sense: one of the practice."""
    campaign = make_hits_between("en", "ar", name="Arabic")
    shown = practice_for("ar", "reference").items[2]
    item = Item.objects.get(hit__campaign=campaign, hit__number=1, position=14)
    Item.objects.filter(pk=item.pk).update(text=shown.translation)
    Segment.objects.filter(translations=item.translation_id).update(reference=shown.gray_text)
    return campaign


def take_end(photographer: Photographer, campaign: Campaign) -> None:
    assignment = assignment_of(make_worker(), campaign)
    rate_items(assignment)
    submit_assignment(assignment=assignment)
    path = reverse("done", args=[assignment.code])
    keep(photographer.open(path, assignment=assignment), "done")


def take_staff(photographer: Photographer, campaign: Campaign) -> None:
    """The pages of an admin and of a researcher: at a desk, and the main ones in the dark and on a phone."""
    desk: dict[str, Any] = {"viewport": {"width": 1100, "height": 1000}}
    rater = campaign.participations.trusted().order_by("pk")[0].worker
    of_campaign = {
        "dashboard": "campaign_overview",
        "workers": "campaign_workers",
        "results": "campaign_results",
        "segments": "campaign_segments",
        "report": "campaign_report",
        "payments": "campaign_payments",
        "recruiting": "campaign_recruiting",
        "settings": "campaign_settings",
        "cost": "campaign_cost",
    }
    pages = {name: reverse(view, args=[campaign.code]) for name, view in of_campaign.items()}
    pages |= {
        "campaigns": reverse("home"),
        "worker": reverse("campaign_worker", args=[campaign.code, rater.code]),
        "new-campaign": reverse("new_campaign"),
        "preview": reverse("preview_item", args=[campaign.code, 1, 3]),
        "audit": reverse("audit_log"),
        "people": reverse("people"),
        "health": reverse("health"),
        "jobs": reverse("jobs"),
        "evaluation": reverse("evaluation", args=[Evaluation.objects.get().code]),
        "api": reverse("api_reference"),
    }
    admin = make_person("superuser")
    for name, path in pages.items():
        page = photographer.open_as(admin, path, **desk)
        if name == "worker":
            page.get_by_role("heading", name="In pictures").scroll_into_view_if_needed()
            page.wait_for_load_state("networkidle")
        keep(page, name)
    for name in ("dashboard", "workers", "worker", "results", "payments", "evaluation"):
        keep(photographer.open_as(admin, pages[name], **desk, color_scheme="dark"), f"{name}-dark")
        keep(photographer.open_as(admin, pages[name], **PHONE), f"{name}-phone")


def make_results(campaign: Campaign) -> None:
    """More careful workers than the demo has, so that there is something to see."""
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 30}, seed=7)
    weigh_pending()
    build_gold(campaign=campaign, minimum=7)
    names = ["BLEU", "chrF", "WER", "PER", "CDER"]
    for kind, arguments in (
        ("measure_agreement", {}),
        ("compute_metrics", {"names": names}),
        ("evaluate", {}),
    ):
        job = run_job(start_job(kind=kind, campaign=campaign, arguments=arguments).pk)
        assert job and job.state == job.State.DONE, job and job.error


@contextmanager
def demo_server() -> Iterator[tuple[str, Campaign]]:
    call_command("migrate", verbosity=0)
    campaign = prepare_demo_campaign()
    server = LiveServer("127.0.0.1")
    try:
        yield server.url, campaign
    finally:
        server.stop()


def main() -> None:
    path = browser_path()
    if path is None:
        raise SystemExit(ADVICE)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with demo_server() as (origin, campaign), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        photographer = Photographer(browser, origin)
        take_way_in(photographer, campaign)
        take_rating(photographer, campaign)
        take_end(photographer, campaign)
        make_results(campaign)
        take_staff(photographer, campaign)
        browser.close()


if __name__ == "__main__":
    main()
