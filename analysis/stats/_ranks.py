"""Ranks with ties, and how often each score is concordant with the others."""

from dataclasses import dataclass

import numpy as np

from ._groups import lengths_of_runs, starts_of_runs
from ._validation import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Scores as whole numbers in their order: equal scores have equal numbers.

    `numbers` run from 0 without gaps, `sizes[k]` scores have the number k.
    """

    numbers: Ints
    sizes: Ints

    @classmethod
    def of(cls, scores: Floats) -> "Ranks":
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        starts = starts_of_runs(ordered)
        sizes = lengths_of_runs(starts, len(scores))
        numbers = np.empty(len(scores), dtype=np.int64)
        numbers[order] = np.repeat(np.arange(len(sizes)), sizes)
        return cls(numbers, sizes)

    @property
    def n_tied(self) -> Ints:
        """The number of other scores that equal each score."""
        return (self.sizes - 1)[self.numbers]

    @property
    def n_untied(self) -> Ints:
        """The number of scores that differ from each score."""
        return (len(self.numbers) - self.sizes)[self.numbers]

    @property
    def middle(self) -> Floats:
        """The average rank of equal scores, from 1, as Spearman's coefficient uses it."""
        last = np.cumsum(self.sizes)
        return (last - (self.sizes - 1) / 2)[self.numbers]

    def sums_above(self, values: Floats) -> Floats:
        """Return for each score the sum of the values of all higher scores, and half that of equal ones."""
        sums = np.bincount(self.numbers, weights=values, minlength=len(self.sizes))
        return (sums.sum() - np.cumsum(sums) + sums / 2)[self.numbers]


def concordances(x: Ranks, y: Ranks) -> Ints:
    """Return for each row the number of concordant minus that of discordant other rows.

    Half their sum is the numerator of Kendall's tau.
    """
    n, n_numbers = len(x.numbers), len(y.sizes)
    # By x; where x ties, the higher y first, so that a tied row is never "before and lower".
    order = np.argsort(x.numbers * n_numbers + (n_numbers - 1 - y.numbers), kind="stable")
    ordered = y.numbers[order]
    lower_before, equal_before = _before(ordered)
    higher_before = np.arange(n) - lower_before - equal_before
    n_higher = (n - np.cumsum(y.sizes))[ordered]
    concordant = np.empty(n, dtype=np.int64)
    concordant[order] = lower_before + n_higher - higher_before
    # Rows that tie in both stand side by side in this order.
    sizes = lengths_of_runs(starts_of_runs(x.numbers[order], ordered), n)
    tied_in_both = np.empty(n, dtype=np.int64)
    tied_in_both[order] = np.repeat(sizes - 1, sizes)
    n_tied = x.n_tied + y.n_tied - tied_in_both
    discordant = n - 1 - n_tied - concordant
    return concordant - discordant


def kendall_b(x: Ranks, y: Ranks) -> tuple[float, Ints]:
    """Return tau-b of two rankings that are not constant, and its `concordances`."""
    counts = concordances(x, y)
    tau = counts.sum() / np.sqrt(x.n_untied.sum()) / np.sqrt(y.n_untied.sum())
    return float(np.clip(tau, -1, 1)), counts


def _before(values: Ints) -> tuple[Ints, Ints]:
    """Return for each value how many of those before it are lower, and how many are equal.

    Values are sorted bit by bit from the highest, keeping the order of equals. Among values that agree in all
    higher bits, one with this bit set is above every one without: those before it are counted by a running
    sum. That takes n log n steps, all of them whole-array operations.
    """
    n = len(values)
    lower = np.zeros(n, dtype=np.int64)
    places, index = np.arange(n), np.arange(n)
    for bit in reversed(range(int(values.max()).bit_length())):
        prefix = values >> bit
        starts = np.concatenate([[0], np.cumsum(np.bincount(prefix))])
        is_set = (prefix & 1).astype(bool)
        first = starts[prefix & ~1]
        n_unset = np.concatenate([[0], np.cumsum(~is_set)])
        unset_before = n_unset[index] - n_unset[first]
        lower[places[is_set]] += unset_before[is_set]
        target = np.where(
            is_set, starts[prefix] + index - first - unset_before, first + unset_before
        )
        values, places = _moved(values, target), _moved(places, target)
    starts = np.concatenate([[0], np.cumsum(np.bincount(values))])
    equal = np.empty(n, dtype=np.int64)
    equal[places] = index - starts[values]
    return lower, equal


def _moved(values: Ints, target: Ints) -> Ints:
    moved = np.empty_like(values)
    moved[target] = values
    return moved
