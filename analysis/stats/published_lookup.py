"""How WMT15's own programs read rankings, and which judgements they found when they looked up a pair of systems.

The program behind the official rankings of WMT15 kept judgements in a dictionary whose keys were the two names in the
order in which a Python 2 set of both yields them. That order depends on the hashes of the names, and where the last
three bits of both are equal, also on which name was added first. For those pairs, about one in eight, the program kept
two lists, one for each order in which the outputs were shown, and found one or the other depending on which of the two
systems it looked up first. Nobody meant this, but scores move by up to 0.015 and rank ranges that just touch no longer
do, so official rankings are only reproduced with it.
"""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np

from ._validation import Floats
from .judgements import SKIPPED, Judgements, Rankings, expand

# The smallest table of a set, which holds up to four elements.
_SLOTS = 8
_WORD = 2**64 - 1
_PERTURB_SHIFT = 5


# Tasks of a HIT: what a judge did again at once is at most so many tasks later.
_TASKS_PER_HIT = 3


def expand_as_published(rows: Rankings) -> Judgements:
    """Turn rankings into pairwise judgements as WMT15 did. A pair counts if both of its outputs have a rank.

    A task that its judge did twice in the same HIT was read as one task with the outputs of both times, and that one
    twice: its systems are also compared with themselves. That matters because the number of judgements scales
    TrueSkill's scores. Tasks are in the order of their numbers.
    """
    judgements = expand(rows)
    ranked = rows.where(rows.ranks != SKIPPED)
    twice = _done_twice(ranked)
    again = [_joined(judgements, ranked, pair) for pair in twice]
    others = judgements.where(~np.isin(judgements.tasks, [task for pair in twice for task in pair]))
    return _concatenated([others, *again, *again])


def _done_twice(rows: Rankings) -> list[tuple[int, int]]:
    """Return pairs of tasks in which a judge saw the same outputs in the same order, one soon after the other."""
    shown: dict[int, list[tuple[object, ...]]] = {}
    columns = (rows.tasks, rows.segments, rows.judges, rows.systems, rows.outputs)
    for task, *row in zip(*(column.tolist() for column in columns), strict=True):
        shown.setdefault(task, []).append(tuple(row))
    latest: dict[tuple[object, ...], int] = {}
    twice = []
    for task in sorted(shown):
        before = latest.get(tuple(shown[task]))
        if before is not None and task - before <= _TASKS_PER_HIT:
            twice.append((before, task))
        latest[tuple(shown[task])] = task
    return twice


def _joined(judgements: Judgements, rows: Rankings, pair: tuple[int, int]) -> Judgements:
    places = np.concatenate([np.flatnonzero(rows.tasks == task) for task in pair])
    first, second = np.array(list(combinations(places.tolist(), 2))).T
    systems = np.searchsorted(judgements.names, rows.systems)
    return replace(
        judgements,
        first=systems[first],
        second=systems[second],
        outcomes=np.sign(rows.ranks[second] - rows.ranks[first]).astype(np.int64),
        is_inferred=np.zeros(len(first), dtype=np.bool_),
        segments=rows.segments[first],
        judges=rows.judges[first],
        tasks=np.full(len(first), pair[0]),
    )


def _concatenated(parts: list[Judgements]) -> Judgements:
    names = [name for name in Judgements.__slots__ if name != "names"]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    return replace(parts[0], **columns)


def outcomes_found(judgements: Judgements) -> tuple[Floats, Floats, Floats]:
    """Return how often row a won against column b, tied and lost, among what the program found.

    Row a is the system that it looked up first. Systems need names.
    """
    as_shown = _count_as_shown(judgements)
    names = [str(name) for name in judgements.names]
    pairs = list(permutations(range(len(names)), 2))
    keys = {(a, b): _set_order(names[a], names[b]) for a, b in pairs}
    lists: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for shown, key in keys.items():
        lists.setdefault(key, []).append(shown)
    found = np.zeros((3, len(names), len(names)))
    for a, b in pairs:
        # The program made a set of both twice before it looked them up.
        for shown in lists.get(_set_order(*keys[a, b]), []):
            outcomes = as_shown[:, *shown]
            found[:, a, b] += outcomes if shown == (a, b) else outcomes[::-1]
    wins, ties, losses = found
    return wins, ties, losses


def _count_as_shown(judgements: Judgements) -> Floats:
    """Return how often the first won, both tied, and the second won, by the two in the order shown."""
    size = len(judgements.names)
    counted = np.zeros((3, size, size))
    np.add.at(counted, (1 - judgements.outcomes, judgements.first, judgements.second), 1)
    return counted


def _set_order(first: str, second: str) -> tuple[str, str]:
    """Return two names in the order of a Python 2 set to which they were added in this order."""
    slot, other = _hash(first) % _SLOTS, _probe(_hash(second), taken=_hash(first) % _SLOTS)
    return (first, second) if slot < other else (second, first)


def _probe(number: int, *, taken: int) -> int:
    """Return the slot of a hash when another slot is taken."""
    slot, perturb = number % _SLOTS, number
    position = slot
    while slot == taken:
        position = (5 * position + perturb + 1) & _WORD
        slot = position % _SLOTS
        perturb >>= _PERTURB_SHIFT
    return slot


def _hash(text: str) -> int:
    """Return the hash of a string in Python 2 on 64 bits, as an unsigned number."""
    encoded = text.encode()
    if not encoded:
        return 0
    value = encoded[0] << 7
    for byte in encoded:
        value = (1_000_003 * value & _WORD) ^ byte
    value ^= len(encoded)
    return _WORD - 1 if value == _WORD else value
