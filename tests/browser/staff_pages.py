"""Browser profiles of staff, and every page they can open."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page

from analysis.evaluation.report import PAGE, write_report
from analysis.evaluation.stored_evaluations import evaluate_again
from analysis.models import Evaluation
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Campaign
from hits.workers.trust import weigh_pending
from tests.browser.opening import Visitor
from tests.factories import make_campaign, make_hits, make_translations
from tests.looked_at import made_up_look
from tests.people import browser_of, make_person
from tests.plenty import Plenty, make_plenty, path_of, staff_addresses


def session_cookie(user: User, origin: str) -> Any:
    """The cookie of a user who is logged in."""
    cookie = browser_of(user).cookies[settings.SESSION_COOKIE_NAME]
    return {"name": cookie.key, "value": cookie.value, "url": origin}


def staff_context(
    visitor: Visitor, role: str = "admin", campaign: Campaign | None = None, **options: Any
) -> BrowserContext:
    """The browser profile of a new person with this role, who is logged in."""
    context = visitor.open_context(**options)
    context.add_cookies([session_cookie(make_person(role, campaign), visitor.origin)])
    return context


def make_busy_campaign(**fields: Any) -> Campaign:
    """A campaign with reliable and unreliable workers."""
    campaign = make_hits(
        n_segments=70, hit_size=100, min_ratings=4, pay_per_hit=2, currency="EUR", **fields
    )
    # Adversarial workers always fail the check; random ones pass it now and then.
    crowd = {Behaviour.HONEST: 3, Behaviour.ADVERSARIAL: 1}
    simulate_workers(campaign=campaign, crowd=crowd, hits_per_worker=2, seed=3)
    weigh_pending()
    return campaign


def staff_pages(user: User, folder: Path) -> list[tuple[str, str]]:
    """Every page of the URL configuration with some content, then pages in other states."""
    plenty = make_plenty(2, admin=user, superuser=user)
    plenty.campaign.instructions = "Read.\n\n- twice"
    plenty.campaign.save()
    browser = browser_of(user)
    addresses = [(address.name, path_of(address, plenty)) for address in staff_addresses()]
    return [
        *((name, path) for name, path in addresses if _is_page(browser, path)),
        *_other_states(plenty),
        ("evaluation report", _write_report(plenty.evaluation, folder)),
    ]


def _is_page(browser: Client, path: str) -> bool:
    """Whether this is a whole page, not an image, a file or a part of a page."""
    answer = browser.get(path)
    if answer.streaming:
        answer.close()
        return False
    return answer.status_code == 200 and b"<main" in answer.content


def _other_states(plenty: Plenty) -> list[tuple[str, str]]:
    busy = make_busy_campaign(spending_cap=40)
    unreliable = busy.participations.order_by("pk").filter(trust="unreliable")[0].worker
    unbuilt = make_campaign()
    make_translations(unbuilt, n_segments=28)
    looked_at = make_campaign(n_looks=3)
    made_up_look(looked_at)
    nothing = f"{reverse('campaign_workers', args=[unbuilt.code])}?search=nobody"
    practice = reverse("preview_practice", args=[plenty.campaign.code, 1])
    return [
        ("nothing found", f"{reverse('home')}?q=zzz"),
        ("no worker found", nothing),
        ("no results yet", reverse("campaign_results", args=[unbuilt.code])),
        ("no metrics yet", reverse("campaign_metrics", args=[unbuilt.code])),
        ("next step: build", reverse("campaign_overview", args=[unbuilt.code])),
        ("looks", reverse("campaign_looks", args=[looked_at.code])),
        ("looks on the overview", reverse("campaign_overview", args=[looked_at.code])),
        ("some unreliable", reverse("campaign_workers", args=[busy.code])),
        ("unreliable", reverse("campaign_worker", args=[busy.code, unreliable.code])),
        ("preview of feedback", f"{practice}?score=3"),
        ("api_reference", reverse("api_reference")),
    ]


def _write_report(evaluation: Evaluation, folder: Path) -> str:
    """Write the report of `manage.py evaluate` and return its file URL."""
    write_report(evaluate_again(evaluation), folder / "report")
    return (folder / "report" / PAGE).as_uri()


def staff_tour(
    visitor: Visitor, folder: Path, only: Collection[str] = (), **options: Any
) -> Iterator[tuple[str, Page]]:
    """Open all pages for staff, or only some, as a superuser; then those for strangers."""
    user = make_person("superuser")
    context = visitor.open_context(**options)
    context.add_cookies([session_cookie(user, visitor.origin)])
    page = context.new_page()
    for name, address in staff_pages(user, folder):
        if not only or name in only:
            page.goto(address)
            yield name, page
    if only:
        return
    stranger = visitor.open_context(**options).new_page()
    for name in ("home", "login", "login_code", "password_reset", "password_reset_done"):
        stranger.goto(reverse(name))
        yield f"{name}, not logged in", stranger
