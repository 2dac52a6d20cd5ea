"""Which outputs to rank next: those of systems that still need judgements. Pure: no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.stats.bradley_terry import bradley_terry, strength_ranges
from analysis.stats.judgements import Judgements

# By two systems.
Needs = NDArray[np.float64]
Pairs = NDArray[np.bool_]

# The share of draws that ranges leave out at each end here, and their number. It is smaller than in results, so that what
# was decided once is hardly ever undecided in the results again.
DECIDED_SHARE, DRAWS = 0.01, 4_000
# How many judgements of each undecided pair are added before the ranking is looked at again.
JUDGEMENTS_PER_ROUND = 10
# A pair is given up if screens asked for so many judgements of it and got less than this share: the others were skipped.
ENOUGH_ASKED, LEAST_GIVEN = 3 * JUDGEMENTS_PER_ROUND, 1 / 3


@dataclass(frozen=True, slots=True)
class Choosable:
    """An output that can be ranked: its segment, and the systems that share it, by index."""

    segment: int
    systems: tuple[int, ...]


def undecided_pairs(judgements: Judgements, *, rng: np.random.Generator) -> Pairs:
    """Return which systems cannot be told apart: their rank ranges overlap, or nobody compared them with any other.

    The ranges are those of Bradley-Terry strengths. In TrueSkill all pairs have the same weight however often they were
    compared, so more judgements of some of them would not make the ranges of their systems smaller.
    """
    size = len(judgements.names)
    wins, ties = judgements.counts()
    is_compared: Pairs = np.any(wins + wins.T + ties > 0, axis=1)
    undecided: Pairs = ~np.logical_and.outer(is_compared, is_compared)
    if is_compared.all():
        fitted = bradley_terry(judgements)
        ranges = strength_ranges(fitted, rng=rng, draws=DRAWS, share=DECIDED_SHARE)
        place = {name: rank for rank, name in enumerate(fitted.systems.tolist())}
        order = [place[name] for name in judgements.names.tolist()]
        best, worst = ranges.best[order], ranges.worst[order]
        undecided = (best[:, None] <= worst) & (best <= worst[:, None])
    return undecided & ~np.eye(size, dtype=np.bool_)


def needs_of(counts: Needs, *, target: float, undecided: Pairs | None = None) -> Needs:
    """Return how many judgements each pair of systems lacks in this round.

    `counts` are those it has and those it will get from HITs that exist. Without `undecided` each pair needs
    `target` judgements. With it undecided pairs get at most `JUDGEMENTS_PER_ROUND` more at a time, the others none.
    """
    lacking = np.maximum(target - counts, 0.0)
    if undecided is not None:
        lacking = np.where(undecided, np.minimum(lacking, JUDGEMENTS_PER_ROUND), 0.0)
    np.fill_diagonal(lacking, 0.0)
    return lacking


def given_up(counts: Needs, asked: Needs) -> Pairs:
    """Return the pairs of which screens asked for many judgements and got few, because workers skip these texts."""
    return (asked >= ENOUGH_ASKED) & (counts < LEAST_GIVEN * asked)


def choose_groups(
    outputs: Sequence[Choosable],
    needs: Needs,
    *,
    per_screen: int,
    judges: int,
    rng: np.random.Generator,
    most: int | None = None,
    only_needed: bool = False,
    n_shown: Mapping[int, int] | None = None,
) -> list[tuple[int, ...]]:
    """Return groups of outputs, by index, to be ranked together by `judges` workers, until no pair lacks judgements.

    Each segment comes once before any comes again, in random order, after those that `n_shown` says were shown less
    often. A screen begins with the pair that lacks most and takes in the outputs that lack most with those already
    there; with `only_needed` no others, so that screens may be smaller. A pair that no segment can show is left out.
    """
    remaining = needs.copy()
    often = dict(n_shown or {})
    by_segment: dict[int, list[int]] = {}
    for place, output in enumerate(outputs):
        by_segment.setdefault(output.segment, []).append(place)
    segments = [segment for segment, places in by_segment.items() if len(places) > 1]
    groups: list[tuple[int, ...]] = []
    is_useful = bool(segments)
    while is_useful and remaining.any():
        is_useful = False
        for segment in sorted(
            rng.permutation(segments).tolist(), key=lambda each: often.get(each, 0)
        ):
            if len(groups) == most:
                return groups
            places = rng.permutation(by_segment[segment]).tolist()
            group = _best_group(
                [outputs[place] for place in places], remaining, per_screen, only_needed
            )
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


def _best_group(
    outputs: list[Choosable], needs: Needs, per_screen: int, only_needed: bool
) -> list[int]:
    """Return which of a segment's outputs to show; none if no pair of them is needed."""
    has = np.zeros((len(outputs), len(needs)))
    for place, output in enumerate(outputs):
        has[place, list(output.systems)] = 1.0
    between = has @ needs @ has.T
    np.fill_diagonal(between, 0.0)
    if not between.any():
        return []
    group = [int(place) for place in np.unravel_index(between.argmax(), between.shape)]
    while len(group) < min(per_screen, len(outputs)):
        gain = between[group].sum(axis=0)
        gain[group] = -1.0
        if only_needed and gain.max() <= 0.0:
            break
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
            "ranges of bradley-terry",
            f"without {DECIDED_SHARE:g}",
            f"rounds of {JUDGEMENTS_PER_ROUND}",
        ]
    return (*facts, f"{target} a pair") if target else tuple(facts)
