"""From one worker's rows to the plots of `hits.workers.plots`."""

from collections import Counter
from typing import Any

import numpy as np
from django.db.models import Max, Sum
from numpy.typing import NDArray

from analysis.stats.worker_agreement import scores_beside_others
from da_platform.plots.rendering import Picture

from ..languages import is_spaced
from ..models import Assignment, Item, Participation, Rating
from ..rating.arrays import load_worker_assignments, load_worker_ratings
from .overlap import overlap_measures
from .plots import BesideFormula, BesideOthers, HitTimes, WorkerRatings, worker_pictures
from .weighing import LIKENESS_HITS, MOST_OTHERS
from .wording import measure_in_words


def pictures_of(participation: Participation, *, only: str = "") -> list[Picture]:
    """Draw the plots that have something to show.

    With `only`, plots that need further rows are left out unless they have this name.
    """
    # In this order, as in `hits.workers.trust.weigh`.
    ratings = load_worker_ratings(participation)
    assignments = load_worker_assignments(participation)
    # A HIT may have been put on hold in between.
    ratings = ratings[np.isin(ratings["assignment"], assignments["pk"])]
    # HITs are numbered from 1, in order of submission.
    hit_numbers = {pk: number for number, pk in enumerate(assignments["pk"], start=1)}
    number = np.array([hit_numbers[pk] for pk in ratings["assignment"]], dtype=np.int64)
    order = np.argsort(number, kind="stable")
    ratings, number = ratings[order], number[order]

    def wants(name: str) -> bool:
        return only in ("", name)

    counted, hits = _counted(participation, ratings)

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
        beside_others=_beside_others(participation, counted, hits) if wants("agreement") else None,
        beside_formula=_beside_formula(participation, counted, hits) if wants("likeness") else None,
        hit_times=_hit_times(assignments) if wants("claimed-time") else None,
    )


def _counted(
    participation: Participation, ratings: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The ratings of HITs that are neither held nor discarded, and these HITs in order of submission."""
    rows = Assignment.objects.counted().of(participation).order_by("submitted_at", "pk")
    hits = dict(rows.values_list("pk", "hit_id"))
    return (
        ratings[np.isin(ratings["assignment"], list(hits))],
        np.array(list(hits.values()), dtype=np.int64),
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


def _beside_others(
    participation: Participation, ratings: NDArray[Any], hits: NDArray[np.int64]
) -> BesideOthers:
    """This worker's genuine items next to the ratings of trusted others on the same HITs."""
    own = ratings[ratings["role"] == Item.Role.GENUINE.value]
    others = _trusted_others(participation, hits)
    rows = Rating.objects.filter(
        assignment__in=list(others), item__role=Item.Role.GENUINE.value
    ).values_list("score", "assignment_id", "item_id")
    table = np.array(list(rows), dtype=np.int64).reshape(-1, 3)
    scores, assignments, items = (
        np.concatenate([own[name], column])
        for name, column in zip(("score", "assignment", "item"), table.T, strict=True)
    )
    is_other = np.arange(len(scores)) >= len(own)
    workers = [others.get(pk, participation.worker_id) for pk in assignments.tolist()]
    points = scores_beside_others(
        scores,
        np.array(workers, dtype=np.int64),
        assignments,
        items,
        is_other,
        worker=participation.worker_id,
    )
    return BesideOthers(z=points.z, others=points.others, n_others=points.n_others)


def _trusted_others(participation: Participation, hits: NDArray[np.int64]) -> dict[int, int]:
    """The assignments of other trusted workers on these HITs, a few for each, with their workers."""
    trusted = Participation.objects.filter(campaign=participation.campaign_id).trusted()
    rows = (
        Assignment.objects.counted()
        .filter(hit__in=hits.tolist(), worker__in=trusted.values("worker"))
        .exclude(worker=participation.worker_id)
        .order_by("submitted_at", "pk")
        .values_list("pk", "hit_id", "worker_id")
    )
    chosen: dict[int, int] = {}
    n_chosen: Counter[int] = Counter()
    for pk, hit, worker in rows:
        if n_chosen[hit] < MOST_OTHERS:
            chosen[pk] = worker
            n_chosen[hit] += 1
    return chosen


def _beside_formula(
    participation: Participation, ratings: NDArray[Any], hits: NDArray[np.int64]
) -> BesideFormula | None:
    """The worker's genuine items of the latest HITs next to the formula that the evidence found closest."""
    evidence, campaign = participation.evidence.order_by("-pk").first(), participation.campaign
    if evidence is None or not evidence.likeness_measure:
        return None
    items = Item.objects.filter(
        hit__in=hits[-LIKENESS_HITS:].tolist(), role=Item.Role.GENUINE.value
    ).select_related("translation__segment")
    texts = {item.pk: (item.text, campaign.gray_text(item.translation.segment)) for item in items}
    rows = ratings[np.isin(ratings["item"], list(texts))]
    black, gray = ([texts[item][place] for item in rows["item"].tolist()] for place in (0, 1))
    measures = overlap_measures(black, gray, spaced=is_spaced(campaign.target_language))
    if evidence.likeness_measure not in measures:
        return None
    return BesideFormula(
        measure=measure_in_words(evidence.likeness_measure),
        values=np.array(measures[evidence.likeness_measure], dtype=np.float64),
        scores=rows["score"].astype(np.float64),
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
