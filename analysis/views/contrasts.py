"""Pages that hold two scores of an evaluation against each other: golds, or a gold and a metric."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from da_platform.exceptions import PlatformError
from da_platform.plots.rendering import CONTENT_TYPES
from da_platform.plots.responses import drawn_file
from hits.people.access import for_members

from ..evaluation.access import visible_evaluations
from ..evaluation.contrast_page import (
    contradictions_csv,
    default_names,
    pairs_of,
    picture_of,
    with_texts,
)
from ..evaluation.contrasts import Pairs, contrast, names_offered
from ..evaluation.stored_evaluations import result_of
from ..models import Evaluation

# On the page; the file has more.
TRANSLATIONS_SHOWN = 20
TRANSLATIONS_IN_FILE = 5_000


@require_GET
@for_members
def contrasted(request: HttpRequest, code: UUID) -> HttpResponse:
    """Show two scores against each other, and the translations on which they contradict each other."""
    evaluation = _evaluation(request, code)
    result = result_of(evaluation)
    names = _names(request, evaluation)
    context = {
        "evaluation": evaluation,
        "offered": names_offered(result),
        "names": names,
        "picture_types": list(CONTENT_TYPES),
    }
    try:
        pairs = pairs_of(evaluation, *names)
    except PlatformError as refusal:
        context["refusal"] = str(refusal)
        return render(request, "analysis/contrast.html", context, status=422)
    found = contrast(pairs, TRANSLATIONS_SHOWN)
    context |= {
        "contrast": found,
        "n_contradictions": found.n_good_by_first + found.n_good_by_second,
        "rows": with_texts(evaluation, found.contradictions),
        "picture": picture_of(pairs),
    }
    return render(request, "analysis/contrast.html", context)


@require_GET
@for_members
def contradictions(request: HttpRequest, code: UUID) -> HttpResponse:
    """Return the translations on which two scores contradict each other as CSV, with their texts."""
    evaluation = _evaluation(request, code)
    found = contrast(_pairs(request, evaluation), TRANSLATIONS_IN_FILE)
    content = contradictions_csv(found, with_texts(evaluation, found.contradictions))
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="contradictions.csv"'
    return response


@require_GET
@for_members
def contrast_picture(request: HttpRequest, code: UUID, fmt: str) -> HttpResponse:
    evaluation = _evaluation(request, code)
    pairs = _pairs(request, evaluation)
    use = request.GET.get("for", "")
    return drawn_file("quadrants", fmt, lambda: picture_of(pairs), use=use)


def _evaluation(request: HttpRequest, code: UUID) -> Evaluation:
    return get_object_or_404(visible_evaluations(request.user), code=code)


def _names(request: HttpRequest, evaluation: Evaluation) -> tuple[str, str]:
    """Return the two scores that were chosen, or those most worth a look."""
    default = default_names(result_of(evaluation))
    if default is None:
        raise Http404("This evaluation has no segment scores.")
    return request.GET.get("first", default[0]), request.GET.get("second", default[1])


def _pairs(request: HttpRequest, evaluation: Evaluation) -> Pairs:
    try:
        return pairs_of(evaluation, *_names(request, evaluation))
    except PlatformError as refusal:
        raise Http404(str(refusal)) from refusal
