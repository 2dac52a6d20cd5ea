"""Pages for a campaign's results: segment scores, systems, agreement, figures and exports."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.plots.responses import drawn_file
from hits.models import Campaign
from hits.people.access import (
    Level,
    Visitor,
    campaigns_of,
    for_campaign_researchers,
    has_level,
)
from hits.task_kinds import kind_of

from ..downloads import exported
from ..exporting import ExportRefused
from ..exporting.offered import DOWNLOAD_FORMATS, DOWNLOADS, OF_A_RUN
from ..exporting.service import TABLE_FORMATS
from ..gold import documents
from ..gold.all_segments import HelperRefused, find_helper, helpers_of
from ..gold.document_ranking import rankings_by_documents
from ..gold.named_workers import MOST_WORKERS, WorkersRefused, pseudonyms_of
from ..gold.report import enough_ratings, helped
from ..gold.results import (
    AGREEMENT_PICTURES,
    SORTABLE,
    Results,
    agreement_key,
    agreement_makers,
    agreement_pictures,
    latest_agreement,
    run_of,
    segment_rows,
)
from ..models import GoldRun

SEGMENTS_PER_PAGE = 50
# The headers of the sortable columns.
SEGMENT_COLUMNS = {
    "segment": "Segment",
    "system": "System",
    "z": "z",
    "raw": "Raw",
    "n": "Ratings",
}
DOCUMENT_COLUMNS = {"document": "Document"} | {
    name: label for name, label in SEGMENT_COLUMNS.items() if name != "segment"
}
assert SEGMENT_COLUMNS.keys() == SORTABLE.keys()
assert DOCUMENT_COLUMNS.keys() == documents.SORTABLE.keys()
RUNS_SHOWN = 10


class GoldForm(forms.Form):
    method = forms.ChoiceField(choices=GoldRun.Method.choices, label="How ratings are averaged")
    minimum = forms.IntegerField(min_value=1, max_value=1_000, label="Ratings needed for a score")
    test = forms.ChoiceField(
        choices=GoldRun.Test.choices, required=False, label="Test of differences between systems"
    )

    replicate = forms.ModelChoiceField(
        Campaign.objects.none(),
        to_field_name="code",
        required=False,
        blank=True,
        empty_label="None: compare halves of this campaign",
        label="Second collection to compare with",
        help_text="A campaign with other ratings of the same translations, to see how many ratings are enough.",
    )

    workers = forms.CharField(
        required=False,
        max_length=MOST_WORKERS * 40,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        label="Only these workers",
        help_text="For a study: one worker on each line, by pseudonym as in the exports or, for admins, by id. Leave blank for all workers who count.",
    )

    helper = forms.ChoiceField(
        required=False,
        label="Metric that helps to score systems",
        help_text="If only some of the outputs were rated, a metric with scores for all of them makes system scores more precise.",
    )

    def __init__(self, campaign: Campaign, user: Visitor, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        helper = self.fields["helper"]
        assert isinstance(helper, forms.ChoiceField)
        helper.choices = [("", "None"), *((name, name) for name in helpers_of(campaign))]
        self._campaign, self._sees_ids = campaign, has_level(user, Level.ADMIN, campaign)
        replicate = self.fields["replicate"]
        assert isinstance(replicate, forms.ModelChoiceField)
        replicate.queryset = (
            campaigns_of(user)
            .filter(
                source_language=campaign.source_language, target_language=campaign.target_language
            )
            .exclude(pk=campaign.pk)
            .order_by("name")
        )

    def clean_test(self) -> str:
        return self.cleaned_data["test"] or GoldRun.Test.TWO_WAY

    def clean(self) -> dict[str, Any] | None:
        values = super().clean()
        if values and values.get("helper") and "method" in values and "test" in values:
            try:
                find_helper(self._campaign, values["helper"], values["method"], values["test"])
            except HelperRefused as refusal:
                self.add_error("helper", str(refusal))
        return values

    def clean_workers(self) -> list[str]:
        """Return the pseudonyms of the workers."""
        if not (text := self.cleaned_data["workers"]):
            return []
        try:
            return pseudonyms_of(self._campaign, text.split("\n"), by_id=self._sees_ids)
        except WorkersRefused as refusal:
            raise forms.ValidationError(list(map(str, refusal.problems))) from None


@require_GET
@for_campaign_researchers
def results(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show a gold run: the systems it ranks, and the agreement of the workers behind it."""
    if (page := kind_of(campaign).results_page) != "campaign_results":
        return redirect(page, campaign.code)
    run = run_of(campaign, request.GET.get("run"))
    if run is None and request.GET.get("run"):
        raise Http404("Gold run not found.")
    run_results = Results(run) if run else None
    ranking = run_results.ranking if run_results and run_results.run.n_scored else None
    agreement = latest_agreement(campaign)
    knows_documents = documents.has_documents(campaign)
    context = {
        "campaign": campaign,
        "run": run,
        "runs": campaign.gold_runs.newest_first()[:RUNS_SHOWN],
        "ranked": ranking.rows if ranking else [],
        "pictures": run_results.pictures() if run_results else {},
        "ranking": ranking,
        "helped": helped(run.helper) if run else [],
        "agreement": agreement,
        "agreement_pictures": agreement_pictures(agreement, campaign) if agreement else [],
        "enough_ratings": enough_ratings(agreement.result or {}) if agreement else [],
        "building": _unfinished(campaign, "build_gold"),
        "measuring": _unfinished(campaign, "measure_agreement"),
        "table_formats": TABLE_FORMATS,
        "export_kinds": [
            (kind, label)
            for kind, label in DOWNLOADS.items()
            if (kind != "weights" or (run and run.method == GoldRun.Method.WEIGHTED))
            and (kind != "documents" or knows_documents)
            and (kind != "document-ratings" or campaign.scores_documents)
        ],
        "has_documents": knows_documents,
        "gives_judgements": kind_of(campaign).gives_judgements,
        "form": GoldForm(
            campaign,
            request.user,
            initial={"minimum": campaign.min_ratings, "method": GoldRun.Method.PER_WORKER},
        ),
    }
    return render(request, "analysis/results.html", context)


