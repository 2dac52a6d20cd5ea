"""From ranked outputs to pairwise judgements: who was preferred to whom, by whom, on which segment."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import counts, factorise
from ._validation import Bools, Floats, Ints, Keys, as_flags, as_keys, check_same_length

# The rank of an output that the judge skipped.
SKIPPED = -1


@dataclass(frozen=True, slots=True)
class Rankings:
    """Ranked outputs: a row for each system behind an output on a judge's screen, in the order shown.

    Attributes
    ----------
    tasks : ndarray of int, shape (n,)
        The screen; the rows of a task need not be neighbours.
    segments, judges, systems : ndarray, shape (n,)
        Integers or names.
    outputs : ndarray of int, shape (n,)
        Which output of the task the system produced. Systems with equal outputs share one.
    ranks : ndarray of int, shape (n,)
        1 is best; `SKIPPED` where the judge gave none.
    """

    tasks: Ints
    segments: Keys
    judges: Keys
    systems: Keys
    outputs: Ints
    ranks: Ints

    def __len__(self) -> int:
        return len(self.tasks)

    def where(self, rows: Bools | Ints) -> "Rankings":
        """Return only these rows."""
        return Rankings(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Judgements:
    """Pairwise judgements.

    Attributes
    ----------
    names : ndarray, shape (k,)
        Systems, sorted.
    first, second : ndarray of int, shape (n,)
        Indices of the two systems, in the order shown.
    outcomes : ndarray of int, shape (n,)
        1 if the first is better, -1 if the second is, 0 for a tie.
    is_inferred : ndarray of bool, shape (n,)
        True for a tie between systems that share one output: nobody was asked.
    segments, judges, tasks : ndarray, shape (n,)
    """

    names: Keys
    first: Ints
    second: Ints
    outcomes: Ints
    is_inferred: Bools
    segments: Keys
    judges: Keys
    tasks: Ints

    def __len__(self) -> int:
        return len(self.first)

    def where(self, rows: Bools) -> "Judgements":
        """Return only these judgements, with the same systems."""
        columns = [getattr(self, name)[rows] for name in self.__slots__ if name != "names"]
        return Judgements(self.names, *columns)

    def counts(self) -> tuple[Floats, Floats]:
        """Return how often the row's system beat the column's, and how often they tied."""
        size = len(self.names)
        wins = np.zeros((size, size))
        ties = np.zeros((size, size))
        better = np.where(self.outcomes >= 0, self.first, self.second)
        worse = np.where(self.outcomes >= 0, self.second, self.first)
        is_tie = self.outcomes == 0
        np.add.at(wins, (better[~is_tie], worse[~is_tie]), 1)
        np.add.at(ties, (better[is_tie], worse[is_tie]), 1)
        return wins, ties + ties.T


def rankings(
    tasks: ArrayLike,
    segments: ArrayLike,
    judges: ArrayLike,
    systems: ArrayLike,
    outputs: ArrayLike,
    ranks: ArrayLike,
) -> Rankings:
    """Check and return parallel columns as `Rankings`.

    Raises
    ------
    ValueError
        If lengths differ, a rank is below 1 and not `SKIPPED`, a system appears twice in a task, or systems
        that share an output have different ranks.
    """
    columns = {
        "tasks": as_keys("tasks", tasks),
        "segments": as_keys("segments", segments),
        "judges": as_keys("judges", judges),
        "systems": as_keys("systems", systems),
        "outputs": as_keys("outputs", outputs),
        "ranks": as_keys("ranks", ranks),
    }
    check_same_length(**columns)
    given = columns["ranks"]
    if ((given < 1) & (given != SKIPPED)).any():
        raise ValueError(f"`ranks` must be at least 1, or {SKIPPED} for a skipped output.")
    _, task_codes = factorise(columns["tasks"])
    names, system_codes = factorise(columns["systems"])
    places = task_codes * max(len(names), 1) + system_codes
    if len(np.unique(places)) < len(places):
        raise ValueError("`systems` has a system twice in one task.")
    _, output_codes = factorise(columns["outputs"])
    shown = task_codes * (output_codes.max(initial=0) + 1) + output_codes
    _, first_row, output_of_row = np.unique(shown, return_index=True, return_inverse=True)
    if (given[first_row][output_of_row] != given).any():
        raise ValueError("`ranks` differ between systems that share an output.")
    return Rankings(**{**columns, "tasks": task_codes, "outputs": output_codes})


def complete_tasks(rows: Rankings) -> Rankings:
    """Leave out every task in which an output was skipped."""
    skipped = np.zeros(rows.tasks.max(initial=-1) + 1, dtype=np.bool_)
    skipped[rows.tasks[rows.ranks == SKIPPED]] = True
    return rows.where(~skipped[rows.tasks])


def collapse(rows: Rankings) -> Rankings:
    """Return a row for each output shown; systems that share one are joined to a name such as `A+B`."""
    _, groups = np.unique(
        rows.tasks * (rows.outputs.max(initial=0) + 1) + rows.outputs, return_inverse=True
    )
    order = np.lexsort((rows.systems, groups))
    sorted_groups = groups[order]
    starts = np.flatnonzero(np.diff(sorted_groups, prepend=-1))
    names = np.array(
        ["+".join(map(str, part)) for part in np.split(rows.systems[order], starts[1:])],
        dtype=np.str_,
    )
    first_rows = np.full(len(starts), len(rows))
    np.minimum.at(first_rows, sorted_groups, order)
    in_order = np.argsort(first_rows)
    kept = rows.where(first_rows[in_order])
    return Rankings(
        kept.tasks, kept.segments, kept.judges, names[in_order], kept.outputs, kept.ranks
    )


def expand(rows: Rankings) -> Judgements:
    """Turn every task of n outputs into n(n-1)/2 pairwise judgements, in the order shown.

    Parameters
    ----------
    rows : Rankings
        A pair counts if both of its outputs have a rank. Pass `complete_tasks(rows)` to leave out
        whole tasks with a skipped output, and `collapse(rows)` for a judgement for each pair of outputs
        instead of systems.

    Returns
    -------
    Judgements

    References
    ----------
    .. [1] Bojar et al. Findings of the 2015 Workshop on Statistical Machine Translation. Section 3.
    """
    names, systems = factorise(rows.systems)
    first, second = _pairs_within(rows.tasks)
    ranked = (rows.ranks[first] != SKIPPED) & (rows.ranks[second] != SKIPPED)
    first, second = first[ranked], second[ranked]
    return Judgements(
        names=names,
        first=systems[first],
        second=systems[second],
        outcomes=np.sign(rows.ranks[second] - rows.ranks[first]).astype(np.int64),
        is_inferred=rows.outputs[first] == rows.outputs[second],
        segments=rows.segments[first],
        judges=rows.judges[first],
        tasks=rows.tasks[first],
    )


def _pairs_within(tasks: Ints) -> tuple[Ints, Ints]:
    """Return the rows of all pairs within a task, in order of the tasks and of their rows."""
    order = np.argsort(tasks, kind="stable")
    n_tasks = int(tasks.max(initial=-1)) + 1
    sizes = counts(tasks, n_tasks)
    starts = np.cumsum(sizes) - sizes
    parts = [np.empty((2, 0), dtype=np.int64)]
    for size in np.unique(sizes[sizes > 1]).tolist():
        upper = np.stack(np.triu_indices(size, 1))
        places = starts[sizes == size][None, :, None] + upper[:, None, :]
        parts.append(order[places].reshape(2, -1))
    first, second = np.concatenate(parts, axis=1)
    in_order = np.lexsort((second, first, tasks[first]))
    return first[in_order], second[in_order]


def judgements_by(judgements: Judgements, judges: ArrayLike) -> Judgements:
    """Return the judgements of these judges."""
    return judgements.where(np.isin(judgements.judges, as_keys("judges", judges)))


def without_inferred(judgements: Judgements) -> Judgements:
    """Leave out the ties between systems that share an output."""
    return judgements.where(as_flags("is_inferred", ~judgements.is_inferred))


def preferences(judgements: Judgements) -> tuple[Ints, Ints, Ints]:
    """Return the preferred system, the other one and the row of each judgement that is no tie, systems by index."""
    rows = np.flatnonzero(judgements.outcomes)
    first_wins = judgements.outcomes[rows] > 0
    first, second = judgements.first[rows], judgements.second[rows]
    better = np.where(first_wins, first, second)
    worse = np.where(first_wins, second, first)
    return better, worse, rows
