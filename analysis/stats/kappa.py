"""How far judges agree with each other and with themselves: kappa over pairwise judgements."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy

from ._groups import factorise
from ._validation import Bools, Ints, Keys
from .judgements import Judgements
from .signature import signature

Between = Literal["inter", "intra"]
Counting = Literal["strict", "published"]
COUNTINGS: tuple[Counting, ...] = get_args(Counting)

# Upper ends of Landis and Koch's ranges, and their words.
LANDIS_KOCH = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance; NaN without comparable judgements.

    Attributes
    ----------
    kappa, p_agree, p_chance : float
    n_agree, n_comparable : int
        Pairs of judgements on the same two outputs: identical, and all.
    n_ties, n_labels : int
        Ties, and judgements in all, behind the agreement expected by chance.
    signature : str
    """

    kappa: float
    p_agree: float
    p_chance: float
    n_agree: int
    n_comparable: int
    n_ties: int
    n_labels: int
    signature: str

    @property
    def word(self) -> str:
        """Landis and Koch's word for it, empty without a kappa."""
        if np.isnan(self.kappa):
            return ""
        if self.kappa < 0:
            return "poor"
        words = (word for end, word in LANDIS_KOCH if self.kappa <= end)
        return next(words, "almost perfect")


def kappa(judgements: Judgements, between: Between, *, counting: Counting = "strict") -> Kappa:
    """Return the agreement between judges ("inter") or of judges with themselves ("intra").

    Parameters
    ----------
    judgements : Judgements
        Of the outputs shown: `expand(collapse(rows))`.
    between : {"inter", "intra"}
    counting : {"strict", "published"}
        "strict" compares judgements of the same two outputs in any order, between different judges for
        "inter". "published" does as WMT: outputs count as the same pair only in the same order, "inter"
        also compares judgements of one judge, and chance agreement for "intra" comes from all judgements
        of a judge on a segment on which that judge repeated some pair.

    Returns
    -------
    Kappa

    References
    ----------
    .. [1] Landis and Koch. The measurement of observer agreement for categorical data. Biometrics 33(1), 1977.
    .. [2] Bojar et al. Findings of the 2015 Workshop on Statistical Machine Translation. Section 3.2.
    """
    if counting not in COUNTINGS:
        raise ValueError(f"`counting` must be one of {', '.join(COUNTINGS)}")
    items, outcomes = _items(judgements, in_any_order=counting == "strict")
    _, judges = factorise(judgements.judges)
    own_items = items * (judges.max(initial=0) + 1) + judges
    n_agree, n_comparable = _comparisons(own_items, outcomes)
    if between == "inter":
        all_agree, all_comparable = _comparisons(items, outcomes)
        if counting == "published":
            n_agree, n_comparable = all_agree, all_comparable
        else:
            n_agree, n_comparable = all_agree - n_agree, all_comparable - n_comparable
        counted = np.ones(len(judgements), dtype=np.bool_)
    else:
        counted = _is_repeated(own_items)
        if counting == "published":
            _, segments = factorise(judgements.segments)
            counted = _groups_with(counted, segments * (judges.max(initial=0) + 1) + judges)
    n_labels = int(counted.sum())
    n_ties = int((outcomes[counted] == 0).sum())
    return _kappa(n_agree, n_comparable, n_ties, n_labels, between, counting)


def kappa_with_others(judgements: Judgements, judge: object) -> Kappa:
    """Return the agreement of one judge with each of the others, counted as `kappa` does between judges."""
    everyone = kappa(judgements, "inter")
    others = kappa(judgements.where(judgements.judges != judge), "inter")
    return _kappa(
        everyone.n_agree - others.n_agree,
        everyone.n_comparable - others.n_comparable,
        everyone.n_ties,
        everyone.n_labels,
        "inter",
        "strict",
    )


def agreement_by_task(judgements: Judgements, judge: object) -> tuple[int, float]:
    """Test whether one judge agrees with the others by more than chance.

    Returns
    -------
    n_tasks : int
        The judge's tasks with pairs that others judged, too.
    pvalue : float
        One-sided t-test over tasks of the share of agreement with others, minus that expected by chance; small if the judge
        agrees. Judgements of a task are not independent, so tasks are counted. NaN with fewer than two tasks.
    """
    items, outcomes = _items(judgements, in_any_order=True)
    is_own = judgements.judges == judge
    size = items.max(initial=-1) + 1
    n_others = np.bincount(items[~is_own], minlength=size)
    n_same = np.bincount(items[~is_own] * 3 + outcomes[~is_own] + 1, minlength=3 * size)
    own, given = items[is_own], outcomes[is_own]
    is_compared = n_others[own] > 0
    own, given = own[is_compared], given[is_compared]
    shares = n_same[own * 3 + given + 1] / n_others[own]
    names, tasks = factorise(judgements.tasks[is_own][is_compared])
    if len(names) < 2:
        return len(names), np.nan
    expected = kappa(judgements, "inter").p_chance
    means = np.bincount(tasks, weights=shares) / np.bincount(tasks) - expected
    if np.ptp(means) == 0:
        return len(names), float(means[0] <= 0)
    return len(names), float(scipy.stats.ttest_1samp(means, 0, alternative="greater").pvalue)


def _items(judgements: Judgements, *, in_any_order: bool) -> tuple[Ints, Keys]:
    """Return which pair of outputs of which segment was judged, and the outcome."""
    first, second, outcomes = judgements.first, judgements.second, judgements.outcomes
    if in_any_order:
        outcomes = np.where(first <= second, outcomes, -outcomes)
        first, second = np.minimum(first, second), np.maximum(first, second)
    _, segments = factorise(judgements.segments)
    size = max(len(judgements.names), 1)
    _, items = factorise((segments * size + first) * size + second)
    return items, outcomes


def _comparisons(items: Ints, outcomes: Keys) -> tuple[int, int]:
    """Return how many pairs of judgements on the same item agree, and how many there are."""
    _, n_of_item = np.unique(items, return_counts=True)
    _, n_of_outcome = np.unique(items * 3 + outcomes + 1, return_counts=True)
    agree, comparable = (int((n * (n - 1) // 2).sum()) for n in (n_of_outcome, n_of_item))
    return agree, comparable


def _is_repeated(items: Ints) -> Bools:
    _, codes, n_of_item = np.unique(items, return_inverse=True, return_counts=True)
    return n_of_item[codes] > 1


def _groups_with(rows: Bools, groups: Ints) -> Bools:
    """Return the rows of every group in which some row is True."""
    return np.isin(groups, groups[rows])


def _kappa(
    n_agree: int,
    n_comparable: int,
    n_ties: int,
    n_labels: int,
    between: Between,
    counting: Counting,
) -> Kappa:
    p_agree = n_agree / n_comparable if n_comparable else np.nan
    p_tie = n_ties / n_labels if n_labels else np.nan
    p_chance = p_tie**2 + 2 * ((1 - p_tie) / 2) ** 2
    return Kappa(
        # If all judgements are ties, agreement is certain and kappa says nothing.
        kappa=(p_agree - p_chance) / (1 - p_chance) if p_chance < 1 else np.nan,
        p_agree=p_agree,
        p_chance=p_chance,
        n_agree=n_agree,
        n_comparable=n_comparable,
        n_ties=n_ties,
        n_labels=n_labels,
        signature=signature(kappa=between, counting=counting, chance="ties"),
    )
