"""Scores and gold to evaluate: of a campaign, or brought along in a collection. The pages are the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from hits.access import for_campaign_researchers, for_members
from hits.models import Campaign

from ..evaluating.visible import visible_collections
from ..evaluation_forms import (
    WAYS,
    CollectionForm,
    ComputeForm,
    GoldUploadForm,
    ScoresForm,
    said_directions,
)
from ..jobs import start_job
from ..models import Evaluation, GoldUpload, Job, Metric, ScoreCollection
from ..scores.directions import Suggestion
from ..scores.errors import ScoresRefused
from ..scores.reading import suggestion_for
from ..scores.storing import confirm_direction
from ..scores.uploading import Home, raw_files, store_uploaded_gold, store_uploaded_scores

# Fields of one form: a request may not have many more.
MOST_DIRECTIONS = 200
EVALUATIONS_SHOWN = 10
PREFIXES = {Campaign: "campaign", ScoreCollection: "collection"}


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


def collection_for(request: HttpRequest, code: UUID) -> ScoreCollection:
    return get_object_or_404(visible_collections(request.user), code=code)


# Looking --------------------------------------------------------------------------------------


@require_GET
@for_campaign_researchers
def campaign_metrics(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    return show(request, campaign)


@require_GET
@for_members
def collection_metrics(request: HttpRequest, code: UUID) -> HttpResponse:
    return show(request, collection_for(request, code))


def show(
    request: HttpRequest,
    home: Home,
    *,
    refusal: ScoresRefused | None = None,
    scores_form: ScoresForm | None = None,
    gold_form: GoldUploadForm | None = None,
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
        "runs": campaign.gold_runs.order_by("-number")[:EVALUATIONS_SHOWN] if campaign else [],
        "evaluations": evaluations.order_by("-number")[:EVALUATIONS_SHOWN],
        "refusal": refusal,
        "scores_form": scores_form or ScoresForm(),
        "gold_form": gold_form or GoldUploadForm(),
        "compute_form": ComputeForm(),
        "computing": _computing(campaign) if campaign else None,
        "pages": {
            name: address(home, name) for name in ("scores", "gold", "directions", "evaluate")
        },
    }
    is_bad = refusal is not None or bool(
        (scores_form and scores_form.errors) or (gold_form and gold_form.errors)
    )
    template = "analysis/metrics.html" if campaign else "analysis/collection.html"
    return render(request, template, context, status=422 if is_bad else 200)


def _computing(campaign: Campaign) -> Job | None:
    jobs = Job.objects.unfinished().filter(campaign=campaign, kind="compute_metrics")
    return jobs.order_by("-pk").first()


# Uploading ------------------------------------------------------------------------------------


@require_POST
@for_campaign_researchers
def campaign_scores(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    return _add_scores(request, campaign)


@require_POST
@for_members
def collection_scores(request: HttpRequest, code: UUID) -> HttpResponse:
    return _add_scores(request, collection_for(request, code))


def _add_scores(request: HttpRequest, home: Home) -> HttpResponse:
    form = ScoresForm(request.POST, request.FILES)
    if not form.is_valid():
        return show(request, home, scores_form=form)
    assert isinstance(request.user, User)
    try:
        stored = store_uploaded_scores(
            files=raw_files(form.cleaned_data["uploads"]),
            home=home,
            reading=form.reading,
            replace=form.cleaned_data["replace"],
            uploaded_by=request.user,
        )
    except ScoresRefused as refusal:
        return show(request, home, refusal=refusal, scores_form=form)
    messages.success(request, _stored_sentence(stored))
    return redirect(address(home, "metrics"))


def _stored_sentence(stored: Sequence[Metric]) -> str:
    n_open = sum(one.higher_is_better is None for one in stored)
    count = "1 metric is" if len(stored) == 1 else f"{len(stored)} metrics are"
    return f"{count} stored." + (" Now say which way they go." if n_open else "")


@require_POST
@for_campaign_researchers
def campaign_gold(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    return _add_gold(request, campaign)


@require_POST
@for_members
def collection_gold(request: HttpRequest, code: UUID) -> HttpResponse:
    return _add_gold(request, collection_for(request, code))


def _add_gold(request: HttpRequest, home: Home) -> HttpResponse:
    form = GoldUploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return show(request, home, gold_form=form)
    assert isinstance(request.user, User)
    try:
        beside = {
            name: raw_files([form.cleaned_data[name]])[0] if form.cleaned_data[name] else None
            for name in ("documents", "texts")
        }
        stored: list[GoldUpload] = store_uploaded_gold(
            files=raw_files(form.cleaned_data["uploads"]),
            home=home,
            reading=form.reading,
            replace=form.cleaned_data["replace"],
            uploaded_by=request.user,
            **beside,
        )
    except ScoresRefused as refusal:
        return show(request, home, refusal=refusal, gold_form=form)
    messages.success(request, f"Gold is stored: {', '.join(map(str, stored))}.")
    return redirect(address(home, "metrics"))


# Directions -----------------------------------------------------------------------------------


@require_POST
@for_campaign_researchers
def campaign_directions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    return _confirm(request, campaign)


@require_POST
@for_members
def collection_directions(request: HttpRequest, code: UUID) -> HttpResponse:
    return _confirm(request, collection_for(request, code))


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
