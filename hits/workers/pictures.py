"""From one worker's rows to the plots of `hits.workers.plots`."""

from typing import Any

import numpy as np
from django.db.models import Max, Sum
from numpy.typing import NDArray

from analysis.stats.worker_agreement import scores_beside_others
from da_platform.plots.rendering import Picture

from ..models import HIT, Assignment, Item, Participation, Rating
from ..rating.arrays import load_worker_assignments, load_worker_ratings
from .formulas import FORMULAS
from .plots import BesideFormula, BesideOthers, HitTimes, WorkerRatings, worker_pictures
from .wording import measure_in_words


def pictures_of(participation: Participation, *, only: str = "") -> list[Picture]:
    """Draw the plots that have something to show.

    With `only`, plots that need further rows are left out unless they have this name.
    """
    # In this order, as in `hits.workers.trust.weigh`.
    ratings = load_worker_ratings(participation)
    assignments = load_worker_assignments(participation)
    # HITs are numbered from 1, in order of submission.
    hit_numbers = {pk: number for number, pk in enumerate(assignments["pk"], start=1)}
    number = np.array([hit_numbers[pk] for pk in ratings["assignment"]], dtype=np.int64)
    order = np.argsort(number, kind="stable")
    ratings, number = ratings[order], number[order]

    def wants(name: str) -> bool:
        return only in ("", name)

    return worker_pictures(
        WorkerRatings(
            assignment=ratings["assignment"],
            item=ratings["item"],
            partner=ratings["partner"],
            role=ratings["role"],
            score=ratings["score"].astype(np.float64),
            seconds=_gaps(ratings["received"], number),
            submitted=assignments["submitted"][number - 1],
            hit_number=number,
        ),
        beside_others=_beside_others(participation) if wants("agreement") else None,
        beside_formula=_beside_formula(participation) if wants("likeness") else None,
        hit_times=_hit_times(assignments) if wants("claimed-time") else None,
    )


def _gaps(received: NDArray[Any], number: NDArray[np.int64]) -> NDArray[np.float64]:
    """Time since the previous rating in the same HIT; NaN for the first one.

    As in `analysis.stats.timing`, a rating that seems to arrive before the previous one arrives with it.
    """
    gaps = np.full(len(received), np.nan)
    for hit in np.unique(number):
        rows = np.flatnonzero(number == hit)
        gaps[rows[1:]] = np.diff(np.maximum.accumulate(received[rows]))
    return gaps


def _beside_others(participation: Participation) -> BesideOthers | None:
    """Ratings of genuine items by this worker and the trusted others, on HITs with the same texts."""
    own_hits = Assignment.objects.counted().of(participation).values("hit")
    texts = Item.objects.filter(hit__in=own_hits, role=Item.Role.GENUINE.value)
    hits = HIT.objects.filter(
        campaign=participation.campaign_id, items__translation__in=texts.values("translation")
    )
    trusted = Participation.objects.filter(campaign=participation.campaign_id).trusted()
    rows = Rating.objects.filter(
        assignment__in=Assignment.objects.counted().filter(hit__in=hits.values("pk")),
        item__role=Item.Role.GENUINE.value,
    )
    is_trusted = set(trusted.values_list("worker", flat=True))
    columns = ("score", "assignment__worker", "assignment", "item__translation")
    table = np.array(
        [
            row
            for row in rows.values_list(*columns)
            if row[1] in is_trusted or row[1] == participation.worker_id
        ],
        dtype=np.int64,
    ).reshape(-1, len(columns))
    scores, workers, assignments, translations = table.T
    points = scores_beside_others(
        scores,
        workers,
        assignments,
        translations,
        np.isin(workers, list(is_trusted)),
        worker=participation.worker_id,
    )
    return BesideOthers(z=points.z, others=points.others, n_others=points.n_others)


def _beside_formula(participation: Participation) -> BesideFormula | None:
    """The worker's scores of genuine items, and the formula that the latest evidence found closest."""
    evidence = participation.evidence.order_by("-pk").first()
    formula = FORMULAS.get(evidence.likeness_measure) if evidence else None
    if evidence is None or formula is None:
        return None
    rows = Rating.objects.filter(
        assignment__in=Assignment.objects.counted().of(participation),
        item__role=Item.Role.GENUINE.value,
    ).select_related("item__translation__segment")
    campaign = participation.campaign
    return BesideFormula(
        measure=measure_in_words(evidence.likeness_measure),
        values=np.array(
            [
                formula(row.item.translation.text, campaign.gray_text(row.item.translation.segment))
                for row in rows
            ]
        ),
        scores=np.array([row.score for row in rows], dtype=np.float64),
    )


def _hit_times(assignments: NDArray[Any]) -> HitTimes:
    """Claimed and passed time of each HIT, in order of submission."""
    rows = (
        Rating.objects.filter(assignment__in=assignments["pk"].tolist())
        .order_by()
        .values_list("assignment")
        .annotate(claimed=Sum("active_ms", default=0), last=Max("received_at"))
    )
    times = {pk: (claimed / 1000, last.timestamp()) for pk, claimed, last in rows}
    claimed, last = (
        np.array(
            [
                times.get(pk, (0.0, started))
                for pk, started in assignments[["pk", "started"]].tolist()
            ]
        )
        .reshape(-1, 2)
        .T
    )
    return HitTimes(claimed=claimed, passed=np.maximum(last - assignments["started"], 0))
