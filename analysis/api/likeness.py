"""API: how closely workers follow the scores of a model."""

from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema
from ninja.pagination import paginate

from hits.api.auth import Needs, Scope, own_campaign

from ..workers.likeness import LikenessRow, MetricLikeness, Spread, likeness_of

router = Router(tags=["Workers"])


class SpreadOut(Schema):
    """The middle 90 % of the trusted workers' r; null without trusted workers."""

    low: float | None
    median: float | None
    high: float | None
    n_workers: int


class LikenessOut(Schema):
    """Pearson's r of a worker's scores with a metric's. Advice, never a verdict.

    `share_below` is the share of trusted workers with a lower r.
    """

    worker: UUID
    metric: str
    r: float | None
    n_items: int
    share_below: float | None
    trusted: SpreadOut


class _Row:
    """A row of a metric with the metric's spread."""

    def __init__(self, row: LikenessRow, spread: Spread) -> None:
        self.worker = row.participation.worker.code
        self.metric = row.metric.name
        self.r, self.n_items, self.share_below = row.r, row.n_items, row.share_below
        self.trusted = spread


def _rows(found: list[MetricLikeness]) -> list[_Row]:
    return [_Row(row, likeness.spread) for likeness in found for row in likeness.rows]


@router.get("/{uuid:code}/workers/likeness", response=list[LikenessOut], auth=Needs(Scope.DECIDE))
@paginate
def list_worker_likeness(request: HttpRequest, code: UUID) -> list[_Row]:
    """List each worker's correlation with each stored metric, next to the spread among trusted workers."""
    return _rows(likeness_of(own_campaign(request, code)))
