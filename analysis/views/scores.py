"""Pages for the scores and gold of a campaign or a collection: uploading, directions, computing."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from da_platform.exceptions import PlatformError
from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from hits.models import Campaign
from hits.people.access import (
    View,
    for_campaign_researchers,
    for_members,
    takes_files,
    user_of,
)

from ..evaluation.access import visible_collections
from ..evaluation.forms import (
    WAYS,
    CollectionForm,
    ComputeForm,
    GoldUploadForm,
    ReadingForm,
    ScoresForm,
    submitted_directions,
)
from ..evaluation.uploading import raw_files, store_uploaded_gold, store_uploaded_scores
from ..exporting.service import TABLE_FORMATS
from ..models import Evaluation, Metric, ScoreCollection
from ..post_editions.forms import PostEditionsForm
from ..scores.directions import Suggestion
from ..scores.errors import ScoresRefused
from ..scores.reading import suggestion_for
from ..scores.storing import Home, confirm_direction

# Django limits the number of fields in a request.
MOST_DIRECTIONS = 200
EVALUATIONS_SHOWN = 10
PREFIXES = {Campaign: "campaign", ScoreCollection: "collection"}

Form = TypeVar("Form", ScoresForm, GoldUploadForm, PostEditionsForm)


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A metric without a confirmed direction, and what its name or format suggests."""

    metric: Metric

    @property
    def suggestion(self) -> Suggestion | None:
        return suggestion_for(self.metric.name, self.metric.format)


def address(home: Home, page: str) -> str:
    """Return the URL of a page about the scores of a campaign or collection."""
    return reverse(f"{PREFIXES[type(home)]}_{page}", args=[home.code])


def for_collection_members(view: View) -> View:
    """Pass the view the collection whose code is in the URL, if the user may see it."""

    @wraps(view)
    def inner(request: HttpRequest, code: UUID) -> HttpResponse:
        return view(request, get_object_or_404(visible_collections(request.user), code=code))

    return for_members(inner)


def _show(
    request: HttpRequest,
    home: Home,
    *,
    form: ReadingForm | PostEditionsForm | None = None,
    refusal: ScoresRefused | None = None,
) -> HttpResponse:
    """Show the stored scores and gold and the upload forms; status 422 if an upload was refused."""
    campaign = home if isinstance(home, Campaign) else None
    metrics = list(
        home.metrics.select_related("uploaded_by", "direction_confirmed_by").order_by(
            "name", "level"
        )
    )
    unconfirmed = [Unconfirmed(metric) for metric in metrics if metric.higher_is_better is None]
    golds = home.gold_uploads.select_related("uploaded_by").defer("table")
    evaluations = Evaluation.objects.filter(**{PREFIXES[type(home)]: home}).defer("result")
    context: dict[str, Any] = {
        PREFIXES[type(home)]: home,
        "metrics": metrics,
        "confirmed": [metric for metric in metrics if metric.higher_is_better is not None],
        "unconfirmed": unconfirmed[:MOST_DIRECTIONS],
        "n_unconfirmed": len(unconfirmed),
        "golds": golds,
        "runs": campaign.gold_runs.newest_first()[:EVALUATIONS_SHOWN] if campaign else [],
        "evaluations": evaluations.order_by("-number")[:EVALUATIONS_SHOWN],
        "refusal": refusal,
        "scores_form": form if isinstance(form, ScoresForm) else ScoresForm(),
        "gold_form": form if isinstance(form, GoldUploadForm) else GoldUploadForm(),
        "compute_form": ComputeForm(),
        "table_formats": TABLE_FORMATS,
        "edited_form": _edited_form(request, campaign, form) if campaign else None,
        "computing": _computing(campaign) if campaign else None,
        "pages": {
            name: address(home, name) for name in ("scores", "gold", "directions", "evaluate")
        },
    }
    is_bad = refusal is not None or bool(form and form.errors)
    template = "analysis/metrics.html" if campaign else "analysis/collection.html"
    return render(request, template, context, status=422 if is_bad else 200)


def _edited_form(request: HttpRequest, campaign: Campaign, form: Any) -> PostEditionsForm:
    return (
        form if isinstance(form, PostEditionsForm) else PostEditionsForm(campaign, user_of(request))
    )


campaign_metrics = require_GET(for_campaign_researchers(_show))
collection_metrics = require_GET(for_collection_members(_show))


def _computing(campaign: Campaign) -> Job | None:
    jobs = Job.objects.unfinished().filter(campaign=campaign, kind="compute_metrics")
    return jobs.order_by("-pk").first()


# Uploading ------------------------------------------------------------------------------------


def _store_or_show(
    request: HttpRequest, home: Home, form: Form, store: Callable[[Form, Home, User], str]
) -> HttpResponse:
    """Store the upload, or show the page again with what is wrong."""
    if not form.is_valid():
        return _show(request, home, form=form)
    assert isinstance(request.user, User)
    try:
        message = store(form, home, request.user)
    except ScoresRefused as refusal:
        return _show(request, home, form=form, refusal=refusal)
    messages.success(request, message)
    return redirect(address(home, "metrics"))


def _add_scores(request: HttpRequest, home: Home) -> HttpResponse:
    return _store_or_show(request, home, ScoresForm(request.POST, request.FILES), _store_scores)


campaign_scores = takes_files(require_POST(for_campaign_researchers(_add_scores)))
collection_scores = takes_files(require_POST(for_collection_members(_add_scores)))


