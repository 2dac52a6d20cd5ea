"""Which ratings of a campaign count for gold, and how much."""

from collections.abc import Collection
from dataclasses import dataclass, fields, replace

import numpy as np
from django.db.models import OuterRef, QuerySet, Subquery
from numpy.typing import NDArray

from da_platform.exceptions import PlatformError
from hits.models import Campaign, Evidence, Participation
from hits.rating.arrays import Ids, OutputArrays, RatingArrays
from hits.rating.places import left_out_assignments
from hits.rating.reports import excused_items_in

from ..stats.quality_control import NO_PARTNER, make_pairs
from ..stats.roles import Role
from ..stats.segments import Method, counts_for_gold
from ..stats.trust_rules import Stance, stance_of_agreement
from ..stats.worker_weights import WorkerWeights, worker_weights
from .gold_arrays import Floats


class WeightsRefused(PlatformError):
    """Ratings that cannot be weighed."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The workers of a campaign who count, which of their assignments are left out, and the number of decisions by hand.

    An assignment is left out if it is held or discarded for impossible times, or was submitted after its worker
    drifted and the campaign leaves those out.
    """

    trusted: Ids
    left_out: Ids
    n_reinstated: int
    n_excluded: int

    def counts(self, ratings: RatingArrays) -> NDArray[np.bool_]:
        """Return for each rating whether it counts."""
        is_trusted = np.isin(ratings.worker, self.trusted)
        if not len(self.left_out):
            return is_trusted
        return is_trusted & ~np.isin(ratings.assignment, self.left_out)


def load_trust(
    campaign: Campaign, method: Method = "per_worker", named: Collection[int] | None = None
) -> Trust:
    """Find out who counts: the trusted workers, or with weighted gold everyone who can be weighed.

    With `named`, only those of them who are named.
    """
    people = Participation.objects.filter(campaign=campaign)
    if named is not None:
        people = people.filter(worker__in=named)
    trusted = _weighable(people) if method == "weighted" else _keys(people.trusted())
    return Trust(
        trusted=np.array(trusted, dtype=np.int64),
        left_out=np.array(left_out_assignments(campaign), dtype=np.int64),
        n_reinstated=people.filter(decision=Participation.Decision.REINSTATED).count(),
        n_excluded=people.filter(decision=Participation.Decision.EXCLUDED).count(),
    )


def _keys(people: QuerySet[Participation]) -> list[int]:
    return list(people.order_by("worker").values_list("worker_id", flat=True))


def _weighable(people: QuerySet[Participation]) -> list[int]:
    """Return the workers whose hidden items say what their ratings are worth.

    Those are all but the excluded, and those who disagree with everyone else: a script can do well on
    hidden items, which would make it weigh much.
    """
    latest = Evidence.objects.filter(participation=OuterRef("pk")).order_by("-pk")
    rows = (
        people.exclude(decision=Participation.Decision.EXCLUDED)
        .order_by("worker")
        .annotate(
            n_items=Subquery(latest.values("n_agreement_items")[:1]),
            p=Subquery(latest.values("agreement_p")[:1]),
        )
        .values_list("worker_id", "decision", "n_items", "p")
    )
    return [
        worker
        for worker, decision, n_items, p in rows
        if decision or stance_of_agreement(n_items or 0, p) != Stance.AGAINST
    ]


@dataclass(frozen=True, slots=True)
class CountedColumns:
    """The ratings that count: only the columns that gold depends on."""

    translation: Ids
    worker: Ids
    role: NDArray[np.int16]
    score: NDArray[np.int16]
    assignment: Ids
    item: Ids
    partner: Ids

    @classmethod
    def of(cls, ratings: RatingArrays, trust: Trust) -> "CountedColumns":
        return cls.rows(ratings, trust.counts(ratings))

    @classmethod
    def rows(cls, ratings: RatingArrays, rows: NDArray[np.bool_]) -> "CountedColumns":
        return cls(*(getattr(ratings, field.name)[rows] for field in fields(cls)))


