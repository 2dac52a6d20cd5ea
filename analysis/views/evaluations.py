"""Pages for evaluations: the list, starting one, and its result with tables, figures and data."""

import json
from collections import defaultdict
from collections.abc import Container
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Count
from django.db.models.fields.json import KT
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import cached, drawn_file
from hits.models import Campaign
from hits.people.access import campaigns_of, for_campaign_researchers, for_members, takes_files

from ..evaluation.access import visible_collections, visible_evaluations
from ..evaluation.forms import LEVEL_NAMES, EvaluateForm, PoolForm, PoolOffer
from ..evaluation.points import points_of
from ..evaluation.report import findings, inputs_table, title_of
from ..evaluation.result_page import (
    TABLE_TYPES,
    ShownTable,
    is_whole,
    latest_check,
    measures_offered,
    picture_maker,
    shown_pictures,
    shown_tables,
    table_file,
)
from ..evaluation.stored_evaluations import EvaluationRefused, result_of
from ..evaluation.stored_inputs import USES
from ..evaluation.uploading import raw_files, store_uploaded_judgements
from ..models import Evaluation, GoldRun, GoldUpload
from ..scores.errors import ScoresRefused
from ..scores.human_rows import has_ceiling
from ..scores.storing import Home
from ..scores.whole_documents import WHOLE
from .scores import PREFIXES, for_collection_members

EVALUATIONS_PER_PAGE = 30
COLLECTIONS_SHOWN = 20
RUNS_OFFERED = 10
# With more rows in all tables, only one table is open at a time.
MOST_ROWS_UNFOLDED = 60
# Form values of pooled gold that does not come from ratings begin with it, and go on with its name.
UPLOADED = "upload-"


@require_GET
@for_members
def evaluations(request: HttpRequest) -> HttpResponse:
    rows = (
        visible_evaluations(request.user)
        .annotate(
            n_metrics=Count("metrics"),
            first_gold=KT("result__golds__0__gold__name"),
            second_gold=KT("result__golds__1__gold__name"),
        )
        .prefetch_related("pooled")
        .defer("result", "signature")
        .order_by("-pk")
    )
    page = Paginator(rows, EVALUATIONS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "collections": visible_collections(request.user)[:COLLECTIONS_SHOWN],
        "campaigns": campaigns_of(request.user).order_by("name")[:COLLECTIONS_SHOWN],
    }
    return render(request, "analysis/evaluations.html", context)


# Starting -------------------------------------------------------------------------------------


def _evaluate(request: HttpRequest, home: Home) -> HttpResponse:
    """Choose gold, metrics and options, and start the job."""
    golds = _golds_offered(home)
    metrics = list(home.metrics.confirmed())
    # Preselect the latest run of a campaign, or all gold of a collection.
    first = list(golds)[:1] if isinstance(home, Campaign) else list(golds)
    form = EvaluateForm(
        request.POST or None, request.FILES or None, golds=golds, first=first, metrics=metrics
    )
    refusal = None
    if form.is_valid():
        assert isinstance(request.user, User)
        try:
            return redirect("job", _start(form, home, request.user).code)
        except ScoresRefused as refused:
            refusal = refused
    context = {
        PREFIXES[type(home)]: home,
        "form": form,
        "refusal": refusal,
        "has_golds": bool(golds),
        "has_metrics": bool(metrics),
        "n_unconfirmed": home.metrics.unconfirmed().count(),
    }
    name = "evaluate.html" if isinstance(home, Campaign) else "evaluate_collection.html"
    status = 422 if form.is_bound else 200
    return render(request, f"analysis/{name}", context, status=status)


campaign_evaluate = takes_files(
    require_http_methods(["GET", "POST"])(for_campaign_researchers(_evaluate))
)
collection_evaluate = takes_files(
    require_http_methods(["GET", "POST"])(for_collection_members(_evaluate))
)


def _start(form: EvaluateForm, home: Home, user: User) -> Job:
    """Store the uploaded judgements, if any, and start the job."""
    arguments = {
        "golds": [_chosen_gold(value) for value in form.cleaned_data["golds"]],
        "metrics": form.cleaned_data["metrics"],
        "options": form.options,
    }
    if upload := form.cleaned_data["judgements"]:
        (file,) = raw_files([upload])
        stored = store_uploaded_judgements(file=file, home=home, uploaded_by=user)
        arguments["judgements"] = str(stored.code)
    if isinstance(home, Campaign):
        return start_job(kind="evaluate", campaign=home, arguments=arguments, started_by=user)
    return start_job(
        kind="evaluate_collection",
        arguments={"collection": home.key} | arguments,
        started_by=user,
    )


