"""Which outputs to rank next: those of systems that still need judgements. Pure: no database."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.stats.judgements import Judgements
from analysis.stats.rank_ranges import RANGE_SHARE
from analysis.stats.trueskill import trueskill

# By two systems.
Needs = NDArray[np.float64]
Pairs = NDArray[np.bool_]

# Fewer runs than for a published ranking: a range only decides what to rank next.
RUNS = 100
# How many judgements of each undecided pair are added before the ranking is looked at again.
JUDGEMENTS_PER_ROUND = 10
# How often pairs that are told apart are compared, next to the others. TrueSkill draws from all pairs alike, so the chance
# in the few judgements of a pair that nobody compares any more would stay in all scores.
LEAST_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Choosable:
    """An output that can be ranked: its segment, and the systems that share it, by index."""

    segment: int
    systems: tuple[int, ...]


def undecided_pairs(judgements: Judgements, *, rng: np.random.Generator) -> Pairs:
    """Return which systems cannot be told apart: their rank ranges overlap, or nobody compared them with any other."""
    size = len(judgements.names)
    wins, ties = judgements.counts()
    is_compared: Pairs = np.any(wins + wins.T + ties > 0, axis=1)
    undecided: Pairs = ~np.logical_and.outer(is_compared, is_compared)
    if is_compared.all():
        result = trueskill(judgements, rng=rng, runs=RUNS)
        place = {name: rank for rank, name in enumerate(result.systems.tolist())}
        order = [place[name] for name in judgements.names.tolist()]
        best, worst = result.ranges.best[order], result.ranges.worst[order]
        undecided = (best[:, None] <= worst) & (best <= worst[:, None])
    return undecided & ~np.eye(size, dtype=np.bool_)


def needs_of(counts: Needs, *, target: float, undecided: Pairs | None = None) -> Needs:
    """Return how many judgements each pair of systems lacks in this round.

    `counts` are those it has and those it will get from HITs that exist. Without `undecided` each pair needs
    `target` judgements. With it undecided pairs get `JUDGEMENTS_PER_ROUND` more at a time, and the others as many
    as keep them at `LEAST_SHARE` of what undecided pairs have; nothing once no pair is undecided.
    """
    lacking = np.maximum(target - counts, 0.0)
    if undecided is not None:
        least = LEAST_SHARE * counts[undecided].mean() if undecided.any() else 0.0
        wanted = np.where(undecided, JUDGEMENTS_PER_ROUND, np.maximum(least - counts, 0.0))
        lacking = np.minimum(lacking, wanted)
    np.fill_diagonal(lacking, 0.0)
    return lacking


def choose_groups(
    outputs: Sequence[Choosable],
    needs: Needs,
    *,
    per_screen: int,
    judges: int,
    rng: np.random.Generator,
    most: int | None = None,
) -> list[tuple[int, ...]]:
    """Return groups of outputs, by index, to be ranked together by `judges` workers, until no pair lacks judgements.

    Each segment comes once before any comes again, in random order. A screen begins with the pair that lacks most
    and takes in the outputs that lack most with those already there. A pair that no segment can show is given up.
    """
    remaining = needs.copy()
    by_segment: dict[int, list[int]] = {}
    for place, output in enumerate(outputs):
        by_segment.setdefault(output.segment, []).append(place)
    segments = [segment for segment, places in by_segment.items() if len(places) > 1]
    groups: list[tuple[int, ...]] = []
    is_useful = bool(segments)
    while is_useful and remaining.any():
        is_useful = False
        for segment in rng.permutation(segments).tolist():
            if len(groups) == most:
                return groups
            places = rng.permutation(by_segment[segment]).tolist()
            group = _best_group([outputs[place] for place in places], remaining, per_screen)
            if group:
                is_useful = True
                groups.append(tuple(places[number] for number in group))
                _count(remaining, [outputs[places[number]] for number in group], judges)
    return groups


def screens_for(needs: Needs, *, per_screen: int, judges: int) -> int:
    """Return about how many screens it takes until no pair lacks judgements, if all outputs differ."""
    per_screen = min(per_screen, len(needs))
    pairs_shown = max(per_screen * (per_screen - 1) // 2, 1) * judges
    return int(np.ceil(np.triu(needs).sum() / pairs_shown))


def _best_group(outputs: list[Choosable], needs: Needs, per_screen: int) -> list[int]:
    """Return which of a segment's outputs to show; none if no pair of them is needed."""
    size = len(outputs)
    between = np.zeros((size, size))
    for one, other in combinations(range(size), 2):
        grid = np.ix_(outputs[one].systems, outputs[other].systems)
        between[one, other] = between[other, one] = needs[grid].sum()
    if not between.any():
        return []
    group = [int(place) for place in np.unravel_index(between.argmax(), between.shape)]
    while len(group) < min(per_screen, size):
        gain = between[group].sum(axis=0)
        gain[group] = -1.0
        group.append(int(gain.argmax()))
    return group


def _count(needs: Needs, shown: list[Choosable], judges: int) -> None:
    for one, other in combinations(shown, 2):
        for a in one.systems:
            for b in other.systems:
                needs[a, b] = needs[b, a] = max(0.0, needs[a, b] - judges)


def describe(choice: str, target: int | None) -> tuple[str, ...]:
    """Return what a signature says about the choice of outputs."""
    facts = [choice]
    if choice == "undecided":
        facts += [
            f"ranges of {RUNS} runs",
            f"without {RANGE_SHARE:g}",
            f"rounds of {JUDGEMENTS_PER_ROUND}",
            f"others {LEAST_SHARE:g} as often",
        ]
    return (*facts, f"{target} a pair") if target else tuple(facts)
