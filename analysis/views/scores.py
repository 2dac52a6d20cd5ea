"""Scores and gold to evaluate: of a campaign, or brought along in a collection. The pages are the same."""

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

from hits.access import View, for_campaign_researchers, for_members, takes_files
from hits.models import Campaign

from ..evaluating.visible import visible_collections
from ..evaluation_forms import (
    WAYS,
    CollectionForm,
    ComputeForm,
    GoldUploadForm,
    ReadingForm,
    ScoresForm,
    said_directions,
)
from ..jobs import start_job
from ..models import Evaluation, Job, Metric, ScoreCollection
from ..scores.directions import Suggestion
from ..scores.errors import ScoresRefused
from ..scores.reading import suggestion_for
from ..scores.storing import Home, confirm_direction
from ..scores.uploading import raw_files, store_uploaded_gold, store_uploaded_scores

# Fields of one form: a request may not have many more.
MOST_DIRECTIONS = 200
EVALUATIONS_SHOWN = 10
PREFIXES = {Campaign: "campaign", ScoreCollection: "collection"}

Form = TypeVar("Form", ScoresForm, GoldUploadForm)


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """A metric nobody has given a direction, and what its name or format suggests."""

    metric: Metric

    @property
    def suggestion(self) -> Suggestion | None:
        return suggestion_for(self.metric.name, self.metric.format)


def address(home: Home, page: str) -> str:
    """The address of a page of a campaign's, or a collection's, scores."""
    return reverse(f"{PREFIXES[type(home)]}_{page}", args=[home.code])


def for_collection_members(view: View) -> View:
    """Give the view the collection whose code is in the address, if the visitor may see it."""

    @wraps(view)
    def inner(request: HttpRequest, code: UUID) -> HttpResponse:
        return view(request, get_object_or_404(visible_collections(request.user), code=code))

    return for_members(inner)


# Looking --------------------------------------------------------------------------------------


def _show(
    request: HttpRequest,
    home: Home,
    *,
    form: ReadingForm | None = None,
    refusal: ScoresRefused | None = None,
) -> HttpResponse:
    """The scores and the gold there are, and the forms that add some; 422 if something was refused."""
    campaign = home if isinstance(home, Campaign) else None
    metrics = list(
        home.metrics.select_related("uploaded_by", "direction_confirmed_by").order_by(
            "name", "level"
        )
    )
    unconfirmed = [Unconfirmed(one) for one in metrics if one.higher_is_better is None]
    golds = home.gold_uploads.select_related("uploaded_by").defer("table")
    evaluations = Evaluation.objects.filter(**{PREFIXES[type(home)]: home}).defer("result")
    context: dict[str, Any] = {
        PREFIXES[type(home)]: home,
        "metrics": metrics,
        "confirmed": [one for one in metrics if one.higher_is_better is not None],
        "unconfirmed": unconfirmed[:MOST_DIRECTIONS],
        "n_unconfirmed": len(unconfirmed),
        "golds": golds,
        "runs": campaign.gold_runs.newest_first()[:EVALUATIONS_SHOWN] if campaign else [],
        "evaluations": evaluations.order_by("-number")[:EVALUATIONS_SHOWN],
        "refusal": refusal,
        "scores_form": form if isinstance(form, ScoresForm) else ScoresForm(),
        "gold_form": form if isinstance(form, GoldUploadForm) else GoldUploadForm(),
        "compute_form": ComputeForm(),
        "computing": _computing(campaign) if campaign else None,
        "pages": {
            name: address(home, name) for name in ("scores", "gold", "directions", "evaluate")
        },
    }
    is_bad = refusal is not None or bool(form and form.errors)
    template = "analysis/metrics.html" if campaign else "analysis/collection.html"
    return render(request, template, context, status=422 if is_bad else 200)


campaign_metrics = require_GET(for_campaign_researchers(_show))
collection_metrics = require_GET(for_collection_members(_show))


