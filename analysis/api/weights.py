"""API: what each worker's ratings are worth in weighted gold, and why."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from ninja.pagination import paginate

from hits.api.auth import Needs, Scope, own_campaign
from hits.api.field_types import Input, Number

from ..gold.results import run_of
from ..gold.weights import newest_weighted, reasons_for, weights_of
from ..models import GoldWeight

router = Router(tags=["Workers"])


class WeightOut(Schema):
    """The weight of a worker in a gold run (1 is the mean of all workers), what it comes from, and the reasons in words.

    Means over the worker's own pairs begin with `own`; the others are pulled towards the means of all workers.
    """

    worker: UUID
    gold: int
    weight: float
    discrimination: float
    own_discrimination: float | None
    agreement: float | None
    repeat_variance: float
    own_repeat_variance: float | None
    n_pairs: int
    n_repeats: int
    reasons: list[str]

    @staticmethod
    def resolve_worker(weight: GoldWeight) -> UUID:
        return weight.worker.code

    @staticmethod
    def resolve_gold(weight: GoldWeight) -> int:
        return weight.run.number

    @staticmethod
    def resolve_reasons(weight: GoldWeight) -> list[str]:
        return reasons_for(weight)


class WeightFilter(Input):
    """`gold` is the number of a run, by default the newest that weighs workers."""

    gold: Number | None = None
    worker: UUID | None = None


@router.get("/{uuid:code}/workers/weights", response=list[WeightOut], auth=Needs(Scope.DECIDE))
@paginate
def list_worker_weights(
    request: HttpRequest, code: UUID, filters: Query[WeightFilter]
) -> QuerySet[GoldWeight]:
    """List what each worker's ratings are worth in weighted gold and why, the heaviest first; or those of one worker."""
    campaign = own_campaign(request, code)
    run = newest_weighted(campaign) if filters.gold is None else run_of(campaign, filters.gold)
    if filters.gold is not None and run is None:
        raise Http404("Gold run not found.")
    weights = weights_of(run).select_related("run")
    return weights.filter(worker__code=filters.worker) if filters.worker else weights