def _golds_offered(home: Home) -> dict[str, str]:
    """Return the gold that can be chosen: labels by form value."""
    offered = {}
    if isinstance(home, Campaign):
        for run in home.gold_runs.newest_first()[:RUNS_OFFERED]:
            facts = f"{run.created_at:%Y-%m-%d}, {run.n_scored:,} complete"
            offered[f"z-{run.number}"] = f"Gold {run.number}, standardised (z): {facts}"
            offered[f"raw-{run.number}"] = f"Gold {run.number}, raw scores: {facts}"
            if home.scores_documents:
                label = f"Gold {run.number}, whole documents as workers scored them (z)"
                offered[f"{WHOLE}-{run.number}"] = f"{label}: for the level of documents"
            if has_ceiling(run):
                label = f"Gold {run.number} (z), with held-out workers as rows next to the metrics"
                offered[f"human-{run.number}"] = label
    for upload in home.gold_uploads.defer("table").order_by("pk"):
        level = LEVEL_NAMES[upload.level]
        label = f"{upload.name} ({upload.get_kind_display()}, {level}): {upload.n_scores:,} scores"
        offered[f"upload-{upload.code}"] = label
    return offered


def _chosen_gold(value: str) -> dict[str, Any]:
    use, _, source = value.partition("-")
    if use == "upload":
        return {"upload": source}
    if use == "human":
        return {"run": int(source), "use": "z", "human": True}
    return {"run": int(source), "use": use}


@require_http_methods(["GET", "POST"])
@for_members
def evaluate_pooled(request: HttpRequest) -> HttpResponse:
    """Choose campaigns whose gold is pooled, and start the job."""
    runs, uploads = _latest_runs(request), _uploads_to_pool(request)
    form = PoolForm(request.POST or None, offered=_pool_offer(runs, uploads))
    if form.is_valid():
        assert isinstance(request.user, User)
        codes, uses = form.cleaned_data["campaigns"], form.cleaned_data["uses"]
        arguments: dict[str, Any] = {"options": form.options}
        if of_runs := [use for use in uses if use in USES]:
            arguments |= {"runs": [[code, runs[code].number] for code in codes], "uses": of_runs}
        if names := [use.removeprefix(UPLOADED) for use in uses if use not in USES]:
            arguments["uploads"] = [
                [[code, str(uploads[name][code].code)] for code in codes] for name in names
            ]
        job = start_job(kind="evaluate_pooled", arguments=arguments, started_by=request.user)
        return redirect("job", job.code)
    context = {"form": form, "can_pool": len(form.offered.campaigns) > 1}
    status = 422 if form.is_bound else 200
    return render(request, "analysis/evaluate_pooled.html", context, status=status)


def _latest_runs(request: HttpRequest) -> dict[str, GoldRun]:
    """Return the latest gold run of each of the user's campaigns, by campaign code."""
    runs = (
        GoldRun.objects.filter(campaign__in=campaigns_of(request.user))
        .select_related("campaign")
        .order_by("campaign__name", "campaign", "number")
    )
    return {str(run.campaign.code): run for run in runs}


def _uploads_to_pool(request: HttpRequest) -> dict[str, dict[str, GoldUpload]]:
    """Return the gold of segments that does not come from ratings, by its name and the code of its campaign.

    Names that only one campaign has are left out.
    """
    uploads = (
        GoldUpload.objects.filter(campaign__in=campaigns_of(request.user), level="segment")
        .select_related("campaign")
        .defer("table")
        .order_by("name", "campaign__name", "pk")
    )
    by_name: defaultdict[str, dict[str, GoldUpload]] = defaultdict(dict)
    for upload in uploads:
        assert upload.campaign is not None
        by_name[upload.name][str(upload.campaign.code)] = upload
    return {name: found for name, found in by_name.items() if len(found) > 1}


def _pool_offer(runs: dict[str, GoldRun], uploads: dict[str, dict[str, GoldUpload]]) -> PoolOffer:
    campaigns = {code: run.campaign for code, run in runs.items()}
    for found in uploads.values():
        campaigns |= {code: upload.campaign for code, upload in found.items() if upload.campaign}
    labels = {
        code: f"{each.name} ({each.source_language}-{each.target_language})"
        + (f": gold {runs[code].number}" if code in runs else "")
        for code, each in campaigns.items()
    }
    uses = {"z": "Standardised scores (z)", "raw": "Raw scores, 0 to 100"} if runs else {}
    uses |= {
        f"{UPLOADED}{name}": f"{name} ({next(iter(found.values())).get_kind_display()})"
        for name, found in uploads.items()
    }
    having: dict[str, Container[str]] = dict.fromkeys(USES, runs.keys())
    having |= {f"{UPLOADED}{name}": found.keys() for name, found in uploads.items()}
    names = {code: campaign.name for code, campaign in campaigns.items()}
    return PoolOffer(names, labels, uses, having)


