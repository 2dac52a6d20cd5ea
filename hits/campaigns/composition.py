"""Plan the items of HITs and their order. Pure: no database, and the same seed gives the same HITs.

A HIT is a sequence of sets of ten items. Most items of a set are genuine. The others are quality-control items,
made from genuine items half a HIT away so that workers do not remember the first when they see the second.
"""

import enum
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import ClassVar

import numpy as np

from analysis.stats.roles import Role

from ..hit_sizes import RATING_SIZES, SET_SIZE, Sizes
from .degradation import CannotDegrade


class CannotCompose(ValueError):
    """No HIT can be made from these translations."""


# Pairs of genuine outputs of one segment in two sets half a HIT apart, where those of quality control
# stand too: the same gray text coming again then says little.
DECOYS_PER_TWO_SETS = 2
# With few references, one set in this many has one.
FEW_REFERENCES_EVERY = 5


class References(enum.Enum):
    """How many sets of a HIT hide a reference among the translations."""

    NONE = 0
    FEW = FEW_REFERENCES_EVERY
    ALL = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """How many sets a HIT has, and the quality-control items in each."""

    n_sets: int
    references: References

    set_size: ClassVar[int] = SET_SIZE
    decoys_per_two_sets: ClassVar[int] = DECOYS_PER_TWO_SETS

    def qc_roles(self, number: int) -> tuple[Role, ...]:
        """The roles of the quality-control items in the set with this number, counting from 0."""
        roles = (Role.BAD_REFERENCE, Role.REPEAT)
        every = self.references.value
        return (*roles, Role.REFERENCE) if every and number % every == 0 else roles

    def n_genuine(self, number: int) -> int:
        """The number of genuine items in a set."""
        return self.set_size - len(self.qc_roles(number))

    def for_hit(self, rng: np.random.Generator) -> "Layout":
        """Return the layout of one HIT."""
        return self

    @property
    def genuine_per_hit(self) -> int:
        return sum(map(self.n_genuine, range(self.n_sets)))

    @property
    def n_decoys(self) -> int:
        """The number of pairs of decoys in a HIT, if there are enough translations of a segment."""
        return self.decoys_per_two_sets * (self.n_sets // 2)

    @property
    def size(self) -> int:
        return self.n_sets * self.set_size

    def n_hits(self, n_translations: int) -> int:
        return -(-n_translations // self.genuine_per_hit)


@dataclass(frozen=True, slots=True)
class EditingLayout(Layout):
    """The same for post-editing, where every item costs more: of twenty, six are quality control.

    Every set has a degraded text. In turn, one set in four also has a reference, and one a repeat. Where the turn begins
    differs from HIT to HIT, or positions would tell which sets have more.
    """

    first: int = 0

    set_size: ClassVar[int] = 5
    decoys_per_two_sets: ClassVar[int] = 1

    def for_hit(self, rng: np.random.Generator) -> "EditingLayout":
        return replace(self, first=int(rng.integers(self.n_sets)))

    def qc_roles(self, number: int) -> tuple[Role, ...]:
        number = (number + self.first) % self.n_sets
        if number % 4 == 1 and self.references != References.NONE:
            return Role.BAD_REFERENCE, Role.REFERENCE
        return (Role.BAD_REFERENCE, Role.REPEAT) if number % 4 == 3 else (Role.BAD_REFERENCE,)


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """An item of a planned HIT; positions count from 1.

    `translation` is an index into the translations. `text` is the degraded text of a bad
    reference, and None for every other role. `screen` is the position if it is None. Items with the same
    `run` are segments of one document.
    """

    position: int
    role: Role
    translation: int
    text: str | None = None
    partner: int | None = None
    screen: int | None = None
    run: int | None = None


# Returns the degraded text of the translation with this index, or raises `CannotDegrade`.
Degrader = Callable[[int, np.random.Generator], str]


def choose_layout(
    n_translations: int,
    *,
    hit_size: int,
    references: References,
    sizes: Sizes = RATING_SIZES,
    make: type[Layout] = Layout,
) -> Layout:
    """Return the largest layout up to `hit_size` that can be filled without using a translation twice.

    Parameters
    ----------
    n_translations : int
        Number of different translations in the campaign.
    hit_size : int
        Requested size, one of `HIT_SIZES`.
    references : References
        Which sets hold a reference: seven genuine and three quality-control items then, otherwise
        eight and two.
    sizes : Sizes
        The sizes that the task allows.
    make : type
        Its layout.
    """
    if hit_size not in sizes:
        raise ValueError(f"`hit_size` must be one of {tuple(sizes)}, not {hit_size}.")
    for n_sets in range(hit_size // sizes.set_size, sizes.min_sets - 1, -2):
        layout = make(n_sets, references)
        if layout.genuine_per_hit <= n_translations:
            return layout
    needed = make(sizes.min_sets, references).genuine_per_hit
    raise CannotCompose(
        f"The smallest HIT needs {needed} different translations; there are {n_translations}."
    )


def plan_hits(
    n_translations: int,
    *,
    layout: Layout,
    seed: int,
    degrade: Degrader,
    segments: Sequence[Hashable] | None = None,
) -> Iterator[list[PlannedItem]]:
    """Yield the items of each HIT, in the order in which they are shown.

    Every translation is genuine in one HIT; the last HIT is filled up from the first ones. Each HIT
    has its own random stream. With `segments`, the segment of each translation, HITs have decoys:
    outputs of one segment half a HIT apart.
    """
    rng = np.random.default_rng([seed, 0])
    n_hits = layout.n_hits(n_translations)
    order = rng.permutation(n_translations).tolist()
    pairs: list[tuple[int, int]] = []
    if segments is not None:
        n_in_last = n_translations - (n_hits - 1) * layout.genuine_per_hit
        n_pairs = (n_hits - 1) * layout.n_decoys + min(layout.n_decoys, n_in_last // 2)
        pairs, order = _pair_up(order, segments, n_pairs)
    hands = _deal(order, pairs, layout=layout, n_hits=n_hits)
    for number, (single, paired) in enumerate(hands, start=1):
        rng = np.random.default_rng([seed, number])
        own_layout = layout.for_hit(rng)
        sets = _fill_sets(single, paired, own_layout)
        yield _plan_hit(sets, layout=own_layout, degrade=degrade, rng=rng)


def _pair_up(
    order: list[int], segments: Sequence[Hashable], n_pairs: int
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return up to `n_pairs` pairs of translations that share a segment, and the translations left over."""
    waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
    pairs: list[tuple[int, int]] = []
    for translation in order:
        if len(pairs) == n_pairs:
            break
        own_segment = waiting[segments[translation]]
        own_segment.append(translation)
        if len(own_segment) == 2:
            pairs.append((own_segment[0], own_segment[1]))
            own_segment.clear()
    paired = {translation for pair in pairs for translation in pair}
    return pairs, [translation for translation in order if translation not in paired]


Hand = tuple[list[int], list[tuple[int, int]]]


def _deal(
    order: list[int], pairs: list[tuple[int, int]], *, layout: Layout, n_hits: int
) -> Iterator[Hand]:
    """Deal out the translations and pairs to the HITs; the last HIT is filled up with the first ones."""
    start = 0
    for number in range(n_hits):
        own_pairs = pairs[number * layout.n_decoys : (number + 1) * layout.n_decoys]
        end = start + layout.genuine_per_hit - 2 * len(own_pairs)
        single = order[start:end]
        if missing := end - start - len(single):
            # Only in the last HIT. Pairs of the first HITs too, so that it has decoys like the others.
            n_more = min(layout.n_decoys - len(own_pairs), missing // 2)
            more_pairs = pairs[: min(n_more, number * layout.n_decoys)]
            own_pairs, missing = own_pairs + more_pairs, missing - 2 * len(more_pairs)
            used = {*single, *chain.from_iterable(own_pairs)}
            spare = [*order, *chain.from_iterable(pairs)]
            single += [translation for translation in spare if translation not in used][:missing]
        start = end
        yield single, own_pairs


def _fill_sets(
    single: list[int], pairs: list[tuple[int, int]], layout: Layout
) -> list[list["_Card"]]:
    """Fill the sets of a HIT with genuine items, the two of a pair half a HIT apart."""
    sets: list[list[_Card]] = [[] for _ in range(layout.n_sets)]
    half = layout.n_sets // 2
    for number, pair in enumerate(pairs):
        for offset, translation in zip((0, half), pair, strict=True):
            card = _Card(Role.GENUINE, translation, is_decoy=True)
            sets[number % half + offset].append(card)
    rest = iter(single)
    for number, cards in enumerate(sets):
        n_missing = layout.n_genuine(number) - len(cards)
        cards += [_Card(Role.GENUINE, translation) for translation in islice(rest, n_missing)]
    return sets


@dataclass(slots=True)
class _Card:
    """An item whose position is not known yet."""

    role: Role
    translation: int
    text: str | None = None
    partner: "_Card | None" = None
    position: int = 0
    is_decoy: bool = False


def _plan_hit(
    genuine: list[list[_Card]], *, layout: Layout, degrade: Degrader, rng: np.random.Generator
) -> list[PlannedItem]:
    n_sets = layout.n_sets
    # The QC items of a set come from the set half a HIT away.
    qc = [
        _qc_cards(genuine[i - n_sets // 2], layout.qc_roles(i), degrade, rng) for i in range(n_sets)
    ]
    row = [card for i in range(n_sets) for card in _shuffled(genuine[i] + qc[i], rng)]
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
    partners: list[_Card], roles: tuple[Role, ...], degrade: Degrader, rng: np.random.Generator
) -> list[_Card]:
    """Make the QC items of one set, each from a different genuine item."""
    # Decoys last: their segment is in the HIT twice already.
    candidates = sorted(_shuffled(partners, rng), key=lambda card: card.is_decoy)
    bad = _bad_reference(candidates, degrade, rng)
    unused = [card for card in candidates if card is not bad.partner]
    return [bad] + [
        _Card(role, partner.translation, partner=partner)
        for role, partner in zip(roles[1:], unused, strict=False)
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
