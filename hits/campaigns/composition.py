"""Plan the items of HITs and their order. Pure: no database, and the same seed gives the same HITs.

A HIT is a sequence of sets of ten items. Most items of a set are genuine. The others are quality-control items,
made from genuine items half a HIT away so that workers do not remember the first when they see the second.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from analysis.stats.roles import Role

from ..hit_sizes import HIT_SIZES, MIN_SETS, SET_SIZE
from .degradation import CannotDegrade


class CannotCompose(ValueError):
    """No HIT can be made from these translations."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The number of sets in a HIT, and the quality-control items of each set."""

    n_sets: int
    qc_roles: tuple[Role, ...]

    @property
    def genuine_per_set(self) -> int:
        return SET_SIZE - len(self.qc_roles)

    @property
    def genuine_per_hit(self) -> int:
        return self.n_sets * self.genuine_per_set

    @property
    def size(self) -> int:
        return self.n_sets * SET_SIZE

    def n_hits(self, n_translations: int) -> int:
        return -(-n_translations // self.genuine_per_hit)


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """An item of a planned HIT; positions count from 1.

    `translation` is an index into the translations. `text` is the degraded text of a bad
    reference, and None for every other role.
    """

    position: int
    role: Role
    translation: int
    text: str | None = None
    partner: int | None = None


# Returns the degraded text of the translation with this index, or raises `CannotDegrade`.
Degrader = Callable[[int, np.random.Generator], str]


def choose_layout(n_translations: int, *, hit_size: int, has_references: bool) -> Layout:
    """Return the largest layout up to `hit_size` that can be filled without using a translation twice.

    Parameters
    ----------
    n_translations : int
        Number of different translations in the campaign.
    hit_size : int
        Requested size, one of `HIT_SIZES`.
    has_references : bool
        Whether references may be shown. If so, a set has seven genuine and three quality-control
        items, otherwise eight and two.
    """
    if hit_size not in HIT_SIZES:
        raise ValueError(f"`hit_size` must be one of {HIT_SIZES}, not {hit_size}.")
    qc_roles: tuple[Role, ...] = (Role.BAD_REFERENCE, Role.REPEAT)
    if has_references:
        qc_roles += (Role.REFERENCE,)
    for n_sets in range(hit_size // SET_SIZE, MIN_SETS - 1, -2):
        layout = Layout(n_sets, qc_roles)
        if layout.genuine_per_hit <= n_translations:
            return layout
    needed = Layout(MIN_SETS, qc_roles).genuine_per_hit
    raise CannotCompose(
        f"The smallest HIT needs {needed} different translations; there are {n_translations}."
    )


def plan_hits(
    n_translations: int, *, layout: Layout, seed: int, degrade: Degrader
) -> Iterator[list[PlannedItem]]:
    """Yield the items of each HIT, in the order in which they are shown.

    Every translation is genuine in one HIT; the last HIT is filled up from the first ones. Each HIT
    has its own random stream, so that it can be recreated without the others.
    """
    order = np.random.default_rng([seed, 0]).permutation(n_translations)
    for number in range(1, layout.n_hits(n_translations) + 1):
        places = np.arange((number - 1) * layout.genuine_per_hit, number * layout.genuine_per_hit)
        sets = np.take(order, places, mode="wrap").reshape(layout.n_sets, -1)
        rng = np.random.default_rng([seed, number])
        yield _plan_hit(sets.tolist(), layout=layout, degrade=degrade, rng=rng)


@dataclass(slots=True)
class _Card:
    """An item whose position is not known yet."""

    role: Role
    translation: int
    text: str | None = None
    partner: "_Card | None" = None
    position: int = 0


def _plan_hit(
    sets: list[list[int]], *, layout: Layout, degrade: Degrader, rng: np.random.Generator
) -> list[PlannedItem]:
    genuine = [[_Card(Role.GENUINE, i) for i in translations] for translations in sets]
    # The QC items of a set come from the set half a HIT away.
    qc = [
        _qc_cards(genuine[i - layout.n_sets // 2], layout, degrade, rng) for i in range(len(sets))
    ]
    row = [card for i in range(len(sets)) for card in _shuffled(genuine[i] + qc[i], rng)]
    for position, card in enumerate(row, start=1):
        card.position = position
    return [
        PlannedItem(
            card.position,
            card.role,
            card.translation,
            card.text,
            card.partner.position if card.partner else None,
        )
        for card in row
    ]


def _qc_cards(
    partners: list[_Card], layout: Layout, degrade: Degrader, rng: np.random.Generator
) -> list[_Card]:
    """Make the QC items of one set, each from a different genuine item."""
    candidates = _shuffled(partners, rng)
    bad = _bad_reference(candidates, degrade, rng)
    unused = [card for card in candidates if card is not bad.partner]
    roles = [role for role in layout.qc_roles if role != Role.BAD_REFERENCE]
    return [bad] + [
        _Card(role, partner.translation, partner=partner)
        for role, partner in zip(roles, unused, strict=False)
    ]


def _bad_reference(candidates: list[_Card], degrade: Degrader, rng: np.random.Generator) -> _Card:
    for partner in candidates:
        try:
            text = degrade(partner.translation, rng)
        except CannotDegrade:
            continue
        return _Card(Role.BAD_REFERENCE, partner.translation, text, partner)
    raise CannotCompose(
        f"None of {len(candidates)} translations in a set can be degraded: "
        "too many are empty, one character long, or the same as all others."
    )


def _shuffled(cards: list[_Card], rng: np.random.Generator) -> list[_Card]:
    return [cards[i] for i in rng.permutation(len(cards))]
