"""How workers come to a campaign, for its admins: provider, links, study, submissions, shared devices."""

import re
from datetime import timedelta
from itertools import groupby
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from ..access import for_campaign_admins
from ..exceptions import HitsError
from ..guards import shared_devices
from ..models import Campaign, Recruitment
from ..providers import provider_class
from ..recruiting.arrivals import recruitment_of, save_recruitment, settings_form
from ..recruiting.invites import MAX_INVITES, NewInvite, links_csv, make_invites, revoke_invites
from ..recruiting.studies import create_study, places_wanted, publish_study
from .running import person

SUBMISSIONS_PER_PAGE = 50
# The latest; whoever makes thousands keeps the file.
INVITES_SHOWN = 100
SIGHTINGS_SHOWN = 200
MAX_DAYS = 365
# The largest number that the database counts to here.
MAX_USES = 2**31 - 1


class ProviderForm(forms.Form):
    provider = forms.ChoiceField(choices=Recruitment.Provider.choices, label="Workers come by")


class LinksForm(forms.Form):
    PERSONAL, SHARED = "personal", "shared"

    kind = forms.ChoiceField(
        choices=[
            (PERSONAL, "Personal: each link is for one person, on any of their devices"),
            (SHARED, "Shared: anyone who has the link, up to a number of people"),
        ],
        initial=PERSONAL,
        widget=forms.RadioSelect,
        label="Kind",
    )
    n = forms.IntegerField(min_value=1, max_value=MAX_INVITES, initial=10, label="How many links")
    max_uses = forms.IntegerField(
        min_value=1,
        max_value=MAX_USES,
        required=False,
        label="People for each shared link",
        help_text="Empty: no limit.",
    )
    days = forms.IntegerField(
        min_value=1, max_value=MAX_DAYS, initial=30, label="Days until they expire"
    )
    label = forms.CharField(
        max_length=80, required=False, help_text="For you alone; several links are numbered."
    )


# The page ------------------------------------------------------------------------------------


@require_GET
@for_campaign_admins
def recruiting(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    return _show(request, campaign)


def _show(
    request: HttpRequest,
    campaign: Campaign,
    *,
    shown_form: forms.Form | None = None,
    links_form: LinksForm | None = None,
    new_links: list[dict[str, str]] | None = None,
    status: int = 200,
) -> HttpResponse:
    recruitment = recruitment_of(campaign)
    chosen = _chosen_provider(request, recruitment)
    context = {
        "campaign": campaign,
        "recruitment": recruitment,
        "chosen": chosen,
        "label": provider_class(chosen).label,
        "provider_form": ProviderForm(initial={"provider": chosen}),
        "settings_form": shown_form or settings_form(recruitment, chosen),
        "links_form": links_form or LinksForm(),
        "new_links": new_links,
        "landing_url": request.build_absolute_uri(campaign.get_absolute_url()),
        "study_url": f"{settings.PROLIFIC_APP_URL}/researcher/workspaces/studies/{recruitment.study}",
        "hook_url": request.build_absolute_uri(reverse("prolific_hook")),
        **_invites(campaign),
        **_submissions(request, recruitment),
        "devices": _devices(campaign),
    }
    return render(request, "hits/recruiting.html", context, status=status)


def _chosen_provider(request: HttpRequest, recruitment: Recruitment) -> str:
    asked = request.POST.get("provider") or request.GET.get("provider", "")
    return asked if asked in Recruitment.Provider.values else recruitment.provider


def _invites(campaign: Campaign) -> dict[str, Any]:
    now = timezone.now()
    is_usable = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now))
    counts = campaign.invites.aggregate(
        n_invites=Count("pk"),
        n_usable=Count("pk", filter=is_usable),
        n_used=Count("pk", filter=Q(n_uses__gt=0)),
    )
    return {"invites": campaign.invites.order_by("-pk")[:INVITES_SHOWN], "now": now, **counts}


def _submissions(request: HttpRequest, recruitment: Recruitment) -> dict[str, Any]:
    if recruitment.pk is None:
        return {"page": None, "n_wanted": 0}
    rows = recruitment.submissions.select_related("worker", "assignment").order_by("-pk")
    page = Paginator(rows, SUBMISSIONS_PER_PAGE).get_page(request.GET.get("page"))
    return {"page": page, "n_wanted": places_wanted(recruitment)}


