"""Scores of documents: the means of their segments in a gold run."""

from typing import Any

import numpy as np
from django.db.models import (
    Avg,
    BooleanField,
    Case,
    Count,
    ExpressionWrapper,
    F,
    FilteredRelation,
    Min,
    Q,
    QuerySet,
    Sum,
    When,
)
from django.db.models.functions import Coalesce, Sqrt

from hits.models import Campaign, SystemOutput
from hits.rating.arrays import Ids

from ..models import GoldRun

# Sortable columns of the table of documents.
SORTABLE = {
    "document": "position",
    "system": "system_name",
    "z": "z",
    "raw": "raw",
    "n": "n_ratings",
}


def document_rows(
    run: GoldRun, *, system: str = "", search: str = "", sort: str = "document"
) -> QuerySet[SystemOutput, Any]:
    """Return the mean score of each document of each system, over its complete segments.

    Outputs without ratings count in `n_incomplete`. The standard error is that of the ratings, as those of segments are:
    the document itself is no sample. It is None if that of a segment is.
    """
    rows = SystemOutput.objects.filter(system__campaign=run.campaign_id).exclude(
        segment__document=""
    )
    if system:
        rows = rows.filter(system__name=system)
    if search:
        rows = rows.filter(segment__document__icontains=search)
    name = SORTABLE.get(sort.removeprefix("-"), SORTABLE["document"])
    first = F(name).desc(nulls_last=True) if sort.startswith("-") else F(name).asc(nulls_last=True)
    scores = FilteredRelation(
        "translation__gold_scores", condition=Q(translation__gold_scores__run=run)
    )
    return (
        rows.annotate(score=scores)
        .values(document=F("segment__document"), system_name=F("system__name"))
        .annotate(
            position=Min("segment__position"),
            raw=Avg("score__raw"),
            z=Avg("score__z"),
            n_segments=Count("score__z"),
            n_incomplete=Count("pk") - Count("score__z"),
            n_ratings=Coalesce(Sum("score__n_ratings"), 0),
            **{f"{use}_squares": _squares(use) for use in ("raw", "z")},
            **{f"{use}_known": Count(f"score__{use}_se") for use in ("raw", "z")},
        )
        .annotate(
            raw_se=_standard_error("raw"),
            z_se=_standard_error("z"),
            is_complete=ExpressionWrapper(Q(n_incomplete=0), output_field=BooleanField()),
        )
        .order_by(first, "position", "document", "system_name")
    )


def _squares(use: str) -> Sum:
    each = F(f"score__{use}_se")
    return Sum(each * each)


def _standard_error(use: str) -> Case:
    """Return the standard error of a mean over segments that were rated independently."""
    is_known = Q(**{f"{use}_known": F("n_segments")}, n_segments__gt=0)
    return Case(When(is_known, then=Sqrt(f"{use}_squares") / F("n_segments")), default=None)


def documents_rated_in(campaign: Campaign, segments: Ids) -> Ids | None:
    """Return a number for the document of each segment; None unless translations are rated in their documents.

    A segment without a document is one of its own.
    """
    if not campaign.is_in_documents:
        return None
    number: dict[int, int] = {}
    first: dict[str, int] = {}
    for pk, document in campaign.segments.order_by("pk").values_list("pk", "document"):
        number[pk] = first.setdefault(document, pk) if document else pk
    return np.array([number[pk] for pk in segments.tolist()], dtype=np.int64)


def has_documents(campaign: Campaign) -> bool:
    return campaign.segments.exclude(document="").exists()
