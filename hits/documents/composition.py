"""Plan HITs of runs: consecutive segments of a document, translated by one system. Pure: no database.

Some runs of a HIT stand there twice. In one of the two showings, half of the segments are degraded and the others
repeat what the first showing has. Either may come first. So that the same gray texts coming again say little, other
runs come in pairs too: the same segments by two systems.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

import numpy as np

from analysis.stats.roles import Role

from ..campaigns.composition import CannotCompose, Degrader, PlannedItem
from ..campaigns.degradation import CannotDegrade
from ..hit_sizes import items_between

# Of the items of a HIT, the share in second showings, and the share that has a twin by another system.
SHARE_COPIED = 5
SHARE_OF_DECOYS = 10
# Of the segments of a second showing, one in this many is degraded, rounded up.
DEGRADED_EVERY = 2
# Random orders tried before the runs of a HIT are put into a plain order that keeps the distances.
TRIES = 200
# Runs looked at for one that fits into what is left of a HIT, before one is cut.
LOOK_AHEAD = 200


@dataclass(frozen=True, slots=True)
class Run:
    """Translations of consecutive segments by one system. `span` says which segments."""

    translations: tuple[int, ...]
    span: Hashable

    def __len__(self) -> int:
        return len(self.translations)

    def part(self, start: int, stop: int) -> "Run":
        return Run(self.translations[start:stop], (self.span, start, stop))


def cut_into_spans(documents: Sequence[str], *, length: int) -> list[range]:
    """Cut a test set into stretches of at most `length` segments of one document, as equal as they can be.

    `documents` names the document of each segment in order; a segment without one stands alone.
    """
    spans = []
    for document, places in groupby(range(len(documents)), key=documents.__getitem__):
        stretch = list(places)
        longest = length if document else 1
        n_spans = -(-len(stretch) // longest)
        bounds = [len(stretch) * number // n_spans for number in range(n_spans + 1)]
        spans += [
            range(stretch[0] + start, stretch[0] + stop)
            for start, stop in zip(bounds, bounds[1:], strict=False)
        ]
    return spans


def runs_of(spans: Iterable[range], outputs: Sequence[Sequence[int | None]]) -> list[Run]:
    """Return the runs of every system, without equal ones.

    `outputs` has the translation of each segment for each system, or None: a gap ends a run.
    """
    runs: dict[tuple[int, ...], Run] = {}
    for span in spans:
        for own in outputs:
            for is_there, places in groupby(span, key=lambda place: own[place] is not None):
                if is_there:
                    stretch = list(places)
                    # No value left here is None.
                    translations = tuple(own[place] for place in stretch)
                    key = (stretch[0], stretch[-1])
                    runs.setdefault(translations, Run(translations, key))  # type: ignore[arg-type]
    return list(runs.values())


def sample_runs(runs: Sequence[Run], *, size: int, rng: np.random.Generator) -> list[Run]:
    """Draw runs at random until they have `size` different translations; the last one is cut."""
    drawn: list[Run] = []
    translations: set[int] = set()
    for place in rng.permutation(len(runs)).tolist():
        run = runs[place]
        if len(translations) == size:
            break
        new = [number for number, own in enumerate(run.translations) if own not in translations]
        if len(new) > size - len(translations):
            run = run.part(0, new[size - len(translations)])
        if len(run):
            drawn.append(run)
            translations.update(run.translations)
    return drawn


# HITs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recipe:
    """How much of a HIT is shown twice.

    `is_enough` says so of the runs that are shown twice, for the size of the HIT, and `n_degraded` how many
    texts are degraded in the second showing of a run of this length.
    """

    is_enough: Callable[[Sequence[Run], int], bool]
    n_degraded: Callable[[int], int]


def _is_a_fifth(copied: Sequence[Run], size: int) -> bool:
    return sum(map(len, copied)) >= size // SHARE_COPIED


def _half(length: int) -> int:
    return -(-length // DEGRADED_EVERY)


DOCUMENTS = Recipe(_is_a_fifth, _half)


@dataclass(slots=True)
class _Block:
    """A run as it is shown. `copy_of` is the other showing if this one has the hidden items."""

    run: Run
    texts: dict[int, str] = field(default_factory=dict)
    copy_of: "_Block | None" = None
    # The showing that this one is half a HIT away from: a copy, or another system's.
    twin: "_Block | None" = None
    start: int = 0


@dataclass(slots=True)
class _Hand:
    """The runs of one HIT: those shown twice, with what is shown again; pairs by two systems, and the others."""

    size: int
    copied: list[tuple[Run, Run]] = field(default_factory=list)
    pairs: list[tuple[Run, Run]] = field(default_factory=list)
    single: list[Run] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    n_free: int = 0

    def __post_init__(self) -> None:
        self.n_free = self.size

    def takes(self, run: Run) -> bool:
        return self.used.isdisjoint(run.translations)

    @property
    def shown_again(self) -> list[Run]:
        return [again for _, again in self.copied]

    def add(self, run: Run) -> None:
        self.single.append(run)
        self.used.update(run.translations)
        self.n_free -= len(run)

    def add_twice(self, run: Run) -> None:
        self.copied.append((run, run))
        self.used.update(run.translations)
        self.n_free -= 2 * len(run)

    def add_copy(self, length: int, rng: np.random.Generator) -> bool:
        """Show the beginning of a run again instead of a run of this length, as often as the HIT has copies.

        Otherwise the short runs that fill up HITs would never be hidden, and their length would tell.
        """
        n_shown = 2 * (len(self.copied) + len(self.pairs)) + len(self.single)
        longer = [run for run in self.single if len(run) >= length]
        if not longer or rng.random() >= len(self.copied) / n_shown:
            return False
        run = longer[rng.integers(len(longer))]
        self.single.remove(run)
        self.copied.append((run, run.part(0, length)))
        self.n_free -= length
        return True


def plan_runs(
    runs: Sequence[Run], *, size: int, seed: int, degrade: Degrader, recipe: Recipe = DOCUMENTS
) -> Iterator[list[PlannedItem]]:
    """Yield the items of each HIT of `size` items, in the order in which they are shown.

    Every run is genuine in one HIT; one that does not fit is cut, and the last HIT is filled up from all runs.
    No translation is genuine twice in a HIT. Each HIT has its own random stream.

    Raises
    ------
    CannotCompose
        If there are too few translations for one HIT.
    """
    rng = np.random.default_rng([seed, 0])
    queue = _Queue(runs, rng)
    number = 0
    while queue:
        number += 1
        rng = np.random.default_rng([seed, number])
        hand = _Hand(size)
        _deal(queue, hand, recipe, rng)
        if hand.n_free:
            # The last HIT has runs of other HITs, too.
            _deal(_Queue(runs, rng), hand, recipe, rng)
        if hand.n_free:
            _fill_up(hand, runs)
        yield _plan_hit(hand, recipe, degrade=degrade, rng=rng)


class _Queue:
    """Runs to choose from, in random order."""

    def __init__(self, runs: Sequence[Run], rng: np.random.Generator) -> None:
        self._rng = rng
        self._runs = dict(enumerate(runs[place] for place in rng.permutation(len(runs)).tolist()))
        self._next = -1
        self._by_span: defaultdict[Hashable, list[int]] = defaultdict(list)
        for number, run in self._runs.items():
            self._by_span[run.span].append(number)

    def __bool__(self) -> bool:
        return bool(self._runs)

    def take(self, fits: Callable[[Run], bool]) -> Run | None:
        """Take out the first run that fits, if one of the first does."""
        for number, run in islice(self._runs.items(), LOOK_AHEAD):
            if fits(run):
                del self._runs[number]
                return run
        return None

    def take_pair(self, fits: Callable[[Run], bool]) -> tuple[Run, Run] | None:
        """Take out two runs of the same segments by two systems, with no text in common."""
        for number, run in islice(self._runs.items(), LOOK_AHEAD):
            if not fits(run):
                continue
            for twin in self._by_span[run.span]:
                other = self._runs.get(twin)
                if other and fits(other) and not set(run.translations) & set(other.translations):
                    del self._runs[number], self._runs[twin]
                    return run, other
        return None

    def put_back(self, run: Run) -> None:
        """Put what was cut off anywhere among the others: in front, it would always be shown twice."""
        rows = list(self._runs.items())
        rows.insert(int(self._rng.integers(len(rows) + 1)), (self._next, run))
        self._runs = dict(rows)
        self._next -= 1


def _deal(queue: _Queue, hand: _Hand, recipe: Recipe, rng: np.random.Generator) -> None:
    """Take runs out of the queue until the HIT is full or no more of them fit."""
    while not recipe.is_enough(hand.shown_again, hand.size):
        run = queue.take(lambda run: hand.takes(run) and 2 * len(run) <= hand.n_free)
        if run is None:
            break
        hand.add_twice(run)
    _deal_pairs(queue, hand)
    while run := queue.take(hand.takes) if hand.n_free else None:
        if len(run) <= hand.n_free:
            hand.add(run)
        else:
            _deal_last(queue, run, hand, rng)


def _deal_last(queue: _Queue, run: Run, hand: _Hand, rng: np.random.Generator) -> None:
    """Take a short run, or the beginning of this one, because it is too long for the places left; or a copy."""
    short = queue.take(lambda other: hand.takes(other) and len(other) <= hand.n_free)
    last = short or run.part(0, hand.n_free)
    if hand.add_copy(len(last), rng):
        left = [run, short]
    else:
        hand.add(last)
        left = [run if short else run.part(len(last), len(run))]
    for other in left:
        if other:
            queue.put_back(other)


def _deal_pairs(queue: _Queue, hand: _Hand) -> None:
    """Take pairs of runs of the same segments by two systems."""
    n_wanted = hand.size // SHARE_OF_DECOYS
    while sum(len(run) for run, _ in hand.pairs) < n_wanted:
        pair = queue.take_pair(lambda run: hand.takes(run) and 2 * len(run) <= hand.n_free)
        if pair is None:
            break
        hand.pairs.append(pair)
        for run in pair:
            hand.used.update(run.translations)
            hand.n_free -= len(run)


def _fill_up(hand: _Hand, runs: Sequence[Run]) -> None:
    """Fill a HIT with stretches of runs that are partly in it."""
    for run in runs:
        for part in _free_parts(run, hand.used):
            if hand.n_free:
                hand.add(part.part(0, min(len(part), hand.n_free)))
    if hand.n_free:
        raise CannotCompose(
            f"A HIT of {hand.size} items needs {len(hand.used) + hand.n_free} different translations; "
            f"there are {len(hand.used)}."
        )


def _free_parts(run: Run, used: set[int]) -> list[Run]:
    """Return the stretches of a run that are not in the HIT yet."""
    numbers = range(len(run))
    stretches = groupby(numbers, key=lambda number: run.translations[number] not in used)
    parts = []
    for is_free, places in stretches:
        if is_free:
            stretch = list(places)
            parts.append(run.part(stretch[0], stretch[-1] + 1))
    return parts


def _plan_hit(
    hand: _Hand, recipe: Recipe, *, degrade: Degrader, rng: np.random.Generator
) -> list[PlannedItem]:
    blocks = [_Block(run) for run in hand.single]
    for run, again in hand.copied:
        genuine = _Block(run)
        hidden = _Block(again, _degraded_texts(again, recipe, degrade, rng), genuine, twin=genuine)
        blocks += [genuine, hidden]
    for one, other in hand.pairs:
        first = _Block(one)
        blocks += [first, _Block(other, twin=first)]
    return _items(_in_order(blocks, size=hand.size, rng=rng))


def _degraded_texts(
    run: Run, recipe: Recipe, degrade: Degrader, rng: np.random.Generator
) -> dict[int, str]:
    """Degrade as many texts as the recipe says, or as can be; by place in the run."""
    n_wanted = recipe.n_degraded(len(run))
    texts: dict[int, str] = {}
    for place in rng.permutation(len(run)).tolist():
        if len(texts) == n_wanted:
            break
        try:
            texts[place] = degrade(run.translations[place], rng)
        except CannotDegrade:
            continue
    return texts


def _in_order(blocks: list[_Block], *, size: int, rng: np.random.Generator) -> list[_Block]:
    """Return the blocks in a random order in which twins are far enough apart, either one first."""
    for _ in range(TRIES):
        keys = {id(block): rng.random() for block in blocks}
        for block in blocks:
            if block.twin is not None:
                early, late = (block, block.twin) if rng.random() < 0.5 else (block.twin, block)
                keys[id(early)] = rng.random() / 2
                keys[id(late)] = keys[id(early)] + 0.5
        order = sorted(blocks, key=lambda block: keys[id(block)])
        if _are_far_apart(order, size):
            return order
    first, last = [], []
    for block in blocks:
        if block.copy_of is not None:
            early, late = (block, block.copy_of) if rng.random() < 0.5 else (block.copy_of, block)
            first.append(early)
            last.append(late)
    ends = {id(block) for block in first + last}
    middle = [block for block in blocks if id(block) not in ends]
    order = first + [middle[place] for place in rng.permutation(len(middle))] + last
    _are_far_apart(order, size)
    return order


def _are_far_apart(order: list[_Block], size: int) -> bool:
    """Number the items, and say whether enough of them stand between those of twins."""
    start = 1
    for block in order:
        block.start = start
        start += len(block.run)
    return all(
        abs(block.start - block.twin.start) > items_between(size)
        for block in order
        if block.twin is not None
    )


def _items(order: list[_Block]) -> list[PlannedItem]:
    return [
        _item(block, place, number)
        for number, block in enumerate(order, 1)
        for place in range(len(block.run))
    ]


def _item(block: _Block, place: int, number: int) -> PlannedItem:
    role, partner = Role.GENUINE, None
    if block.copy_of is not None:
        role = Role.BAD_REFERENCE if place in block.texts else Role.REPEAT
        partner = block.copy_of.start + place
    return PlannedItem(
        position=block.start + place,
        role=role,
        translation=block.run.translations[place],
        text=block.texts.get(place),
        partner=partner,
        run=number,
    )
