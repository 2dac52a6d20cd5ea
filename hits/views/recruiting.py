"""Recruiting workers, for campaign admins: provider, invite links, study, submissions, shared devices."""

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

from da_platform.exceptions import PlatformError

from ..models import Campaign, Recruitment
from ..people.access import for_campaign_admins, user_of
from ..people.guards import shared_devices
from ..recruiting.arrivals import recruitment_of, save_recruitment, settings_form
from ..recruiting.invites import MAX_INVITES, NewInvite, links_csv, make_invites, revoke_invites
from ..recruiting.providers import provider_class
from ..recruiting.studies import SYNC_EVERY, create_study, places_wanted, publish_study

SUBMISSIONS_PER_PAGE = 50
# Only the latest; admins who create thousands of links download them as a file.
INVITES_SHOWN = 100
SIGHTINGS_SHOWN = 200
MAX_DAYS = 365
# The largest value of the database column.
MAX_USES = 2**31 - 1


class ProviderForm(forms.Form):
    provider = forms.ChoiceField(choices=Recruitment.Provider.choices, label="Workers come from")


class LinksForm(forms.Form):
    PERSONAL, SHARED = "personal", "shared"

    kind = forms.ChoiceField(
        choices=[
            (PERSONAL, "Personal: each link is for one person, on any of their devices"),
            (SHARED, "Shared: for anyone with the link, up to a number of people"),
        ],
        initial=PERSONAL,
        widget=forms.RadioSelect,
        label="Kind",
    )
    n = forms.IntegerField(min_value=1, max_value=MAX_INVITES, initial=10, label="Number of links")
    max_uses = forms.IntegerField(
        min_value=1,
        max_value=MAX_USES,
        required=False,
        label="People per shared link",
        help_text="Leave empty for no limit.",
    )
    days = forms.IntegerField(
        min_value=1, max_value=MAX_DAYS, initial=30, label="Days until they expire"
    )
    label = forms.CharField(
        max_length=80, required=False, help_text="Only admins see it. Multiple links are numbered."
    )


@require_GET
@for_campaign_admins
def recruiting(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    return _show(request, campaign)


def _show(
    request: HttpRequest,
    campaign: Campaign,
    *,
    provider_settings: forms.Form | None = None,
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
        "settings_form": provider_settings or settings_form(recruitment, chosen),
        "links_form": links_form or LinksForm(),
        "new_links": new_links,
        "landing_url": request.build_absolute_uri(campaign.get_absolute_url()),
        "study_url": f"{settings.PROLIFIC_APP_URL}/researcher/workspaces/studies/{recruitment.study}",
        "question_url": request.build_absolute_uri(
            reverse("external_question", args=[campaign.code])
        ),
        "hook_url": request.build_absolute_uri(reverse("prolific_hook")),
        **_invites(campaign),
        **_submissions(request, recruitment),
        "devices": _devices(campaign),
        "sync_minutes": SYNC_EVERY // timedelta(minutes=1),
    }
    return render(request, "hits/recruiting.html", context, status=status)


def _chosen_provider(request: HttpRequest, recruitment: Recruitment) -> str:
    provider = request.POST.get("provider") or request.GET.get("provider", "")
    return provider if provider in Recruitment.Provider.values else recruitment.provider


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
    """Return each device used by more than one worker, with those workers."""
    sightings = shared_devices(campaign)[:SIGHTINGS_SHOWN]
    devices = groupby(sightings, key=lambda sighting: (sighting.get_kind_display(), sighting.mark))
    return [{"kind": kind, "sightings": list(group)} for (kind, _), group in devices]


# Actions ------------------------------------------------------------------------------------


@require_POST
@for_campaign_admins
def save_settings(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    recruitment = recruitment_of(campaign)
    provider = _chosen_provider(request, recruitment)
    form = settings_form(recruitment, provider, request.POST.dict())
    if not form.is_valid():
        return _show(request, campaign, provider_settings=form, status=422)
    try:
        save_recruitment(
            campaign=campaign, provider=provider, values=form.cleaned_data, actor=user_of(request)
        )
    except PlatformError as refusal:
        form.add_error(None, str(refusal))
        return _show(request, campaign, provider_settings=form, status=409)
    messages.success(request, "Saved.")
    return redirect("campaign_recruiting", campaign.code)


@require_POST
@for_campaign_admins
def make_links(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Create links and show them once, on the page or as a file."""
    form = LinksForm(request.POST)
    if not form.is_valid():
        return _show(request, campaign, links_form=form, status=422)
    values = form.cleaned_data
    invites = make_invites(
        campaign=campaign,
        n=values["n"],
        actor=user_of(request),
        label=values["label"],
        is_personal=values["kind"] == LinksForm.PERSONAL,
        max_uses=values["max_uses"],
        expires_at=timezone.now() + timedelta(days=values["days"]),
    )
    links = [_link(request, new) for new in invites]
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
    chosen = [int(pk) for pk in request.POST.getlist("invite") if re.fullmatch("[0-9]{1,18}", pk)]
    pks = None if "all" in request.POST else chosen
    n_revoked = revoke_invites(campaign=campaign, pks=pks, actor=user_of(request))
    if not n_revoked:
        messages.warning(request, "No links were revoked. Select the links to revoke first.")
        return redirect("campaign_recruiting", campaign.code)
    links = "1 link" if n_revoked == 1 else f"{n_revoked:,} links"
    messages.success(request, f"Revoked {links}. Workers who already used one keep their access.")
    return redirect("campaign_recruiting", campaign.code)


@require_POST
@for_campaign_admins
def change_study(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Create, publish or update the study at Prolific."""
    recruitment, actor = recruitment_of(campaign), user_of(request)
    action = request.POST.get("action", "")
    try:
        if action == "create":
            landing_url = request.build_absolute_uri(campaign.get_absolute_url())
            create_study(recruitment=recruitment, landing_url=landing_url, actor=actor)
            messages.success(
                request, "Draft created at Prolific. Review it there, then publish it."
            )
        elif action == "publish":
            status = publish_study(recruitment=recruitment, actor=actor)
            messages.success(request, f"The study is {status.lower()} at Prolific.")
        elif action in ("sync_submissions", "raise_places"):
            return _start_job(request, campaign, action)
    except PlatformError as refusal:
        messages.error(request, str(refusal))
    return redirect("campaign_recruiting", campaign.code)


def _start_job(request: HttpRequest, campaign: Campaign, kind: str) -> HttpResponse:
    # Imported here because jobs load much that pages do not need.
    from da_platform.jobs.running import start_job

    job = start_job(kind=kind, campaign=campaign, started_by=user_of(request))
    return redirect("job", job.code)