def expand_ratings(
    translations: Ids, outputs: OutputArrays, chosen: NDArray[np.bool_]
) -> tuple[Ids, NDArray[np.str_], Ids]:
    """Give each rating a row for every chosen output that it is of, as systems may share a translation.

    Return the rating of each row, given the translation of each rating, and the row's system and segment.
    """
    order = np.argsort(translations, kind="stable")
    first, last = (
        np.searchsorted(translations[order], outputs.translation[chosen], side)
        for side in ("left", "right")
    )
    n_ratings = last - first
    starts = np.repeat(first - np.cumsum(n_ratings) + n_ratings, n_ratings)
    return (
        order[starts + np.arange(n_ratings.sum())],
        np.repeat(outputs.system[chosen], n_ratings),
        np.repeat(outputs.segment[chosen], n_ratings),
    )


@dataclass(frozen=True, slots=True)
class HiddenItems:
    """What the hidden items of a campaign show, from which any of its workers can be weighed."""

    workers: Ids
    drops: Floats
    drop_workers: Ids
    changes: Floats
    change_workers: Ids
    # z-scores, workers and translations of the ratings that count for scores.
    scored: tuple[Floats, Ids, Ids]

    @classmethod
    def of(cls, ratings: CountedColumns, z: Floats) -> "HiddenItems":
        has_z = ~np.isnan(z)
        pairs = make_pairs(
            ratings.assignment[has_z], ratings.item[has_z], ratings.partner[has_z], z[has_z]
        )
        scored = has_z & counts_for_gold(ratings.role)
        roles, workers = ratings.role[has_z][pairs.rows], ratings.worker[has_z][pairs.rows]
        is_degraded, is_repeat = roles == Role.BAD_REFERENCE, roles == Role.REPEAT
        return cls(
            workers=np.unique(ratings.worker[has_z]),
            drops=-pairs.differences[is_degraded],
            drop_workers=workers[is_degraded],
            changes=pairs.differences[is_repeat],
            change_workers=workers[is_repeat],
            scored=(z[scored], ratings.worker[scored], ratings.translation[scored]),
        )

    def weigh(self, workers: Ids) -> WorkerWeights:
        """Weigh these workers, by each other alone where agreement counts."""
        return worker_weights(
            workers,
            drops=self.drops,
            drop_workers=self.drop_workers,
            changes=self.changes,
            change_workers=self.change_workers,
            ratings=self.scored,
        )


def weigh_workers(ratings: CountedColumns, z: Floats) -> WorkerWeights:
    """Weigh everyone who has z-scores by their hidden items, and by agreement where it can be seen.

    Raises
    ------
    WeightsRefused
        If there are ratings, but nothing in them shows what they are worth.
    """
    hidden = HiddenItems.of(ratings, z)
    weights = hidden.weigh(hidden.workers)
    if len(weights.workers) and not weights.weights.any():
        raise WeightsRefused(
            "Workers cannot be weighed: none of them lowered degraded texts."
            if len(hidden.drops)
            else "Workers cannot be weighed: nobody who counts has rated a degraded text next to its original. "
            "Weighted gold needs such hidden items; choose another way to average ratings."
        )
    return weights


def without_reported_pairs(ratings: CountedColumns, campaign: Campaign) -> CountedColumns:
    """Let hidden items form no pair if their worker reported one of the two texts, as in the worker's evidence."""
    excused = excused_items_in(campaign)
    if not excused:
        return ratings
    n_items = 1 + max(int(ratings.item.max(initial=0)), *(item for _, item in excused))
    reported = np.array([assignment * n_items + item for assignment, item in excused])
    is_excused = np.logical_or.reduce(
        [
            np.isin(ratings.assignment * n_items + items, reported)
            for items in (ratings.item, np.maximum(ratings.partner, 0))
        ]
    )
    return replace(ratings, partner=np.where(is_excused, NO_PARTNER, ratings.partner))
