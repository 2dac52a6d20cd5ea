"""Pages for a ranking by judgements: systems in clusters, head to head, and agreement."""

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
from hits.people.access import for_campaign_researchers

from ..ranking.pictures import PICTURES
from ..ranking.stored import by_direct_assessment, latest_ranking
from ..ranking.tables import TABLES
from ..stats.trueskill import RUNS
from ..tables.writing import to_latex, to_markdown

TABLE_TYPES = {"csv": "text/csv", "tex": "application/x-tex", "md": "text/markdown"}
MOST_RUNS = 10_000


class RankForm(forms.Form):
    runs = forms.IntegerField(
        min_value=1, max_value=MOST_RUNS, initial=RUNS, label="Runs of TrueSkill"
    )
    trusted_only = forms.BooleanField(required=False, initial=True, label="Only trusted workers")


@require_GET
@for_campaign_researchers
def ranking(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the latest ranking, or how to make one."""
    facts = latest_ranking(campaign)
    running = Job.objects.unfinished().filter(campaign=campaign, kind="rank_judgements")
    context = {
        "campaign": campaign,
        "facts": facts,
        "tables": {name: make(facts) for name, make in TABLES.items()} if facts else {},
        "pictures": [make(facts) for make in PICTURES.values()] if facts else [],
        "others": by_direct_assessment(campaign, facts, request.user) if facts else None,
        "running": running.order_by("-pk").first(),
        "form": RankForm(),
        "table_types": TABLE_TYPES,
        "picture_types": CONTENT_TYPES,
    }
    return render(request, "analysis/ranking.html", context)


@require_POST
@for_campaign_researchers
def start(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Start a job that ranks the systems."""
    form = RankForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Nothing was ranked. Enter 1 to {MOST_RUNS:,} runs.")
        return redirect("campaign_ranking", campaign.code)
    assert isinstance(request.user, User)
    job = start_job(
        kind="rank_judgements",
        campaign=campaign,
        arguments=form.cleaned_data,
        started_by=request.user,
    )
    return redirect("job", job.code)


@require_GET
@for_campaign_researchers
def table(request: HttpRequest, campaign: Campaign, name: str, fmt: str) -> HttpResponse:
    """Download a table of the latest ranking."""
    facts = latest_ranking(campaign)
    if facts is None or name not in TABLES or fmt not in TABLE_TYPES:
        raise Http404("There is no such table.")
    shown = TABLES[name](facts)
    content = shown.csv() if fmt == "csv" else (to_latex if fmt == "tex" else to_markdown)(shown)
    response = HttpResponse(content, content_type=f"{TABLE_TYPES[fmt]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.{fmt}"'
    return response


@require_GET
@for_campaign_researchers
def picture(request: HttpRequest, campaign: Campaign, name: str, fmt: str) -> HttpResponse:
    """Draw a picture of the latest ranking."""
    facts = latest_ranking(campaign)
    if facts is None or name not in PICTURES:
        raise Http404("There is no such picture.")
    return picture_file(PICTURES[name](facts), fmt)
