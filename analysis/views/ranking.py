"""Pages for a ranking by judgements: systems in clusters, head to head, and agreement."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from da_platform.extras import ExtraMissing
from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import picture_file
from hits.models import Campaign
from hits.people.access import (
    Level,
    Visitor,
    campaigns_of,
    for_campaign_researchers,
    has_level,
)
from hits.ranking.exporting import WRITERS, judgements_file

from ..downloads import ranking_report_file, table_file
from ..evaluation.result_page import TABLE_TYPES, ShownTable
from ..gold.named_workers import MOST_WORKERS, WorkersRefused
from ..models import GoldRun
from ..ranking.judge_groups import Groups, groups_in
from ..ranking.pictures import PICTURES
from ..ranking.report import make_report
from ..ranking.results import Facts, is_from_scores
from ..ranking.stored import (
    MOST_RUNS,
    MOST_SEED,
    gold_of,
    golds_next_to,
    latest_ranking,
    with_direct_assessment,
)
from ..ranking.tables import tables_of
from ..stats.trueskill import LOOKUPS, RUNS


class RankForm(forms.Form):
    runs = forms.IntegerField(
        min_value=1, max_value=MOST_RUNS, initial=RUNS, label="Runs of TrueSkill"
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_SEED,
        label="Seed",
        help_text="The same seed gives the same scores. Blank: the campaign's.",
    )
    trusted_only = forms.BooleanField(required=False, initial=True, label="Only trusted workers")
    lookup = forms.ChoiceField(
        choices=zip(
            LOOKUPS,
            ("All judgements of a pair", "Those that the program of WMT15 found"),
            strict=True,
        ),
        initial=LOOKUPS[0],
        label="Draw from",
        help_text="The second option reproduces the official rankings.",
    )
    groups = forms.CharField(
        required=False,
        max_length=MOST_WORKERS * 60,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        label="Groups of judges",
        help_text="For kappa within each group. A judge and a group on each line, such as “w1a2b3c, "
        "researchers”: pseudonyms as in the exports or, for admins, ids. Leave blank to group "
        "judges by how they were recruited.",
    )

    def __init__(self, campaign: Campaign, user: Visitor, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._campaign, self._sees_ids = campaign, has_level(user, Level.ADMIN, campaign)

    def clean_groups(self) -> Groups:
        """Return the group of each judge by pseudonym."""
        if not (text := self.cleaned_data["groups"].strip()):
            return {}
        try:
            return groups_in(self._campaign, text, by_id=self._sees_ids)
        except WorkersRefused as refusal:
            raise forms.ValidationError(list(map(str, refusal.problems))) from None


@require_GET
@for_campaign_researchers
def ranking(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the latest ranking, or how to make one."""
    facts, golds = _facts(request, campaign)
    running = Job.objects.unfinished().filter(campaign=campaign, kind="rank_judgements")
    context = {
        "campaign": campaign,
        "facts": facts,
        "is_from_scores": is_from_scores(campaign),
        "tables": [ShownTable(table) for table in tables_of(facts).values()] if facts else [],
        "pictures": [make(facts) for make in PICTURES.values()] if facts else [],
        "golds": golds,
        "running": running.order_by("-pk").first(),
        "form": RankForm(campaign, request.user),
        "table_types": list(TABLE_TYPES),
        "picture_types": CONTENT_TYPES,
    }
    return render(request, "analysis/ranking.html", context)


def _facts(request: HttpRequest, campaign: Campaign) -> tuple[Facts | None, list[GoldRun]]:
    """Return the latest ranking next to the chosen gold, and all gold that it can stand next to."""
    if (facts := latest_ranking(campaign)) is None:
        return None, []
    golds = golds_next_to(campaign, facts, campaigns_of(request.user))
    chosen = gold_of(golds, request.GET.get("gold"))
    if request.GET.get("gold") and chosen is None:
        raise Http404("Gold not found.")
    return with_direct_assessment(facts, chosen), golds


@require_POST
@for_campaign_researchers
def start(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Start a job that ranks the systems."""
    form = RankForm(campaign, request.user, request.POST)
    if not form.is_valid():
        reason = " ".join(map(str, form.errors.get("groups", ())))
        reason = (
            reason or f"Enter 1 to {MOST_RUNS:,} runs, and a seed from 0 to {MOST_SEED:,} or none."
        )
        messages.error(request, f"Nothing was ranked. {reason}")
        return redirect("campaign_ranking", campaign.code)
    assert isinstance(request.user, User)
    arguments = dict(form.cleaned_data)
    if not arguments["groups"]:
        del arguments["groups"]
    job = start_job(
        kind="rank_judgements",
        campaign=campaign,
        arguments=arguments,
        started_by=request.user,
    )
    return redirect("job", job.code)


@require_GET
@for_campaign_researchers
def table(request: HttpRequest, campaign: Campaign, name: str, fmt: str) -> HttpResponse:
    """Download a table of the latest ranking."""
    facts, _ = _facts(request, campaign)
    shown = tables_of(facts).get(name) if facts else None
    if shown is None or fmt not in TABLE_TYPES:
        raise Http404("There is no such table.")
    return table_file(shown, fmt)


@require_GET
@for_campaign_researchers
def report(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the report on the latest ranking, ready to print."""
    facts, _ = _facts(request, campaign)
    if facts is None:
        return redirect("campaign_ranking", campaign.code)
    context = {"campaign": campaign, "report": make_report(campaign, facts)}
    return render(request, "analysis/ranking_report.html", context)


@require_GET
@for_campaign_researchers
def report_pdf(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    facts, _ = _facts(request, campaign)
    if facts is None:
        raise Http404("The systems have not been ranked by judgements yet.")
    try:
        return ranking_report_file(campaign, facts)
    except ExtraMissing as error:
        messages.error(request, str(error))
        return redirect("ranking_report", campaign.code)


@require_GET
@for_campaign_researchers
def judgements(request: HttpRequest, campaign: Campaign, fmt: str) -> FileResponse:
    """Download what workers ranked, in a layout of WMT."""
    if f".{fmt}" not in WRITERS:
        raise Http404("There is no such layout.")
    return judgements_file(campaign, fmt)


@require_GET
@for_campaign_researchers
def picture(request: HttpRequest, campaign: Campaign, name: str, fmt: str) -> HttpResponse:
    """Draw a picture of the latest ranking."""
    facts = latest_ranking(campaign)
    if facts is None or name not in PICTURES:
        raise Http404("There is no such picture.")
    return picture_file(PICTURES[name](facts), fmt, use=request.GET.get("for", ""))
