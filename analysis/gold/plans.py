"""Plans of campaigns: the sizes that meet a wish, and what each costs."""

from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any

from da_platform.numbers import known
from hits.campaigns.costs import USUAL_FEE, Cost
from hits.rating.places import ASSUMED_PASS_RATE

from ..stats.planning import (
    Design,
    gold_reliability,
    power,
    ratings_for_reliability,
    segments_for_power,
    smallest_difference,
)
from ..stats.signature import signature
from ..stats.variance_components import VarianceComponents

# Trusted ratings of each translation to choose from.
DEPTHS = (1, 2, 3, 5, 10, 15)
# About as measured on trusted workers of WMT21 (cs-en 0.05, 0, 0.01, 0.03, 0.67; de-en 0.06, 0, 0.03, 0.02, 0.63).
USUAL_COMPONENTS = VarianceComponents(0.06, 0.01, 0.01, 0.03, 0.65)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a campaign should find out, and what its workers cost."""

    n_systems: int = 5
    difference: float = 0.1
    power: float = 0.8
    reliability: float = 0.8
    most_segments: int | None = None
    genuine_per_hit: int = 70
    hits_per_worker: float = 2.0
    pay: Decimal = Decimal("1.00")
    fee_percent: Decimal = USUAL_FEE
    pass_percent: int = round(100 * ASSUMED_PASS_RATE)

    def design(self, n_segments: int, n_ratings: int) -> Design:
        return Design(
            self.n_systems, n_segments, n_ratings, self.genuine_per_hit, self.hits_per_worker
        )


USUAL = Wishes()
# The size that just reaches a power may be computed slightly below it.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """A size of the campaign, what it would show and what it would cost.

    `is_enough` says whether the wished power is reached: not if there are too few segments.
    """

    design: Design
    power: float
    smallest_difference: float
    reliability: float
    cost: Cost
    is_enough: bool

    @property
    def n_trusted_ratings(self) -> int:
        return self.design.n_translations * self.design.n_ratings

    def as_json(self) -> dict[str, Any]:
        design, cost = self.design, self.cost
        return {
            "ratings_per_translation": design.n_ratings,
            "segments": design.n_segments,
            "translations": design.n_translations,
            "trusted_ratings": self.n_trusted_ratings,
            "trusted_workers": design.n_workers,
            "hits": design.n_hits,
            "assignments": cost.n_assignments,
            "power": self.power,
            "smallest_difference": known(self.smallest_difference),
            "reliability": self.reliability,
            "cost": str(cost.total),
            "is_enough": self.is_enough,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """The sizes that meet the wishes, one for each number of ratings of a translation.

    `ratings_for_gold` is how many ratings make gold as reliable as wished, None if no number does. `gold` is the size that
    gives the segments there are such gold, whatever its power; None if their number was not given.
    """

    wishes: Wishes
    components: VarianceComponents
    sizes: list[PlannedSize]
    ratings_for_gold: int | None
    gold: PlannedSize | None
    signature: str

    @property
    def cheapest(self) -> PlannedSize | None:
        """The cheapest size with the wished power."""
        enough = [size for size in self.sizes if size.is_enough]
        return min(enough, key=lambda size: size.cost.total, default=None)

    def as_json(self) -> dict[str, Any]:
        return {
            "sizes": [size.as_json() for size in self.sizes],
            "cheapest": self.cheapest.as_json() if self.cheapest else None,
            "ratings_for_gold": self.ratings_for_gold,
            "gold": self.gold.as_json() if self.gold else None,
            "components": asdict(self.components),
            "single_r": known(self.components.single_r),
            "signature": self.signature,
        }


def make_plan(wishes: Wishes, components: VarianceComponents) -> Plan:
    """Find the fewest segments with the wished power, for each number of ratings."""
    wished = ratings_for_reliability(components, wishes.reliability)
    depths = {*DEPTHS, *([wished] if wished else [])}
    sizes = [size for n in sorted(depths) if (size := _size(wishes, components, n))]
    return Plan(
        wishes=wishes,
        components=components,
        sizes=sizes,
        ratings_for_gold=wished,
        gold=_described(wishes, components, wishes.design(wishes.most_segments, wished))
        if wished and wishes.most_segments
        else None,
        signature=signature(
            plan=("t", "two-way", "holm-first-step"),
            systems=wishes.n_systems,
            d=wishes.difference,
            power=wishes.power,
            variances=tuple(asdict(components).values()),
        ),
    )


def _size(wishes: Wishes, components: VarianceComponents, n_ratings: int) -> PlannedSize | None:
    smallest = wishes.design(2, n_ratings)
    n = segments_for_power(smallest, components, wishes.difference, wishes.power)
    most = wishes.most_segments
    n_segments = n if n is not None and (most is None or n <= most) else most
    if n_segments is None:
        return None
    return _described(wishes, components, replace(smallest, n_segments=n_segments))


def _described(wishes: Wishes, components: VarianceComponents, design: Design) -> PlannedSize:
    """Return what a campaign of this size would show and cost."""
    reached = power(design, components, wishes.difference)
    return PlannedSize(
        design=design,
        power=reached,
        smallest_difference=smallest_difference(design, components, wishes.power),
        reliability=float(gold_reliability(components, design.n_ratings)),
        cost=Cost(
            n_hits=design.n_hits,
            n_translations=design.n_translations,
            ratings=design.n_ratings,
            pay=wishes.pay,
            fee_percent=wishes.fee_percent,
            pass_percent=wishes.pass_percent,
        ),
        is_enough=reached >= wishes.power - ROUNDING,
    )
