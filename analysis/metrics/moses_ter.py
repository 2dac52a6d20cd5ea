"""Translation edit rate as counted by Moses, which makes other shifts than tercom and sacreBLEU.

A shift moves a run of words that occurs in both texts, at a cost of one edit. Finding the best shifts is hard, so
every implementation tries only some, one at a time, as long as a shift saves at least the edit it costs. Moses
differs in that it moves words of the reference and not of the translation, and tries only the first ten
shifts that it comes across.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

Words = Sequence[str]
Runs = Mapping[tuple[str, ...], Sequence[int]]
# The first and the last word of a run, and the position to move it to.
Shift = tuple[int, int, int]

LONGEST_RUN = 10
FARTHEST = 25
MOST_SHIFTS = 10
# An alignment is given up when it has this many edits more than the best one up to the same word.
BEAM = 10


@dataclass(frozen=True, slots=True)
class _Alignment:
    """A cheap way to edit a text into the target, without shifts."""

    n_edits: int
    # Whether each word is inserted, deleted or replaced.
    is_wrong: list[bool]
    is_wrong_in_target: list[bool]
    # The word aligned with each word of the target; for a missing one, the word after the gap.
    places: list[int]


def moses_errors(translation: Words, reference: Words) -> int:
    """Return the number of edits and shifts between a translation and its reference.

    Parameters
    ----------
    translation, reference : sequence of str
        Words, compared as they are; lower-case them first to ignore case.

    Returns
    -------
    int

    References
    ----------
    .. [1] Snover et al. A Study of Translation Edit Rate with Targeted Human Annotation. AMTA 2006.
    .. [2] Servan and Schwenk. Optimising multiple metrics with MERT. The Prague Bulletin of
       Mathematical Linguistics 96, 2011.
    """
    words, target = list(reference), list(translation)
    runs, n_shifts = _runs(target), 0
    alignment = _align(words, target)
    while shifted := _best_shift(words, target, alignment, runs):
        words, n_shifts = shifted, n_shifts + 1
        alignment = _align(words, target)
    return alignment.n_edits + n_shifts


def _runs(target: Words) -> Runs:
    """Return where each run of words in the target starts."""
    starts = defaultdict(list)
    for start in range(len(target)):
        for end in range(start + 1, min(start + LONGEST_RUN, len(target)) + 1):
            starts[tuple(target[start:end])].append(start)
    return dict(starts)


def _best_shift(
    words: list[str], target: list[str], alignment: _Alignment, runs: Runs
) -> list[str] | None:
    """Return the words after the shift that saves most, longest runs first; None if none pays off."""
    by_length = defaultdict(list)
    for start, end, position in islice(_shifts(words, alignment, runs), MOST_SHIFTS):
        by_length[end - start + 1].append((start, end, position))
    best, fewest = None, alignment.n_edits + 1
    for length in sorted(by_length, reverse=True):
        for shift in by_length[length]:
            # A shift saves at most two edits for each word.
            if best and alignment.n_edits - fewest >= 2 * length:
                return best
            moved = _moved(words, *shift)
            n_edits = _n_edits(moved, target) + 1
            if n_edits < fewest:
                best, fewest = moved, n_edits
    return best


def _shifts(words: list[str], alignment: _Alignment, runs: Runs) -> Iterator[Shift]:
    """Yield the shifts to try: of runs with an error, to places with an error in the target."""
    places = alignment.places
    for start, word in enumerate(words):
        # The first word must have another place to go to.
        if all(places[target] == start for target in runs.get((word,), ())):
            continue
        for end in range(start, min(start + LONGEST_RUN, len(words))):
            targets = runs.get(tuple(words[start : end + 1]))
            if targets is None:
                break
            if not any(alignment.is_wrong[start : end + 1]):
                continue
            reachable = [
                target
                for target in targets
                if not start <= places[target] <= end and abs(places[target] - start) <= FARTHEST
            ]
            if not reachable:
                break
            for target in reachable:
                if any(alignment.is_wrong_in_target[target : target + end - start + 1]):
                    yield from _positions(start, end, target, places)


def _positions(start: int, end: int, target: int, places: list[int]) -> Iterator[Shift]:
    """Yield a run's positions: next to each word aligned with its target, or in front of all."""
    for offset in range(-1, end - start + 1):
        if target + offset < 0:
            yield start, end, -1
        elif places[target + offset] != start and (
            offset == 0 or places[target + offset] != places[target]
        ):
            yield start, end, places[target + offset]


def _moved(words: list[str], start: int, end: int, position: int) -> list[str]:
    """Move a run before a position to its left, or after one to its right."""
    run, rest = words[start : end + 1], words[:start] + words[end + 1 :]
    position = min(position, len(words) - 1)
    if position > end:
        position -= len(run) - 1
    place = max(position, 0)
    return [*rest[:place], *run, *rest[place:]]


# Edit distance --------------------------------------------------------------------------------


def _n_edits(words: list[str], target: list[str]) -> int:
    """Return the number of edits without shifts."""
    n_edits = Levenshtein.distance(words, target, score_cutoff=BEAM)
    # So few edits never leave the beam.
    return n_edits if n_edits <= BEAM else int(_costs(words, target)[-1, -1])


def _costs(words: list[str], target: list[str]) -> NDArray[np.float64]:
    """Return the edits between the first j words and the first i of the target, as row j, column i.

    Infinite where an alignment was given up.
    """
    differs = np.array([[word != other for other in target] for word in words], dtype=np.float64)
    columns = np.arange(len(target) + 1)
    costs = np.empty((len(words) + 1, len(target) + 1))
    costs[0] = columns
    for row, differing in enumerate(differs, 1):
        replaced = costs[row - 1, :-1] + differing
        arrived = costs[row - 1] + 1
        arrived[1:] = np.minimum(arrived[1:], replaced)
        costs[row] = np.minimum.accumulate(arrived - columns) + columns
        if row < len(words) and len(target):
            costs[row, costs[row] > replaced.min() + BEAM] = np.inf
    return costs


def _align(words: list[str], target: list[str]) -> _Alignment:
    """Align by edit distance; of equally cheap edits, replace a word first, then delete one."""
    costs = _costs(words, target)
    row, column = len(words), len(target)
    is_wrong, is_wrong_in_target, places = [True] * row, [True] * column, [0] * column
    while row or column:
        cost = costs[row, column]
        differs = bool(row and column) and words[row - 1] != target[column - 1]
        if row and column and cost == costs[row - 1, column - 1] + differs:
            row, column = row - 1, column - 1
            is_wrong[row] = is_wrong_in_target[column] = differs
            places[column] = row
        elif row and cost == costs[row - 1, column] + 1:
            row -= 1
        else:
            column -= 1
            places[column] = row
    return _Alignment(int(costs[-1, -1]), is_wrong, is_wrong_in_target, places)
