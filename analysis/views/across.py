"""A page with one table over several evaluations, such as those of several language pairs."""

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from hits.people.access import for_members

from ..evaluation.access import visible_evaluations
from ..evaluation.across import ACROSS_MEASURES, NAME, AcrossMeasure, table_across, titled
from ..evaluation.result_page import TABLE_TYPES, ShownTable
from ..models import Evaluation
from ..tables.writing import content_of

EVALUATIONS_OFFERED = 50
MOST_EVALUATIONS = 30


@require_GET
@for_members
def evaluations_across(request: HttpRequest) -> HttpResponse:
    """Choose evaluations, and show the correlations of all their metrics in one table."""
    chosen, measure = _chosen(request), _measure(request)
    offered = visible_evaluations(request.user).defer("result").order_by("-pk")
    table = table_across(titled(chosen), measure=measure) if chosen else None
    context = {
        "offered": list(offered.prefetch_related("pooled")[:EVALUATIONS_OFFERED]),
        "chosen": {evaluation.pk for evaluation in chosen},
        "shown": ShownTable(table) if table else None,
        "table_types": list(TABLE_TYPES),
        "measures": ACROSS_MEASURES,
        "measure": measure,
    }
    return render(request, "analysis/evaluations_across.html", context)


@require_GET
@for_members
def evaluations_across_file(request: HttpRequest, fmt: str) -> HttpResponse:
    """Return the table as LaTeX, Markdown or CSV."""
    chosen = _chosen(request)
    if not chosen:
        return redirect("evaluations_across")
    if fmt not in TABLE_TYPES:
        raise Http404("Table not found.")
    content = content_of(table_across(titled(chosen), measure=_measure(request)), fmt)
    response = HttpResponse(content, content_type=TABLE_TYPES[fmt])
    response["Content-Disposition"] = f'attachment; filename="{NAME}.{fmt}"'
    return response


def _measure(request: HttpRequest) -> AcrossMeasure:
    wanted = request.GET.get("measure", "")
    return next((measure for measure in ACROSS_MEASURES if measure == wanted), "pearson")


def _chosen(request: HttpRequest) -> list[Evaluation]:
    """Return the evaluations with the codes in the address, in their order."""
    codes = list(dict.fromkeys(request.GET.getlist("evaluation")))[:MOST_EVALUATIONS]
    try:
        rows = {
            str(evaluation.code): evaluation
            for evaluation in visible_evaluations(request.user)
            .filter(code__in=codes)
            .prefetch_related("pooled")
        }
    except ValidationError:
        raise Http404("Evaluation not found.") from None
    if len(rows) != len(codes):
        raise Http404("Evaluation not found.")
    return [rows[code] for code in codes]