def _computing(campaign: Campaign) -> Job | None:
    jobs = Job.objects.unfinished().filter(campaign=campaign, kind="compute_metrics")
    return jobs.order_by("-pk").first()


# Uploading ------------------------------------------------------------------------------------


def _store_or_show(
    request: HttpRequest, home: Home, form: Form, store: Callable[[Form, Home, User], str]
) -> HttpResponse:
    """Store what came with the form and say so, or show the page again with what is wrong."""
    if not form.is_valid():
        return _show(request, home, form=form)
    assert isinstance(request.user, User)
    try:
        said = store(form, home, request.user)
    except ScoresRefused as refusal:
        return _show(request, home, form=form, refusal=refusal)
    messages.success(request, said)
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
    n_open = sum(one.higher_is_better is None for one in stored)
    count = "1 metric is" if len(stored) == 1 else f"{len(stored)} metrics are"
    return f"{count} stored." + (" Now say which way they go." if n_open else "")


def _add_gold(request: HttpRequest, home: Home) -> HttpResponse:
    return _store_or_show(request, home, GoldUploadForm(request.POST, request.FILES), _store_gold)


campaign_gold = takes_files(require_POST(for_campaign_researchers(_add_gold)))
collection_gold = takes_files(require_POST(for_collection_members(_add_gold)))


def _store_gold(form: GoldUploadForm, home: Home, uploaded_by: User) -> str:
    beside = {
        name: raw_files([form.cleaned_data[name]])[0] if form.cleaned_data[name] else None
        for name in ("documents", "texts")
    }
    stored = store_uploaded_gold(
        files=raw_files(form.cleaned_data["uploads"]),
        home=home,
        reading=form.reading,
        replace=form.cleaned_data["replace"],
        uploaded_by=uploaded_by,
        **beside,
    )
    return f"Gold is stored: {', '.join(map(str, stored))}."


# Directions -----------------------------------------------------------------------------------


def _confirm(request: HttpRequest, home: Home) -> HttpResponse:
    """Take down what somebody says of metrics; what they leave out stays open."""
    assert isinstance(request.user, User)
    said = said_directions(request.POST, list(home.metrics.unconfirmed()[:MOST_DIRECTIONS]))
    # One that was confirmed before may be said anew.
    changed, way = request.POST.get("metric", ""), WAYS.get(request.POST.get("way", ""))
    if changed and way is not None:
        said |= {one: way for one in home.metrics.confirmed() if str(one.code) == changed}
    for metric, higher_is_better in said.items():
        confirm_direction(metric=metric, higher_is_better=higher_is_better, actor=request.user)
    if said:
        count = "1 metric" if len(said) == 1 else f"{len(said)} metrics"
        messages.success(request, f"The direction of {count} is confirmed.")
    else:
        messages.error(request, "Nothing was confirmed: mark higher or lower for a metric.")
    return redirect(address(home, "metrics"))


campaign_directions = require_POST(for_campaign_researchers(_confirm))
collection_directions = require_POST(for_collection_members(_confirm))


# Computing and collecting ---------------------------------------------------------------------


@require_POST
@for_campaign_researchers
def compute(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Start a job that computes built-in metrics."""
    form = ComputeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was computed: choose at least one metric.")
        return redirect("campaign_metrics", campaign.code)
    assert isinstance(request.user, User)
    job = start_job(
        kind="compute_metrics",
        campaign=campaign,
        arguments={"names": form.cleaned_data["names"]},
        started_by=request.user,
    )
    return redirect("job", job.code)


@require_http_methods(["GET", "POST"])
@for_members
def new_collection(request: HttpRequest) -> HttpResponse:
    """Give a name to what is brought along; its files come next."""
    form = CollectionForm(request.POST or None)
    if form.is_valid():
        assert isinstance(request.user, User)
        made = ScoreCollection.objects.create(name=form.cleaned_data["name"], owner=request.user)
        return redirect("collection_metrics", made.code)
    status = 422 if form.is_bound else 200
    return render(request, "analysis/new_collection.html", {"form": form}, status=status)
