"""Which outputs are ranked together, and the hidden screens among them. Pure: no database.

Of every three screens of a HIT one is hidden: it has a degraded output, or repeats another screen in another order.
The outputs of a degraded screen come again as they are in the next HIT, and not before, so that looking for what
changed since an earlier screen finds nothing. Only the last HIT has nothing after it: there the degraded screen comes
before its clean copy in the same HIT.
"""

from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import count, islice

import numpy as np

from analysis.stats.roles import Role

from ..campaigns.composition import CannotCompose, Degrader, PlannedItem
from ..campaigns.degradation import CannotDegrade
from ..hit_sizes import hidden_screens

SCREENS_PER_SET = 3
# The browser holds a screen and the next one, so there is another between two copies.
LEAST_APART = 2
Group = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Screen:
    """Outputs shown together, by index. The outputs of a copy are genuine on another screen of the HIT."""

    outputs: Group
    degraded: int | None = None
    text: str | None = None
    copy_of: Group | None = None

    def role(self, output: int) -> Role:
        if output == self.degraded:
            return Role.BAD_REFERENCE
        return Role.REPEAT if self.copy_of else Role.GENUINE


def group_outputs(segments: Sequence[int], *, size: int, rng: np.random.Generator) -> list[Group]:
    """Cut the outputs of each segment, in random order, into groups of at most `size` and at least two.

    `segments` is the segment of each output. Every output is in one group; a segment with a single output has none.
    """
    by_segment: dict[int, list[int]] = {}
    for output, segment in enumerate(segments):
        by_segment.setdefault(segment, []).append(output)
    groups = []
    for outputs in by_segment.values():
        if len(outputs) > 1:
            shuffled = rng.permutation(outputs)
            n_groups = min(-(-len(outputs) // size), len(outputs) // 2)
            groups += [tuple(part.tolist()) for part in np.array_split(shuffled, n_groups)]
    return _shuffled(groups, rng)


def plan_screens(
    groups: Sequence[Group],
    *,
    n_screens: int,
    seed: int,
    degrade: Degrader,
    n_before: int = 0,
    seen: Set[int] = frozenset(),
) -> list[list[PlannedItem]]:
    """Return the items of each HIT of `n_screens` screens. The last HIT is filled up from the first groups.

    `n_before` is the number of HITs that the campaign has already, and `seen` the outputs in them.

    Raises
    ------
    CannotCompose
        If there are fewer than two groups.
    """
    per_hit = genuine_screens(n_screens)
    if len(groups) < 2:
        raise CannotCompose("Ranking needs two segments, or one with many outputs, to fill a HIT.")
    if len(groups) < per_hit:
        per_hit = 2 * (len(groups) // 2)
    n_hidden_before = n_before * (n_screens // SCREENS_PER_SET)
    kinds = islice(_kinds(seed, max(map(len, groups))), n_hidden_before, None)
    chosen_of_hits = _cut(groups, per_hit)
    shown, hits = set(seen), []
    for number, chosen in enumerate(chosen_of_hits):
        rng = np.random.default_rng([seed, 1, n_before + number])
        known = frozenset(shown)
        shown.update(output for group in chosen for output in group)
        following = chosen_of_hits[number + 1] if number + 1 < len(chosen_of_hits) else []
        new = _shuffled([group for group in following if shown.isdisjoint(group)], rng)
        own = _shuffled(chosen, rng)
        screens = [_Screen(group) for group in chosen]
        for has_degraded in islice(kinds, len(chosen) // 2):
            hidden = _degraded(new.pop(), degrade, rng, known) if has_degraded and new else None
            screens.append(
                hidden or _copy(own.pop(), degrade if has_degraded else None, rng, known)
            )
        hits.append(_items(_in_order(screens, rng), rng))
    return hits


def genuine_screens(n_screens: int) -> int:
    """How many screens of a HIT are not hidden."""
    return 2 * (n_screens // SCREENS_PER_SET)


def _kinds(seed: int, size: int) -> Iterator[bool]:
    """Whether each hidden screen of the campaign has a degraded output, for screens of this size."""
    kinds = hidden_screens(size)
    for block in count():
        yield from np.random.default_rng([seed, 4, block]).permutation(kinds).tolist()


def _cut(groups: Sequence[Group], per_hit: int) -> list[list[Group]]:
    """Cut groups into HITs in which no output is genuine twice, the last one filled up from the first groups."""
    waiting = deque(groups)
    hits = []
    while waiting:
        chosen: list[Group] = []
        _take(waiting, chosen, per_hit)
        _take(deque(groups), chosen, per_hit)
        hits.append(chosen)
    return hits


def _take(waiting: deque[Group], chosen: list[Group], wanted: int) -> None:
    """Move groups that share no output with those chosen, until there are so many."""
    used = {output for group in chosen for output in group}
    passed = []
    while waiting and len(chosen) < wanted:
        group = waiting.popleft()
        if used.isdisjoint(group):
            chosen.append(group)
            used.update(group)
        else:
            passed.append(group)
    waiting.extendleft(reversed(passed))


def _shuffled(groups: Sequence[Group], rng: np.random.Generator) -> list[Group]:
    return [groups[place] for place in rng.permutation(len(groups))]


# Hidden screens -------------------------------------------------------------------------------


def _degraded(
    outputs: Group,
    degrade: Degrader,
    rng: np.random.Generator,
    known: Set[int],
    copy_of: Group | None = None,
) -> _Screen | None:
    """Return the outputs with one degraded, if possible one that is not known; None if no text is long enough."""
    in_order = sorted(rng.permutation(outputs).tolist(), key=known.__contains__)
    for output in in_order:
        try:
            return _Screen(outputs, output, degrade(output, rng), copy_of)
        except CannotDegrade:
            continue
    return None


def _copy(
    outputs: Group, degrade: Degrader | None, rng: np.random.Generator, known: Set[int]
) -> _Screen:
    """Return a screen of the same HIT again, with one output degraded if that is wanted and can be done."""
    degraded = _degraded(outputs, degrade, rng, known, copy_of=outputs) if degrade else None
    return degraded or _Screen(outputs, copy_of=outputs)


def _in_order(screens: list[_Screen], rng: np.random.Generator) -> list[_Screen]:
    """Return the screens in random order, copies apart from each other, and degraded ones first."""
    copies = [
        (place, next(i for i, each in enumerate(screens) if each.outputs == screen.copy_of))
        for place, screen in enumerate(screens)
        if screen.copy_of
    ]
    at = rng.permutation(len(screens))
    while any(abs(at[copy] - at[genuine]) < LEAST_APART for copy, genuine in copies):
        at = rng.permutation(len(screens))
    for copy, genuine in copies:
        if screens[copy].degraded is not None and at[copy] > at[genuine]:
            at[[copy, genuine]] = at[[genuine, copy]]
    return [screens[place] for place in np.argsort(at)]


def _items(screens: list[_Screen], rng: np.random.Generator) -> list[PlannedItem]:
    places = [
        (number, screen, output)
        for number, screen in enumerate(screens, 1)
        for output in rng.permutation(screen.outputs).tolist()
    ]
    genuine = {
        output: position
        for position, (_, screen, output) in enumerate(places, 1)
        if screen.role(output) == Role.GENUINE
    }

    def partner(screen: _Screen, output: int) -> int | None:
        if screen.copy_of:
            return genuine[output]
        if output == screen.degraded:
            # Compared with all others on the screen; the first stands for them.
            return min(genuine[other] for other in screen.outputs if other != output)
        return None

    return [
        PlannedItem(
            position=position,
            screen=number,
            role=screen.role(output),
            translation=output,
            text=screen.text if output == screen.degraded else None,
            partner=partner(screen, output),
        )
        for position, (number, screen, output) in enumerate(places, 1)
    ]
