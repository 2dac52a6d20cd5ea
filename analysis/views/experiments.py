"""Pages for experiments: the list, starting one, and its result with tables, figures and sentences."""

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from da_platform.exceptions import PlatformError
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import picture_file
from hits.people.access import Level, for_admins, for_members, has_level, takes_files, user_of

from ..evaluation.result_page import TABLE_TYPES, ShownTable
from ..experiments.base import ExperimentKind, FilesOfExperimentRefused, Result
from ..experiments.catalogue import KINDS
from ..experiments.forms import ExperimentForm
from ..experiments.responses import picture_named, report_response, table_response
from ..experiments.storing import (
    LONGEST_NAME,
    delete_experiment,
    may_change,
    rename_experiment,
    start_experiment,
    visible_experiments,
)
from ..experiments.to_campaigns import CampaignForm, can_be_rated, prepare_campaign
from ..models import Experiment

EXPERIMENTS_PER_PAGE = 30


@require_GET
@for_members
def experiments(request: HttpRequest) -> HttpResponse:
    rows = visible_experiments(request.user).defer("result", "options")
    page = Paginator(rows, EXPERIMENTS_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "kinds": KINDS.values()}
    return render(request, "analysis/experiments.html", context)


@takes_files
@require_http_methods(["GET", "POST"])
@for_members
def new_experiment(request: HttpRequest, kind: str) -> HttpResponse:
    """Upload the files of an experiment, choose its options, and start it."""
    if kind not in KINDS:
        raise Http404("There is no such kind of experiment.")
    form = ExperimentForm(
        request.POST or None, request.FILES or None, kind=KINDS[kind], user=request.user
    )
    refusal = None
    if form.is_valid():
        assert isinstance(request.user, User)
        try:
            experiment = start_experiment(
                kind=kind,
                name=form.cleaned_data["name"],
                inputs=form.inputs(),
                given=form.given,
                owner=request.user,
                campaigns=form.campaigns,
            )
            return redirect("experiment", experiment.code)
        except FilesOfExperimentRefused as refused:
            refusal = refused
        except PlatformError as error:
            form.add_error(None, str(error))
    context = {"form": form, "kind": KINDS[kind], "refusal": refusal}
    status = 422 if form.is_bound else 200
    return render(request, "analysis/new_experiment.html", context, status=status)


@require_GET
@for_members
def experiment(request: HttpRequest, code: UUID) -> HttpResponse:
    """Show the result, or how far the job is."""
    stored = get_object_or_404(visible_experiments(request.user), code=code)
    form = CampaignForm(experiment=stored) if _may_rate(request, stored) else None
    return _show(request, stored, form)


@require_POST
@for_admins
def experiment_campaign(request: HttpRequest, code: UUID) -> HttpResponse:
    """Prepare a campaign of the outputs, and go on to check it."""
    stored = get_object_or_404(visible_experiments(request.user), code=code)
    if not can_be_rated(stored):
        raise Http404("There are no outputs to rate.")
    form = CampaignForm(request.POST, experiment=stored)
    if form.is_valid():
        try:
            draft = prepare_campaign(
                experiment=stored, basics=form.basics(), actor=user_of(request)
            )
            return redirect("draft_check", draft.code)
        except PlatformError as error:
            form.add_error(None, str(error))
    return _show(request, stored, form)


def _may_rate(request: HttpRequest, stored: Experiment) -> bool:
    return can_be_rated(stored) and has_level(request.user, Level.ADMIN)


def _show(request: HttpRequest, stored: Experiment, form: CampaignForm | None) -> HttpResponse:
    kind = KINDS[stored.kind]
    context: dict[str, Any] = {
        "experiment": stored,
        "kind": kind,
        "result": stored.result,
        "campaign_form": form,
        "may_change": may_change(request.user, stored),
        "longest_name": LONGEST_NAME,
    }
    if stored.result is not None:
        context |= {
            "findings": kind.findings(stored.result),
            "tables": [ShownTable(table) for table in kind.tables(stored.result)],
            "pictures": kind.pictures(stored.result),
            "table_types": list(TABLE_TYPES),
            "picture_types": list(CONTENT_TYPES),
            **kind.context(stored.result, request.GET),
        }
    status = 422 if form is not None and form.is_bound else 200
    return render(request, "analysis/experiment.html", context, status=status)


@require_POST
@for_members
def change_experiment(request: HttpRequest, code: UUID) -> HttpResponse:
    """Rename the experiment, or delete it."""
    stored = get_object_or_404(visible_experiments(request.user), code=code)
    if not may_change(request.user, stored):
        raise PermissionDenied
    is_delete = request.POST.get("do") == "delete"
    try:
        if is_delete:
            delete_experiment(experiment=stored, actor=user_of(request))
            messages.success(request, f"{stored} was deleted.")
        else:
            rename_experiment(experiment=stored, name=request.POST.get("name", "").strip())
    except PlatformError as error:
        messages.error(request, str(error))
        return redirect("experiment", code)
    return redirect("experiments") if is_delete else redirect("experiment", code)


@require_GET
@for_members
def experiment_report(request: HttpRequest, code: UUID) -> HttpResponse:
    return report_response(_finished(request, code)[0])


@require_GET
@for_members
def experiment_json(request: HttpRequest, code: UUID) -> HttpResponse:
    stored, _, result = _finished(request, code)
    content = json.dumps(result, indent=1, ensure_ascii=False)
    response = HttpResponse(content, content_type="application/json")
    response["Content-Disposition"] = f'inline; filename="experiment-{stored.code}.json"'
    return response


@require_GET
@for_members
def experiment_table(request: HttpRequest, code: UUID, name: str, fmt: str) -> HttpResponse:
    """Return a table as LaTeX, Markdown or CSV."""
    _, kind, result = _finished(request, code)
    return table_response(kind, result, name, fmt)


@require_GET
@for_members
def experiment_picture(request: HttpRequest, code: UUID, name: str, fmt: str) -> HttpResponse:
    """Return a figure or its data."""
    stored, kind, result = _finished(request, code)
    picture = picture_named(kind, result, name)
    return picture_file(picture, fmt, key=stored.code.hex, use=request.GET.get("for", ""))


def _finished(request: HttpRequest, code: UUID) -> tuple[Experiment, ExperimentKind, Result]:
    stored = get_object_or_404(visible_experiments(request.user), code=code)
    if stored.result is None:
        raise Http404("The experiment is not finished.")
    return stored, KINDS[stored.kind], stored.result
