"""Pages for the effects of how translations were shown: places on a screen and in a document, and the context."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import picture_file
from hits.models import Campaign
from hits.people.access import Visitor, campaigns_of, for_campaign_researchers

from ..downloads import table_file
from ..evaluation.result_page import TABLE_TYPES
from ..gold.presentation_effects import latest_effects
from ..gold.presentation_pictures import pictures_of
from ..gold.presentation_tables import tables_of


class EffectsForm(forms.Form):
    against = forms.ModelChoiceField(
        Campaign.objects.none(),
        to_field_name="code",
        required=False,
        blank=True,
        empty_label="None: only places",
        label="Campaign to compare with",
        help_text="With gold of the same texts shown in another way, such as without their document.",
    )

    def __init__(self, campaign: Campaign, user: Visitor, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        against = self.fields["against"]
        assert isinstance(against, forms.ModelChoiceField)
        against.queryset = (
            campaigns_of(user)
            .filter(
                source_language=campaign.source_language,
                target_language=campaign.target_language,
                gold_runs__isnull=False,
            )
            .exclude(pk=campaign.pk)
            .distinct()
            .order_by("name")
        )


@require_GET
@for_campaign_researchers
def effects(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the latest effects, or how to measure them."""
    facts = latest_effects(campaign)
    running = Job.objects.unfinished().filter(campaign=campaign, kind="measure_presentation")
    context = {
        "campaign": campaign,
        "facts": facts,
        "tables": tables_of(facts) if facts else {},
        "pictures": pictures_of(facts) if facts else {},
        "running": running.order_by("-pk").first(),
        "form": EffectsForm(campaign, request.user),
        "table_types": list(TABLE_TYPES),
        "picture_types": CONTENT_TYPES,
    }
    return render(request, "analysis/presentation_effects.html", context)


@require_POST
@for_campaign_researchers
def start(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Start a job that measures the effects."""
    form = EffectsForm(campaign, request.user, request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was measured. Choose a campaign from the list.")
        return redirect("presentation_effects", campaign.code)
    assert isinstance(request.user, User)
    against = form.cleaned_data["against"]
    job = start_job(
        kind="measure_presentation",
        campaign=campaign,
        arguments={"against": str(against.code)} if against else {},
        started_by=request.user,
    )
    return redirect("job", job.code)


@require_GET
@for_campaign_researchers
def table(request: HttpRequest, campaign: Campaign, name: str, fmt: str) -> HttpResponse:
    """Download a table of the latest effects."""
    facts = latest_effects(campaign)
    shown = tables_of(facts).get(name) if facts else None
    if shown is None or fmt not in TABLE_TYPES:
        raise Http404("There is no such table.")
    return table_file(shown, fmt)


@require_GET
@for_campaign_researchers
def picture(request: HttpRequest, campaign: Campaign, name: str, fmt: str) -> HttpResponse:
    """Draw a plot of the latest effects."""
    facts = latest_effects(campaign)
    shown = pictures_of(facts).get(name) if facts else None
    if shown is None:
        raise Http404("There is no such picture.")
    return picture_file(shown, fmt, use=request.GET.get("for", ""))