def _store_scores(form: ScoresForm, home: Home, uploaded_by: User) -> str:
    stored = store_uploaded_scores(
        files=raw_files(form.cleaned_data["uploads"]),
        home=home,
        reading=form.reading,
        replace=form.cleaned_data["replace"],
        uploaded_by=uploaded_by,
    )
    count = "1 metric" if len(stored) == 1 else f"{len(stored)} metrics"
    is_open = any(metric.higher_is_better is None for metric in stored)
    return f"Stored {count}." + (" Now confirm their directions." if is_open else "")


def _add_gold(request: HttpRequest, home: Home) -> HttpResponse:
    return _store_or_show(request, home, GoldUploadForm(request.POST, request.FILES), _store_gold)


campaign_gold = takes_files(require_POST(for_campaign_researchers(_add_gold)))
collection_gold = takes_files(require_POST(for_collection_members(_add_gold)))


def _store_gold(form: GoldUploadForm, home: Home, uploaded_by: User) -> str:
    extra_files = {
        name: raw_files([form.cleaned_data[name]])[0] if form.cleaned_data[name] else None
        for name in ("documents", "texts")
    }
    stored = store_uploaded_gold(
        files=raw_files(form.cleaned_data["uploads"]),
        home=home,
        reading=form.reading,
        replace=form.cleaned_data["replace"],
        uploaded_by=uploaded_by,
        **extra_files,
    )
    return f"Stored gold: {', '.join(map(str, stored))}."


@takes_files
@require_POST
@for_campaign_researchers
def campaign_post_editions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Store what uploaded post-editions say about the campaign's outputs."""
    form = PostEditionsForm(campaign, user_of(request), request.POST, request.FILES)
    if form.is_valid() and not form.cleaned_data["upload"]:
        assert isinstance(request.user, User)
        arguments = {name: value for name, value in form.arguments.items() if value is not None}
        if edited_in := form.cleaned_data["post_editions_of"]:
            arguments["post_editions_of"] = str(edited_in.code)
        job = start_job(
            kind="compute_targeted",
            campaign=campaign,
            arguments=arguments,
            started_by=request.user,
        )
        return redirect("job", job.code)
    try:
        return _store_or_show(request, campaign, form, _store_post_editions)
    except PlatformError as refusal:
        form.add_error(None, str(refusal))
        return _show(request, campaign, form=form)


def _store_post_editions(form: PostEditionsForm, home: Home, uploaded_by: User) -> str:
    # sacreBLEU is slow to import, and other pages do not need it.
    from ..post_editions.measures import compute_targeted, refuse_too_many

    assert isinstance(home, Campaign)
    refuse_too_many(home, form.cleaned_data["names"])
    upload = form.cleaned_data["upload"]
    # Without a file, those that the campaign's own editors made.
    edited = raw_files([upload])[0] if upload else None
    stored = compute_targeted(
        campaign=home, post_editions=edited, actor=uploaded_by, **form.arguments
    )
    kind = "gold" if form.cleaned_data["use"] == "gold" else "metrics"
    counts = {row.name: row.n_scores for row in stored if row.level == Metric.Level.SEGMENT}
    return f"Stored as {kind}: {', '.join(f'{name} ({n:,})' for name, n in counts.items())}."


# Directions -----------------------------------------------------------------------------------


def _confirm(request: HttpRequest, home: Home) -> HttpResponse:
    """Store the directions that were submitted; metrics left out stay unconfirmed."""
    assert isinstance(request.user, User)
    metrics = list(home.metrics.unconfirmed()[:MOST_DIRECTIONS])
    directions = submitted_directions(request.POST, metrics)
    # The direction of a confirmed metric may be changed.
    changed, way = request.POST.get("metric", ""), WAYS.get(request.POST.get("way", ""))
    if changed and way is not None:
        confirmed = home.metrics.confirmed()
        directions |= {metric: way for metric in confirmed if str(metric.code) == changed}
    for metric, higher_is_better in directions.items():
        confirm_direction(metric=metric, higher_is_better=higher_is_better, actor=request.user)
    if directions:
        count = "1 metric" if len(directions) == 1 else f"{len(directions)} metrics"
        messages.success(request, f"Confirmed the direction of {count}.")
    else:
        messages.error(request, "Choose higher or lower for at least one metric.")
    return redirect(address(home, "metrics"))


campaign_directions = require_POST(for_campaign_researchers(_confirm))
collection_directions = require_POST(for_collection_members(_confirm))


# Computing and collections --------------------------------------------------------------------


@require_POST
@for_campaign_researchers
def compute(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Start a job that computes built-in metrics."""
    form = ComputeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose at least one metric to compute.")
        return redirect("campaign_metrics", campaign.code)
    assert isinstance(request.user, User)
    job = start_job(
        kind="compute_metrics",
        campaign=campaign,
        arguments=form.arguments,
        started_by=request.user,
    )
    return redirect("job", job.code)


@require_http_methods(["GET", "POST"])
@for_members
def new_collection(request: HttpRequest) -> HttpResponse:
    """Create a named collection; its files are uploaded on the next page."""
    form = CollectionForm(request.POST or None)
    if form.is_valid():
        assert isinstance(request.user, User)
        name = form.cleaned_data["name"]
        collection = ScoreCollection.objects.create(name=name, owner=request.user)
        return redirect("collection_metrics", collection.code)
    status = 422 if form.is_bound else 200
    return render(request, "analysis/new_collection.html", {"form": form}, status=status)
