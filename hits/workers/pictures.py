"""From one worker's rows to the plots of `hits.workers.plots`."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from django.db.models import Max, QuerySet, Sum
from numpy.typing import NDArray

from analysis.stats.worker_agreement import scores_beside_others
from da_platform.plots.rendering import Picture

from ..languages import is_spaced
from ..models import Assignment, Campaign, Item, Participation
from ..rating.arrays import load_worker_assignments
from ..task_facts import sizes_of
from ..task_kinds import kind_of
from .overlap import overlap_measures
from .plots import (
    BesideFormula,
    BesideOthers,
    EditOrigins,
    HitTimes,
    WorkerRatings,
    worker_pictures,
)
from .plots.times import claims_picture, hit_seconds_picture, seconds_picture
from .weighing import LIKENESS_HITS, trusted_others
from .wording import ORIGINS, measure_in_words, origins_in_words


def pictures_of(participation: Participation, *, only: str = "") -> list[Picture]:
    """Draw the plots that have something to show.

    With `only`, plots that need further rows are left out unless they have this name.
    """
    if sizes_of(participation.campaign.task).has_large_screens:
        return _pictures_of_times(participation)
    # In this order, as in `hits.workers.trust.weigh`.
    ratings = kind_of(participation.campaign).load_worker_answers(participation)
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

    hits = assignments["hit"]
    shown = WorkerRatings(
        assignment=ratings["assignment"],
        item=ratings["item"],
        partner=ratings["partner"],
        role=ratings["role"],
        score=ratings["score"].astype(np.float64),
        seconds=_gaps(ratings["received"], number),
        submitted=assignments["submitted"][number - 1],
        hit_number=number,
    )
    has_pair_scores = "pair_score" in (ratings.dtype.names or ())
    return worker_pictures(
        shown,
        pair_ratings=replace(shown, score=ratings["pair_score"]) if has_pair_scores else None,
        origins=_origins(participation, hit_numbers) if wants("how-edited") else None,
        beside_others=_beside_others(participation, ratings, hits) if wants("agreement") else None,
        beside_formula=_beside_formula(participation, ratings, hits) if wants("likeness") else None,
        hit_times=_hit_times(participation, assignments) if wants("claimed-time") else None,
        words=kind_of(participation.campaign).score_words,
    )


def _origins(participation: Participation, hit_numbers: dict[int, int]) -> EditOrigins | None:
    """How the texts of each HIT came about, in order of submission; None if nothing was edited."""
    by_assignment = kind_of(participation.campaign).load_origins(participation)
    if not by_assignment:
        return None
    counts = [by_assignment.get(pk, Counter()) for pk in hit_numbers]
    return EditOrigins(ORIGINS, counts, origins_in_words(sum(counts, Counter())))


def _pictures_of_times(participation: Participation) -> list[Picture]:
    """Draw the times of screens. Where a screen holds several texts, their answers say nothing one by one."""
    assignments = load_worker_assignments(participation)
    numbers = {pk: number for number, pk in enumerate(assignments["pk"].tolist(), start=1)}
    rows = _first_of_screens(participation.campaign).filter(assignment__in=list(numbers))
    times = [
        (numbers[pk], received.timestamp())
        for pk, received in rows.values_list("assignment", "received_at")
    ]
    times.sort()
    number = np.array([hit for hit, _ in times], dtype=np.int64)
    gaps = _gaps(np.array([moment for _, moment in times]), number)
    pictures = [
        seconds_picture(gaps, number),
        claims_picture(_hit_times(participation, assignments)),
    ]
    return [picture for picture in pictures if picture is not None]


def _first_of_screens(campaign: Campaign) -> QuerySet[Any]:
    """One answer of each screen."""
    kind = kind_of(campaign)
    return kind.answers._default_manager.filter(kind.one_a_screen).order_by()


def picture_of_hit(assignment: Assignment) -> Picture:
    """Draw the times of one HIT, whether or not it counts."""
    answers = _first_of_screens(assignment.hit.campaign).filter(assignment=assignment)
    ordered = answers.order_by("item__screen", "item__position")
    moments = [received.timestamp() for received in ordered.values_list("received_at", flat=True)]
    return hit_seconds_picture(_gaps(np.array(moments), np.ones(len(moments), dtype=np.int64)))


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
    others = kind_of(participation.campaign).load_scores(trusted_others(participation, hits))
    others = others[np.isin(others["item"], own["item"])]
    worker = participation.worker_id
    points = scores_beside_others(
        np.concatenate([own["score"], others["score"]]),
        np.concatenate([np.full(len(own), worker), others["worker"]]),
        np.concatenate([own["assignment"], others["assignment"]]),
        np.concatenate([own["item"], others["item"]]),
        np.arange(len(own) + len(others)) >= len(own),
        worker=worker,
    )
    return BesideOthers(z=points.z, others=points.others, n_others=points.n_others)


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


def _hit_times(participation: Participation, assignments: NDArray[Any]) -> HitTimes:
    """Claimed and passed time of each HIT, in order of submission."""
    rows = (
        _first_of_screens(participation.campaign)
        .filter(assignment__in=assignments["pk"].tolist())
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