# Results --------------------------------------------------------------------------------------


@require_GET
@for_members
def evaluation(request: HttpRequest, code: UUID) -> HttpResponse:
    """Show the full result, the tests used, and the inputs."""
    stored = _evaluation(request, code)
    result = result_of(stored)
    scatter, measure = request.GET.get("scatter", ""), request.GET.get("measure", "")
    has_scores, tables = is_whole(stored, result), shown_tables(result)
    pictures = shown_pictures(result, scatter=scatter, measure=measure)
    context = {
        "evaluation": stored,
        "title": title_of(result),
        "findings": findings(result),
        "result": result,
        "tables": tables,
        "folds": sum(len(shown.table.rows) for shown in tables) > MOST_ROWS_UNFOLDED,
        "table_types": TABLE_TYPES,
        "pictures": [picture for picture in pictures if has_scores or not picture.needs_scores],
        "measures": measures_offered(result),
        "measure": measure,
        "picture_types": list(CONTENT_TYPES),
        "metric_names": sorted({row.metric for gold in result.golds for row in gold.segment}),
        "scatter": scatter,
        "inputs": ShownTable(inputs_table(result)),
        "is_whole": has_scores,
        "check": latest_check(stored),
    }
    return render(request, "analysis/evaluation.html", context)


@require_GET
@for_members
def evaluation_json(request: HttpRequest, code: UUID) -> HttpResponse:
    stored = _evaluation(request, code)
    response = HttpResponse(result_of(stored).to_json(indent=1), content_type="application/json")
    response["Content-Disposition"] = f'inline; filename="evaluation-{stored.number}.json"'
    return response


@require_GET
@for_members
def evaluation_table(request: HttpRequest, code: UUID, name: str, fmt: str) -> HttpResponse:
    """Return a table as LaTeX, Markdown or CSV."""
    content = table_file(result_of(_evaluation(request, code)), name, fmt)
    if content is None:
        raise Http404("Table not found.")
    response = HttpResponse(content, content_type=TABLE_TYPES[fmt])
    header = content_disposition_header(True, f"{name}.{fmt}")
    assert header is not None
    response["Content-Disposition"] = header
    return response


@require_GET
@for_members
def evaluation_picture(request: HttpRequest, code: UUID, name: str, fmt: str) -> HttpResponse:
    """Return a figure or its data; 410 if it needs scores that have been replaced since."""
    stored = _evaluation(request, code)
    make_picture = picture_maker(stored, result_of(stored), name)
    if make_picture is None:
        raise Http404("Figure not found.")
    try:
        use = request.GET.get("for", "")
        return drawn_file(name, fmt, make_picture, key=stored.code.hex, use=use)
    except EvaluationRefused as refusal:
        return HttpResponse(str(refusal), content_type="text/plain; charset=utf-8", status=410)


@require_GET
@for_members
def evaluation_points(request: HttpRequest, code: UUID, name: str) -> HttpResponse:
    """Return the points of a scatter plot and their texts, for the script of the page."""
    stored = _evaluation(request, code)

    def points() -> bytes:
        found = points_of(stored, result_of(stored), name)
        if found is None:
            raise Http404("Figure not found.")
        return json.dumps(found, ensure_ascii=False).encode()

    try:
        content = cached(name, "points", points, key=stored.code.hex)
    except EvaluationRefused as refusal:
        return HttpResponse(str(refusal), content_type="text/plain; charset=utf-8", status=410)
    return HttpResponse(content, content_type="application/json")


@require_POST
@for_members
def check_evaluation(request: HttpRequest, code: UUID) -> HttpResponse:
    """Start a job that repeats the evaluation and compares the results."""
    stored = _evaluation(request, code)
    assert isinstance(request.user, User)
    job = start_job(
        kind="evaluate_again",
        campaign=stored.campaign,
        arguments={"evaluation": str(stored.code)},
        started_by=request.user,
    )
    return redirect("job", job.code)


def _evaluation(request: HttpRequest, code: UUID) -> Evaluation:
    return get_object_or_404(visible_evaluations(request.user), code=code)
