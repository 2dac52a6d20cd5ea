"""People of the staff at the screen, and every page they can meet."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page

from analysis.gold import build_gold
from analysis.jobs import run_job, start_job
from da_platform.sessions import SessionStore
from hits.audit import record
from hits.models import Campaign, CampaignDraft
from hits.simulation import Behaviour, simulate_workers
from hits.trust import weigh_pending
from tests.browser.opening import Visitor
from tests.factories import make_campaign, make_hits, make_translations
from tests.people import make_person


def session_cookie(user: User, origin: str) -> Any:
    """The cookie of someone who has logged in."""
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return {"name": settings.SESSION_COOKIE_NAME, "value": session.session_key, "url": origin}


def staff_context(visitor: Visitor, role: str = "admin", **options: Any) -> BrowserContext:
    context = visitor.open_context(**options)
    context.add_cookies([session_cookie(make_person(role), visitor.origin)])
    return context


def make_busy_campaign(**fields: Any) -> Campaign:
    """A campaign with reliable and unreliable workers in it."""
    campaign = make_hits(
        n_segments=70, hit_size=100, min_ratings=4, pay_per_hit=2, currency="EUR", **fields
    )
    crowd = {Behaviour.HONEST: 3, Behaviour.RANDOM: 1}
    simulate_workers(campaign=campaign, crowd=crowd, hits_per_worker=2, seed=3)
    weigh_pending()
    return campaign


def staff_pages() -> list[tuple[str, str]]:
    """What there is to see, by name and address, with something on every page."""
    busy = make_busy_campaign(spending_cap=40, instructions="Read.\n\n- twice")
    unbuilt = make_campaign()
    make_translations(unbuilt, n_segments=28)
    record("campaign opened", campaign=busy, actor=make_person("admin"), reason="A test.")
    draft = CampaignDraft.objects.create(
        owner=User.objects.get(is_superuser=True),
        basics={
            "name": "New",
            "source_language": "de",
            "target_language": "en",
            "task": "reference",
        },
    )
    pages = [("home", reverse("home")), ("nothing found", f"{reverse('home')}?q=zzz")]
    names = [
        "campaign_overview",
        "campaign_settings",
        "campaign_instructions",
        "campaign_cost",
        "preview_landing",
        "preview_instructions",
        "campaign_workers",
        "campaign_payments",
        "campaign_recruiting",
        "campaign_results",
        "campaign_segments",
        "campaign_report",
    ]
    build_gold(campaign=busy, minimum=1)
    run_job(start_job(kind="measure_agreement", campaign=busy).pk)
    rater = busy.participations.order_by("pk")[0].worker
    pages += [(name, reverse(name, args=[busy.code])) for name in names]
    person = make_person("researcher", busy)
    return [
        *pages,
        ("campaign_worker", reverse("campaign_worker", args=[busy.code, rater.code])),
        ("no results yet", reverse("campaign_results", args=[unbuilt.code])),
        ("api_tokens", reverse("api_tokens")),
        ("api_reference", reverse("api_reference")),
        ("health", reverse("health")),
        ("preview_item", reverse("preview_item", args=[busy.code, 1, 2])),
        ("next step: build", reverse("campaign_overview", args=[unbuilt.code])),
        ("new_campaign", reverse("new_campaign")),
        ("draft_files", reverse("draft_files", args=[draft.code])),
        ("audit_log", reverse("audit_log")),
        ("people", reverse("people")),
        ("person", reverse("person", args=[person.pk])),
        ("password_change", reverse("password_change")),
        ("two_step", reverse("two_step")),
        ("jobs", reverse("jobs")),
    ]


def staff_tour(visitor: Visitor, **options: Any) -> Iterator[tuple[str, Page]]:
    """Open every page of staff as a superuser, then those for strangers."""
    page = staff_context(visitor, "superuser", **options).new_page()
    for name, address in staff_pages():
        page.goto(address)
        yield name, page
    stranger = visitor.open_context(**options).new_page()
    for name in ("home", "login", "login_code", "password_reset", "password_reset_done"):
        stranger.goto(reverse(name))
        yield f"{name}, not logged in", stranger
