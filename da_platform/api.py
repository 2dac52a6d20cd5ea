"""The root of the API: authentication, errors and the list of routers."""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from analysis.api.collections import router as collections_router
from analysis.api.evaluations import router as evaluations_router
from analysis.api.experiments import router as experiments_router
from analysis.api.gold import router as gold_router
from analysis.api.judgements import router as judgements_router
from analysis.api.likeness import router as likeness_router
from analysis.api.metrics import router as metrics_router
from analysis.api.plans import router as plans_router
from analysis.api.post_editions import router as post_editions_router
from analysis.api.presentation import router as presentation_router
from analysis.api.results import router as results_router
from analysis.api.weights import router as weights_router
from hits.api.audit_log import router as audit_router
from hits.api.campaigns import router as campaigns_router
from hits.api.holds import router as holds_router
from hits.api.jobs import router as jobs_router
from hits.api.looks import router as looks_router
from hits.api.payments import router as payments_router
from hits.api.people import router as people_router
from hits.api.questionnaires import router as questionnaires_router
from hits.api.recruiting import router as recruiting_router
from hits.api.validation import FormRefused, refusal_of
from hits.api.worker_words import router as worker_words_router
from hits.api.workers import router as workers_router
from hits.exceptions import TooOften
from hits.people.access import takes_files

from .exceptions import PlatformError
from .files.problems import FilesRefused


class PlatformAPI(NinjaAPI):
    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The function's name, which stays the same when the function moves to another module."""
        return operation.view_func.__name__

    def create_temporal_response(self, request: HttpRequest) -> HttpResponse:
        """Refuse unknown parameters. Ninja calls this once it knows who asks, before it reads any field."""
        if request.GET:
            known = self._parameters[_schema_path(request), str(request.method).lower()]
            if unknown := sorted(request.GET.keys() - known):
                raise FormRefused({name: ["This parameter is not known."] for name in unknown})
        return super().create_temporal_response(request)

    def get_openapi_schema(self, **about_the_path: Any) -> OpenAPISchema:
        """The schema, which takes half a second to make and never changes."""
        return self._schema

    @cached_property
    def _schema(self) -> OpenAPISchema:
        return super().get_openapi_schema()

    @cached_property
    def _parameters(self) -> dict[tuple[str, str], set[str]]:
        """The names of the parameters in the query of each operation, by path and method."""
        return {
            (path, method): {
                parameter["name"]
                for parameter in operation.get("parameters", [])
                if parameter["in"] == "query"
            }
            for path, methods in self.get_openapi_schema()["paths"].items()
            for method, operation in methods.items()
        }


def _schema_path(request: HttpRequest) -> str:
    """Return the path of a request as the schema has it: `<uuid:code>` is `{code}` there."""
    assert request.resolver_match is not None
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", request.resolver_match.route)


api = PlatformAPI(
    title="DA Platform",
    version="1",
    urls_namespace="api",
    description="Campaigns, workers, gold, evaluations and jobs: almost everything the pages do, as JSON. "
    "Create a token under API tokens and send it in the header Authorization, after the word Bearer.",
    # Every operation has its own auth, which checks the scope and counts the call. Without one, nobody gets in.
    auth=lambda request: None,
    # Our own page, without external scripts: see `da_platform.api_reference`.
    docs_url=None,
)
for about_campaigns in (
    # Before campaigns, so that `plan` is not taken for a campaign.
    plans_router,
    campaigns_router,
    looks_router,
    workers_router,
    likeness_router,
    weights_router,
    holds_router,
    worker_words_router,
    questionnaires_router,
    recruiting_router,
    payments_router,
    # Before gold, so that `compare` is not taken for the number of a run.
    judgements_router,
    presentation_router,
    results_router,
    gold_router,
    metrics_router,
    post_editions_router,
    evaluations_router,
):
    api.add_router("/campaigns", about_campaigns)
api.add_router("/collections", collections_router)
api.add_router("/experiments", experiments_router)
api.add_router("/jobs", jobs_router)
api.add_router("/audit", audit_router)
api.add_router("/people", people_router)


@api.exception_handler(PlatformError)
def _refused(request: HttpRequest, error: PlatformError) -> HttpResponse:
    return api.create_response(request, {"detail": str(error)}, status=409)


@api.exception_handler(TooOften)
def _too_often(request: HttpRequest, error: TooOften) -> HttpResponse:
    answer = api.create_response(request, {"detail": str(error)}, status=429)
    answer["Retry-After"] = str(error.seconds)
    return answer


@api.exception_handler(FilesRefused)
@api.exception_handler(FormRefused)
def _bad_files(request: HttpRequest, error: FilesRefused | FormRefused) -> HttpResponse:
    problems = [
        {"file": problem.file, "line": problem.line, "reason": problem.reason}
        for problem in error.problems
    ]
    content = {"detail": str(error), "problems": problems, "n_problems": error.n_problems}
    return api.create_response(request, content, status=422)


@api.exception_handler(ValidationError)
def _bad_fields(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return _bad_files(request, refusal_of(error))


@api.exception_handler(PermissionDenied)
def _denied(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return api.create_response(request, {"detail": str(error) or "Not allowed."}, status=403)


# Operations that accept files; the others accept only small bodies.
_TAKING_FILES = {
    *("create_campaign", "add_scores", "add_post_editions", "add_gold", "add_judgements"),
    *("import_post_editions", "rate_against", "start_experiment_on_files", "import_collection"),
    *("add_gold_to_collection", "add_scores_to_collection"),
}


def _open_to_tokens(urls: tuple[list[Any], str, str]) -> tuple[list[Any], str, str]:
    """Exempt the API from the login middleware, and set its access rule."""
    # By path: its operations share these checks, whatever the method.
    with_files = {str(route.pattern) for route in urls[0] if route.name in _TAKING_FILES}
    for pattern in urls[0]:
        view: Callable[..., Any] = login_not_required(pattern.callback)
        is_description = pattern.name in ("openapi-json", "api-root")
        view.access_rule = "anyone" if is_description else "tokens"  # type: ignore[attr-defined]
        if str(pattern.pattern) in with_files:
            takes_files(view)
    return urls


urls = _open_to_tokens(api.urls)
