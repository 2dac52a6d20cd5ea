"""Take the screenshots for the documentation: `python -m tests.browser.take_screenshots`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import django

# Use a temporary database; this must come before the imports of the platform.
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.urls import reverse  # noqa: E402
from django.utils import timezone  # noqa: E402
from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402
from pytest_django.live_server_helper import LiveServer  # noqa: E402

from analysis.evaluation.stored_evaluations import evaluate_collection  # noqa: E402
from analysis.examples.making import FINISHED_NAME  # noqa: E402
from analysis.examples.other_tasks import TASK_EXAMPLES  # noqa: E402
from analysis.models import Experiment, ScoreCollection  # noqa: E402
from da_platform.jobs.models import Job  # noqa: E402
from da_platform.jobs.running import run_job, start_job  # noqa: E402
from da_platform.operation.signs import give_sign  # noqa: E402
from da_platform.queues import QUEUES  # noqa: E402
from hits.campaigns.demo import (  # noqa: E402
    DEMO_NAME,
    DRAFT_NAME,
    TASK_EXAMPLES_JOB,
    prepare_demo_campaign,
    start_examples,
)
from hits.campaigns.lifecycle import change_status  # noqa: E402
from hits.models import Assignment, Campaign, CampaignDraft, Evidence, Item, Segment, Worker  # noqa: E402
from hits.people.accounts import Part, invite  # noqa: E402
from hits.rating.assignments import submit_assignment  # noqa: E402
from hits.rating.practice import practice_for  # noqa: E402
from hits.recruiting.invites import make_invites  # noqa: E402
from tests.browser.campaigns import make_hits_between  # noqa: E402
from tests.browser.gallery import FOLDER, GALLERY, gallery_text, looks_of  # noqa: E402
from tests.browser.opening import CHROMIUM_FLAGS, assignment_of, rating_address, worker_cookie  # noqa: E402
from tests.browser.rating import slider_place  # noqa: E402
from tests.browser.staff_pages import session_cookie  # noqa: E402
from tests.decisions import exclude  # noqa: E402
from tests.evaluations import make_collection  # noqa: E402
from tests.factories import make_campaign, make_hits, make_translations, make_worker, rate_items  # noqa: E402
from tests.setup_browser import ADVICE, browser_path  # noqa: E402

# Screenshots in a README should load quickly.
MAX_BYTES = 150_000
# Enough for smooth letters.
N_COLOURS = 96

# Without this, a button could be caught while it changes its colour.
STILL: dict[str, Any] = {"reduced_motion": "reduce"}
DESK: dict[str, Any] = {"viewport": {"width": 1200, "height": 1000}, **STILL}
# For pages with plots further down.
TALL: dict[str, Any] = DESK | {"viewport": {"width": 1200, "height": 1400}}
TALL_PAGES = {"worker", "results", "ranking", "evaluation", "report"}
# Pages for workers fit a smaller window.
WINDOW: dict[str, Any] = {"viewport": {"width": 900, "height": 700}, **STILL}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 1.5,
    "is_mobile": True,
    "has_touch": True,
    **STILL,
}
DARK: dict[str, Any] = {"color_scheme": "dark"}


def look(ending: str, desk: dict[str, Any]) -> dict[str, Any]:
    """The browser options for screenshots with this suffix."""
    device = PHONE if "phone" in ending else desk
    return device | DARK if "dark" in ending else device


class Photographer:
    """Opens pages as a worker or as staff, in every look."""

    def __init__(self, browser: Browser, origin: str) -> None:
        self._browser = browser
        self._origin = origin

    def of_worker(
        self,
        path: str,
        *,
        name: str,
        assignment: Assignment | None = None,
        desk: dict[str, Any] = WINDOW,
    ) -> Iterator[tuple[str, Page]]:
        cookies = [worker_cookie(assignment.worker, self._origin)] if assignment else []
        return self._in_its_looks(path, name, cookies, desk)

    def of_staff(
        self, user: User, path: str, *, name: str, desk: dict[str, Any] = DESK
    ) -> Iterator[tuple[str, Page]]:
        return self._in_its_looks(path, name, [session_cookie(user, self._origin)], desk)

    def _in_its_looks(
        self, path: str, name: str, cookies: list[Any], desk: dict[str, Any]
    ) -> Iterator[tuple[str, Page]]:
        for ending in looks_of(name):
            context = self._browser.new_context(base_url=self._origin, **look(ending, desk))
            context.add_cookies(cookies)
            page = context.new_page()
            page.goto(path)
            page.wait_for_load_state("networkidle")
            yield ending, page
            context.close()


def keep(page: Page, name: str) -> None:
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path, caret="initial", clip=filled_part(page))
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(N_COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(settings.BASE_DIR)}  {size:,} bytes")
    assert size <= MAX_BYTES, f"{name} is too large."


def filled_part(page: Page) -> Any:
    """The window without the empty space at the bottom."""
    window = page.viewport_size
    last = page.locator("main > *:visible").last.bounding_box()
    assert window and last
    end = last["y"] + last["height"] + 24
    return {"x": 0, "y": 0, "width": window["width"], "height": min(end, window["height"])}


# Workers' pages -------------------------------------------------------------------------------


def take_way_in(photographer: Photographer, campaign: Campaign) -> None:
    for ending, page in photographer.of_worker(campaign.get_absolute_url(), name="landing"):
        keep(page, f"landing{ending}")
        page.locator("main button").click()
        expect(page.locator(".example").first).to_be_visible()
        keep(page, f"instructions{ending}")
        page.goto(reverse("practice", args=[campaign.code, 3]))
        page.locator("#slider").press("9")
        page.locator("#next").click()
        expect(page.locator(".feedback")).to_be_visible()
        keep(page, f"practice{ending}")


def take_rating(photographer: Photographer, campaign: Campaign, name: str) -> None:
    """A HIT a little way in, with the slider set."""
    assignment = assignment_of(make_worker(), campaign)
    rate_items(assignment, n_items=13)
    path = rating_address(assignment)
    for ending, page in photographer.of_worker(path, name=name, assignment=assignment):
        expect(page.locator("#slider")).to_be_focused()
        page.mouse.click(*slider_place(page, 66))
        expect(page.locator("#next")).to_be_enabled()
        keep(page, f"{name}{ending}")


def make_arabic_campaign() -> Campaign:
    """A campaign with a practice item in the screenshot, because its text makes sense."""
    campaign = make_hits_between("en", "ar", name="TED talks: English to Arabic")
    practice_item = practice_for("ar", "reference").items[2]
    item = Item.objects.get(hit__campaign=campaign, hit__number=1, position=14)
    Item.objects.filter(pk=item.pk).update(text=practice_item.translation)
    Segment.objects.filter(translations=item.translation_id).update(
        reference=practice_item.gray_text
    )
    return campaign


def take_end(photographer: Photographer, campaign: Campaign) -> None:
    assignment = assignment_of(make_worker(), campaign)
    rate_items(assignment)
    submit_assignment(assignment=assignment)
    path = reverse("done", args=[assignment.code])
    for ending, page in photographer.of_worker(path, name="done", assignment=assignment):
        keep(page, f"done{ending}")


# Pages of staff -------------------------------------------------------------------------------


def take_first_steps(photographer: Photographer, admin: User) -> None:
    """What somebody sees who has just installed the platform."""
    take(photographer, "front", reverse("home"))
    pages = {"campaigns": reverse("home"), "help": reverse("help")}
    pages["help-search"] = reverse("help_search") + "?q=drifting"
    for name, path in pages.items():
        take(photographer, name, path, admin)


def take_staff(photographer: Photographer, admin: User) -> None:
    """The main pages of an admin and of a researcher."""
    finished = Campaign.objects.get(name=FINISHED_NAME)
    collecting = Campaign.objects.get(name=DEMO_NAME)
    of_finished = {
        "finished": "campaign_overview",
        "workers": "campaign_workers",
        "reports": "text_reports",
        "weights": "worker_weights",
        "results": "campaign_results",
        "segments": "campaign_segments",
        "report": "campaign_report",
        "metrics": "campaign_metrics",
        "payments": "campaign_payments",
    }
    of_collecting = {
        "dashboard": "campaign_overview",
        "held": "held_hits",
        "recruiting": "campaign_recruiting",
        "settings": "campaign_settings",
        "cost": "campaign_cost",
    }
    pages = {name: reverse(view, args=[finished.code]) for name, view in of_finished.items()}
    pages |= {name: reverse(view, args=[collecting.code]) for name, view in of_collecting.items()}
    pages["segments"] += "?sort=-z&state=complete"
    draft = CampaignDraft.objects.get(basics__name=DRAFT_NAME)
    evaluation, of_predictions = finished.evaluations.order_by("number")
    pages |= {
        "list": reverse("home"),
        "plan": reverse("plan_campaign"),
        "worker": reverse("campaign_worker", args=[finished.code, busiest_worker(finished).code]),
        "new-campaign": reverse("new_campaign"),
        "draft": reverse("draft_files", args=[draft.code]),
        "preview": reverse("preview_item", args=[collecting.code, 1, 3]),
        "audit": reverse("audit_log"),
        "people": reverse("people"),
        "health": reverse("health"),
        "jobs": reverse("jobs"),
        "evaluations": reverse("evaluations"),
        "evaluation": reverse("evaluation", args=[evaluation.code]),
        "evaluation-qe": reverse("evaluation", args=[of_predictions.code]),
        "experiment": reverse("experiment", args=[Experiment.objects.get().code]),
        "api": reverse("api_reference"),
    }
    pages |= pages_of_other_tasks()
    for name, path in pages.items():
        take(photographer, name, path, admin)


def take(photographer: Photographer, name: str, path: str, user: User | None = None) -> None:
    desk = TALL if name in TALL_PAGES else DESK
    if user:
        shots = photographer.of_staff(user, path, name=name, desk=desk)
    else:
        shots = photographer.of_worker(path, name=name, desk=desk)
    for ending, page in shots:
        arrange(page, name)
        keep(page, f"{name}{ending}")


def pages_of_other_tasks() -> dict[str, str]:
    """Screens of workers and results, from the examples of other tasks."""
    codes = dict(Campaign.objects.examples().values_list("name", "code"))
    in_documents, side_by_side, ranking, editing = (
        codes[example.name] for example in TASK_EXAMPLES[:4]
    )
    return {
        "in-documents": reverse("preview_item", args=[in_documents, 1, 4]),
        "side-by-side": reverse("preview_item", args=[side_by_side, 1, 2]),
        "rank": reverse("preview_item", args=[ranking, 1, 2]),
        "edit": reverse("preview_item", args=[editing, 1, 3]),
        "ranking": reverse("campaign_ranking", args=[ranking]),
        "effects": reverse("presentation_effects", args=[side_by_side]),
        "post-editions": reverse("post_editions", args=[editing]),
    }


def arrange(page: Page, name: str) -> None:
    """Prepare a page for its screenshot."""
    if name == "worker":
        heading = page.get_by_role("heading", name="Figures")
        heading.evaluate("part => scrollTo(0, part.getBoundingClientRect().top - 16)")
        page.wait_for_load_state("networkidle")
    if name == "new-campaign":
        page.get_by_label("Name", exact=True).fill("News 2026: German to English")
        page.get_by_label("Source language").fill("de")
        page.get_by_label("Target language").fill("en")
    if name == "health":
        # Do not show details of this machine.
        page.get_by_role("row", name="Versions").evaluate("row => row.remove()")


def busiest_worker(campaign: Campaign) -> Worker:
    """The reliable worker with the most evidence."""
    reliable = Evidence.objects.filter(
        participation__campaign=campaign, verdict="reliable", has_scores_flag=False
    )
    return reliable.order_by("-n_pairs", "p")[0].participation.worker


# A platform that has been in use for a while --------------------------------------------------


def make_company(campaign: Campaign, admin: User) -> None:
    """Add other people, campaigns, links, decisions and unfinished jobs."""
    now = timezone.now()
    for number, (name, level, where) in enumerate(
        [
            ("j.keller", "researcher", None),
            ("m.silva", "admin", campaign),
            ("t.okafor", "admin", None),
        ]
    ):
        email = f"{name}@example.org"
        user = invite(username=name, email=email, part=Part(level, where), actor=admin)
        if number < 2:
            user.set_password("a password of the pictures")
            user.last_login = now - timedelta(hours=5 + 20 * number)
            user.save()
    closed = make_hits(name="News 2025: Czech to English", source_language="cs", n_segments=42)
    change_status(campaign=closed, to=Campaign.Status.CLOSED, actor=admin)
    make_translations(make_campaign(name="Patents: German to English"), n_segments=28)
    make_invites(campaign=campaign, n=6, actor=admin, label="Reading group")
    careless = campaign.participations.filter(worker__external_id__startswith="random")
    reason = "Told us that two people shared the task."
    for participation in careless.order_by("pk")[:2]:
        exclude(participation=participation, actor=admin, reason=reason)
    evaluation = evaluate_collection(collection=make_collection(admin), created_by=admin)
    ScoreCollection.objects.filter(pk=evaluation.collection_id).update(name="Submitted metrics")
    run_job(start_job(kind="evaluate", campaign=closed, started_by=admin).pk)
    for queue in QUEUES:
        give_sign(f"{queue}@worker-1", [queue])
    give_sign("beat")
    call_command("backup", verbosity=0)
    waiting = start_job(kind="recompute_workers", campaign=campaign, started_by=admin)
    Job.objects.filter(pk=waiting.pk).update(
        state=Job.State.RUNNING, attempt=1, started_at=now, heartbeat_at=now, n_done=21, n_total=37
    )


def make_admin() -> User:
    return User.objects.create_superuser(
        "a.novak", "a.novak@example.org", "a password of the pictures", last_login=timezone.now()
    )


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
        admin = make_admin()
        start_examples()
        run_job(Job.objects.get().pk)
        take_first_steps(photographer, admin)
        take_way_in(photographer, campaign)
        take_rating(photographer, campaign, "rate")
        take_rating(photographer, make_arabic_campaign(), "rate-arabic")
        take_end(photographer, campaign)
        run_job(start_job(kind=TASK_EXAMPLES_JOB, started_by=admin).pk)
        make_company(campaign, admin)
        take_staff(photographer, admin)
        browser.close()
    GALLERY.write_text(gallery_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