def _unfinished(campaign: Campaign, kind: str) -> Job | None:
    return Job.objects.unfinished().filter(campaign=campaign, kind=kind).order_by("-pk").first()


@require_GET
@for_campaign_researchers
def segments(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """List the score of every output of a run, sorted and filtered."""
    run = run_of(campaign, request.GET.get("run"))
    if run is None:
        raise Http404("Gold run not found.")
    filters = {name: request.GET.get(name, "") for name in ("system", "state", "search")}
    sort = request.GET.get("sort", "segment")
    rows = segment_rows(run, sort=sort, **{name: _plain(value) for name, value in filters.items()})
    context = {
        "campaign": campaign,
        "run": run,
        "page": Paginator(rows, SEGMENTS_PER_PAGE).get_page(request.GET.get("page")),
        "systems": campaign.systems.order_by("name").values_list("name", flat=True),
        "filters": filters,
        "columns": _sortable(sort, SEGMENT_COLUMNS),
        "table_formats": TABLE_FORMATS,
    }
    return render(request, "analysis/segments.html", context)


@require_GET
@for_campaign_researchers
def document_scores(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """List the score of every document of a run, sorted and filtered."""
    run = run_of(campaign, request.GET.get("run"))
    if run is None:
        raise Http404("Gold run not found.")
    filters = {name: request.GET.get(name, "") for name in ("system", "search")}
    sort = request.GET.get("sort", "document")
    rows = documents.document_rows(
        run, sort=sort, **{name: _plain(value) for name, value in filters.items()}
    )
    context = {
        "campaign": campaign,
        "run": run,
        "page": Paginator(rows, SEGMENTS_PER_PAGE).get_page(request.GET.get("page")),
        "systems": campaign.systems.order_by("name").values_list("name", flat=True),
        "filters": filters,
        "columns": _sortable(sort, DOCUMENT_COLUMNS),
        "table_formats": TABLE_FORMATS,
        "has_documents": documents.has_documents(campaign),
        # Of all documents, so not above some of them.
        "rankings": [] if any(filters.values()) else rankings_by_documents(run),
    }
    return render(request, "analysis/documents.html", context)


def _plain(text: str) -> str:
    """Drop the NUL character, which PostgreSQL cannot compare."""
    return text.replace("\x00", "")


def _sortable(sort: str, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the column headers, each with its current order and the order its link selects."""
    current, is_descending = sort.removeprefix("-"), sort.startswith("-")
    order = "descending" if is_descending else "ascending"
    return [
        {
            "name": name,
            "label": label,
            "order": order if name == current else "",
            "next": name if name != current or is_descending else f"-{name}",
            "is_number": name in ("z", "raw", "n"),
        }
        for name, label in labels.items()
    ]


@require_POST
@for_campaign_researchers
def build(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Start jobs that build gold and measure agreement."""
    form = GoldForm(campaign, request.user, request.POST)
    if not form.is_valid():
        reasons = (form.errors.get(name, ()) for name in ("workers", "helper"))
        reason = " ".join(str(reason) for each in reasons for reason in each)
        reason = reason or "Enter how many ratings a score needs."
        messages.error(request, f"Gold was not built. {reason}")
        return redirect("campaign_results", campaign.code)
    assert isinstance(request.user, User)
    arguments = dict(form.cleaned_data)
    replicate = arguments.pop("replicate")
    # What was left blank is no argument.
    arguments = {
        name: value
        for name, value in arguments.items()
        if value or name not in ("workers", "helper")
    }
    job = start_job(
        kind="build_gold",
        campaign=campaign,
        arguments=arguments,
        started_by=request.user,
    )
    start_job(
        kind="measure_agreement",
        campaign=campaign,
        arguments={"replicate": str(replicate.code)} if replicate else {},
        started_by=request.user,
    )
    return redirect("job", job.code)


@require_GET
@for_campaign_researchers
def picture(request: HttpRequest, campaign: Campaign, name: str, fmt: str) -> HttpResponse:
    """Return a figure of a run, or its data."""
    use = request.GET.get("for", "")
    if name in AGREEMENT_PICTURES:
        job = latest_agreement(campaign)
        make_picture = agreement_makers(job, campaign).get(name) if job else None
        if job is None or make_picture is None:
            raise Http404("Agreement has not been measured yet.")
        return drawn_file(name, fmt, make_picture, key=agreement_key(job, campaign), use=use)
    run = run_of(campaign, request.GET.get("run"))
    make_picture = Results(run).makers().get(name) if run else None
    if run is None or make_picture is None:
        raise Http404("Figure not found.")
    return drawn_file(name, fmt, make_picture, key=run.code.hex, use=use)


@require_GET
@for_campaign_researchers
def download(request: HttpRequest, campaign: Campaign, kind: str, fmt: str) -> HttpResponseBase:
    """Return a table of the campaign as a file, with pseudonyms for workers."""
    if kind not in DOWNLOADS or fmt not in DOWNLOAD_FORMATS:
        raise Http404("Export not found.")
    run = run_of(campaign, request.GET.get("run"))
    options = {"run": run} if run and kind in OF_A_RUN else {}
    try:
        return exported(kind=kind, campaign=campaign, format=fmt, **options)
    except ExportRefused as refusal:
        messages.error(request, str(refusal))
        return redirect("campaign_results", campaign.code)
