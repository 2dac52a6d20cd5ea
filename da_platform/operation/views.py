"""Health and metrics, for machines and for people. `da_platform.urls` sets who may open each."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from .health import findings, is_ready, readiness, worst


@require_GET
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """Respond if this process is alive. The database is not checked, so that its failure restarts no process."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@require_GET
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """Whether visitors can be sent here; 503 if not. The broker is listed, but not required."""
    answers = readiness()
    return JsonResponse(answers, status=200 if is_ready(answers) else 503)


@require_GET
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Metrics for Prometheus, for requests with the token. A 404 if no token is configured."""
    if not _has_token(request):
        raise Http404
    # Imported here because few deployments use it.
    from .metrics import exposition

    return HttpResponse(exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    is_bearer = scheme.lower() == "bearer" and bool(settings.METRICS_TOKEN)
    return is_bearer and constant_time_compare(token.strip(), settings.METRICS_TOKEN)


@require_GET
def health(request: HttpRequest) -> HttpResponse:
    results = findings()
    context = {"findings": results, "worst": worst(results)}
    return render(request, "operation/health.html", context)