def _devices(campaign: Campaign) -> list[dict[str, Any]]:
    """Each device that several workers were seen with, and who they are."""
    sightings = shared_devices(campaign)[:SIGHTINGS_SHOWN]
    devices = groupby(sightings, key=lambda sighting: (sighting.get_kind_display(), sighting.mark))
    return [{"kind": kind, "sightings": list(own)} for (kind, _), own in devices]


# What admins do ------------------------------------------------------------------------------


@require_POST
@for_campaign_admins
def save_settings(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    recruitment = recruitment_of(campaign)
    provider = _chosen_provider(request, recruitment)
    form = settings_form(recruitment, provider, request.POST.dict())
    if not form.is_valid():
        return _show(request, campaign, shown_form=form, status=422)
    try:
        save_recruitment(
            campaign=campaign, provider=provider, values=form.cleaned_data, actor=person(request)
        )
    except HitsError as refusal:
        form.add_error(None, str(refusal))
        return _show(request, campaign, shown_form=form, status=409)
    messages.success(request, "Saved.")
    return redirect("campaign_recruiting", campaign.code)


@require_POST
@for_campaign_admins
def make_links(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Make links and show them this once, on the page or as a file."""
    form = LinksForm(request.POST)
    if not form.is_valid():
        return _show(request, campaign, links_form=form, status=422)
    wanted = form.cleaned_data
    made = make_invites(
        campaign=campaign,
        n=wanted["n"],
        actor=person(request),
        label=wanted["label"],
        is_personal=wanted["kind"] == LinksForm.PERSONAL,
        max_uses=wanted["max_uses"],
        expires_at=timezone.now() + timedelta(days=wanted["days"]),
    )
    links = [_link(request, new) for new in made]
    if "as_file" not in request.POST:
        return _show(request, campaign, new_links=links)
    rows = [(link["label"], link["url"], link["expires_at"]) for link in links]
    response = HttpResponse(links_csv(rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="links-{campaign.code}.csv"'
    return response


def _link(request: HttpRequest, new: NewInvite) -> dict[str, str]:
    expires_at = new.invite.expires_at
    return {
        "label": new.invite.label,
        "url": request.build_absolute_uri(reverse("join", args=[new.token])),
        "expires_at": expires_at.isoformat(timespec="seconds") if expires_at else "",
    }


@require_POST
@for_campaign_admins
def revoke_links(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Withdraw one link, or all of them."""
    chosen = [int(pk) for pk in request.POST.getlist("invite") if re.fullmatch("[0-9]{1,18}", pk)]
    everything = "all" in request.POST
    n_revoked = revoke_invites(
        campaign=campaign, pks=None if everything else chosen, actor=person(request)
    )
    messages.success(request, f"Withdrawn: {n_revoked}. Whoever came in by one stays in.")
    return redirect("campaign_recruiting", campaign.code)


@require_POST
@for_campaign_admins
def change_study(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Create or publish the study at Prolific, or have its news fetched."""
    recruitment, actor = recruitment_of(campaign), person(request)
    action = request.POST.get("action", "")
    try:
        if action == "create":
            landing_url = request.build_absolute_uri(campaign.get_absolute_url())
            create_study(recruitment=recruitment, landing_url=landing_url, actor=actor)
            messages.success(
                request, "The draft is at Prolific. Look at it there, then publish it."
            )
        elif action == "publish":
            status = publish_study(recruitment=recruitment, actor=actor)
            messages.success(request, f"The study is {status.lower()} at Prolific.")
        elif action in ("sync_submissions", "raise_places"):
            return _start_job(request, campaign, action)
    except HitsError as refusal:
        messages.error(request, str(refusal))
    return redirect("campaign_recruiting", campaign.code)


def _start_job(request: HttpRequest, campaign: Campaign, kind: str) -> HttpResponse:
    # Here and not above: jobs load much that a page does not need.
    from analysis.jobs import start_job

    job = start_job(kind=kind, campaign=campaign, started_by=person(request))
    return redirect("job", job.code)
