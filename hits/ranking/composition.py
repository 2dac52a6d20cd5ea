"""Which outputs are ranked together, and the hidden screens among them. Pure: no database.

A HIT has sets of three screens, as at WMT: two screens of genuine outputs, and one that shows the outputs of the
first or the last again, in another order, one of them degraded. Either may come first, and the other genuine screen
always stands between them, so the browser never holds both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.roles import Role

from ..campaigns.composition import CannotCompose, Degrader, PlannedItem
from ..campaigns.degradation import CannotDegrade

SCREENS_PER_SET = 3


@dataclass(frozen=True, slots=True)
class _Screen:
    """Outputs shown together, by index; with roles and texts if it repeats another screen."""

    outputs: tuple[int, ...]
    degraded: int | None = None
    text: str | None = None
    is_repeat: bool = False

    def role(self, output: int) -> Role:
        if not self.is_repeat:
            return Role.GENUINE
        return Role.BAD_REFERENCE if output == self.degraded else Role.REPEAT


def group_outputs(
    segments: Sequence[int], *, size: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
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
    return [groups[place] for place in rng.permutation(len(groups))]


def plan_screens(
    groups: Sequence[tuple[int, ...]],
    *,
    n_screens: int,
    seed: int,
    degrade: Degrader,
    n_before: int = 0,
) -> list[list[PlannedItem]]:
    """Return the items of each HIT of `n_screens` screens. The last HIT is filled up from the first groups.

    `n_before` is the number of HITs that the campaign has already.

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
    n_hits = -(-len(groups) // per_hit)
    hits = []
    for number in range(n_hits):
        rng = np.random.default_rng([seed, 1, n_before + number])
        chosen = [groups[(number * per_hit + place) % len(groups)] for place in range(per_hit)]
        screens: list[_Screen] = []
        for first in range(0, per_hit, 2):
            screens += _set_of_screens(chosen[first], chosen[first + 1], degrade, rng)
        hits.append(_items(screens, rng))
    return hits


def genuine_screens(n_screens: int) -> int:
    """How many screens of a HIT are genuine."""
    return 2 * (n_screens // SCREENS_PER_SET)


def _set_of_screens(
    one: tuple[int, ...], other: tuple[int, ...], degrade: Degrader, rng: np.random.Generator
) -> list[_Screen]:
    shown_twice, once = (one, other) if rng.random() < 0.5 else (other, one)
    screens = [_Screen(shown_twice), _Screen(once), _repeat(shown_twice, degrade, rng)]
    return screens if rng.random() < 0.5 else screens[::-1]


def _repeat(outputs: tuple[int, ...], degrade: Degrader, rng: np.random.Generator) -> _Screen:
    """Return the screen with one output degraded; with none if no text is long enough."""
    for output in rng.permutation(outputs).tolist():
        try:
            return _Screen(outputs, output, degrade(output, rng), is_repeat=True)
        except CannotDegrade:
            continue
    return _Screen(outputs, is_repeat=True)


def _items(screens: list[_Screen], rng: np.random.Generator) -> list[PlannedItem]:
    places = [
        (number, screen, output)
        for number, screen in enumerate(screens, 1)
        for output in rng.permutation(screen.outputs).tolist()
    ]
    genuine = {
        output: position
        for position, (_, screen, output) in enumerate(places, 1)
        if not screen.is_repeat
    }
    return [
        PlannedItem(
            position=position,
            screen=number,
            role=screen.role(output),
            translation=output,
            text=screen.text if output == screen.degraded else None,
            partner=genuine[output] if screen.is_repeat else None,
        )
        for position, (number, screen, output) in enumerate(places, 1)
    ]
