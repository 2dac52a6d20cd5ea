"""The menu, a campaign's tabs, and other parts of staff pages."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import template
from django.http import HttpRequest
from django.template.context import Context
from django.urls import NoReverseMatch, reverse

from ..campaigns.costs import USUAL_FEE, fee_of
from ..models import Campaign
from ..people.access import Level, Standing, has_level
from ..terms import TERMS

register = template.Library()

# Label, URL name, and the property of `Standing` that is required. Pages whose URL does not exist
# are left out.
MENU = [
    ("Campaigns", "home", "is_member"),
    ("Evaluations", "evaluations", "is_member"),
    ("Jobs", "jobs", "is_member"),
    ("Audit log", "audit_log", "runs_campaigns"),
    ("People", "people", "is_superuser"),
    ("Health", "health", "is_admin"),
    ("API tokens", "api_tokens", "is_member"),
    ("Help", "help", "is_member"),
]

# About the visitor's own login. The last one is only for members.
ACCOUNT = [
    ("Password", "password_change"),
    ("Two-step login", "two_step"),
    ("API tokens", "api_tokens"),
]

# Label, URL name, and the level required in the campaign.
TABS = [
    ("Overview", "campaign_overview", Level.RESEARCHER),
    ("Workers", "campaign_workers", Level.ADMIN),
    ("Results", "campaign_results", Level.RESEARCHER),
    ("Metrics", "campaign_metrics", Level.RESEARCHER),
    ("Payments", "campaign_payments", Level.ADMIN),
    ("Recruiting", "campaign_recruiting", Level.ADMIN),
    ("Settings", "campaign_settings", Level.ADMIN),
]

# Pages that are part of the results, whatever their address.
PARTS_OF_RESULTS = {
    "campaign_report",
    "campaign_ranking",
    "ranking_report",
    "post_editions",
    "presentation_effects",
}

# Campaign pages are siblings of the campaign list, not below it.
CAMPAIGNS_PATH = "/campaigns/"


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    url: str
    is_current: bool = False


@register.inclusion_tag("parts/links.html", takes_context=True)
def menu(context: Context) -> dict[str, Any]:
    """The pages that the visitor may open."""
    standing: Standing = context["standing"]
    pages = [(label, name) for label, name, needed in MENU if getattr(standing, needed)]
    return {"links": _links(context["request"], pages)}


@register.inclusion_tag("parts/links.html", takes_context=True)
def account_tabs(context: Context) -> dict[str, Any]:
    """The pages about the visitor's own login."""
    pages = ACCOUNT if context["standing"].is_member else ACCOUNT[:-1]
    return {"links": _links(context["request"], pages)}


@register.inclusion_tag("parts/links.html", takes_context=True)
def campaign_tabs(context: Context, campaign: Campaign) -> dict[str, Any]:
    """The pages of a campaign that the visitor may open."""
    user = context["request"].user
    tabs = [(label, name) for label, name, level in TABS if has_level(user, level, campaign)]
    return {"links": _links(context["request"], tabs, campaign.code)}


@register.inclusion_tag("parts/explain.html")
def explain(name: str) -> dict[str, Any]:
    """A question mark that explains a word of `hits.terms`; at most once per word and page."""
    term = TERMS.get(name)
    glossary = _url("help_page", "glossary")
    return {"name": name, "term": term, "url": glossary and term and f"{glossary}#{term.anchor}"}


@register.filter
def runs(standing: Standing, campaign: Campaign) -> bool:
    """Whether the visitor is an admin of this campaign: `{% if standing|runs:campaign %}`."""
    return has_level(standing.user, Level.ADMIN, campaign)


@register.filter
def with_fee(pay: Decimal) -> Decimal:
    """Money for workers, and the usual fee of a recruiting platform on top."""
    return pay + fee_of(pay)


@register.simple_tag
def usual_fee() -> str:
    return f"{USUAL_FEE} %"


@register.filter
def opening(campaign: Campaign) -> str:
    """The words on the button that opens a campaign; they say if nobody is paid, or if nothing limits the cost."""
    verb = "Open campaign" if campaign.status == Campaign.Status.DRAFT else "Reopen campaign"
    if not Decimal(campaign.pay_per_hit):
        return f"{verb} without pay"
    return verb if campaign.spending_cap is not None else f"{verb} without a cap"


@register.filter
def opening_to_all(campaign: Campaign) -> str:
    """The words on the button that also lets anyone with the campaign's address take part."""
    return opening(campaign).replace(" campaign", " to anyone with the link", 1)


def _links(request: HttpRequest, pages: list[tuple[str, str]], *args: Any) -> list[Link]:
    links = [(label, url) for label, name in pages if (url := _url(name, *args))]
    # The page itself or the nearest one above it.
    above = [url for _, url in links if _lies_below(_path(request), url)]
    current = max(above, key=len, default="")
    return [Link(label, url, url == current) for label, url in links]


def _path(request: HttpRequest) -> str:
    """The page that a page belongs to: the report is part of the results, whatever its URL."""
    match = request.resolver_match
    if match and match.url_name in PARTS_OF_RESULTS:
        return reverse("campaign_results", kwargs=match.kwargs)
    return request.path


def _lies_below(path: str, url: str) -> bool:
    if url == reverse("home"):
        return path == url or path.startswith(CAMPAIGNS_PATH)
    return path.startswith(url)


def _url(name: str, *args: Any) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""
