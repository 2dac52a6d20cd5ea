"""Expected wins of systems, and systems head to head, from pairwise judgements."""

from dataclasses import dataclass

import numpy as np
import scipy

from ._groups import divide
from ._validation import Floats, Ints, Keys
from .judgements import Judgements
from .signature import signature

# Significance levels of the head-to-head table: one mark, two, three (WMT's star, dagger, double dagger).
SIGN_TEST_LEVELS = (0.10, 0.05, 0.01)


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """Systems compared pair by pair.

    Attributes
    ----------
    systems : ndarray, shape (k,)
        Sorted by expected wins, best first.
    expected_wins : ndarray, shape (k,)
        Mean over opponents of wins / (wins + losses); NaN without any.
    wins, ties : ndarray, shape (k, k)
        How often the row's system beat the column's, and how often they tied.
    shares : ndarray, shape (k, k)
        The share of the row's wins without ties; NaN if there are none, and on the diagonal.
    pvalues : ndarray, shape (k, k)
        Two-sided sign test that wins and losses are equally likely; symmetric.
    signature : str
    """

    systems: Keys
    expected_wins: Floats
    wins: Floats
    ties: Floats
    shares: Floats
    pvalues: Floats
    signature: str

    @property
    def marks(self) -> Ints:
        """The number of levels of `SIGN_TEST_LEVELS` that each p-value is at or below."""
        reached = [self.pvalues <= level for level in SIGN_TEST_LEVELS]
        return np.sum(reached, axis=0, dtype=np.int64)


def head_to_head(judgements: Judgements) -> HeadToHead:
    """Count wins between systems and test their difference.

    Parameters
    ----------
    judgements : Judgements
        Ties do not count in shares and tests.

    Returns
    -------
    HeadToHead

    References
    ----------
    .. [1] Bojar et al. Findings of the 2013 Workshop on Statistical Machine Translation. Section 3.
    .. [2] Koehn. Simulating human judgment in machine translation evaluation campaigns. IWSLT 2012.
    """
    wins, ties = judgements.counts()
    decided = wins + wins.T
    shares = divide(wins, decided)
    with_opponent = ~np.isnan(shares)
    expected = divide(np.where(with_opponent, shares, 0).sum(axis=1), with_opponent.sum(axis=1))
    order = np.argsort(-np.nan_to_num(expected, nan=-1), kind="stable")
    grid = np.ix_(order, order)
    return HeadToHead(
        systems=judgements.names[order],
        expected_wins=expected[order],
        wins=wins[grid],
        ties=ties[grid],
        shares=shares[grid],
        pvalues=sign_test(wins, wins.T)[grid],
        signature=signature(ranking="expected-wins", ties="left-out", test="sign,two-sided"),
    )


def sign_test(wins: Floats, losses: Floats) -> Floats:
    """Return the exact two-sided p-value of each count of wins against losses; NaN if both are 0."""
    n = wins + losses
    # P(X >= larger) for X ~ Binomial(n, 1/2) is the regularised incomplete beta function at 1/2.
    larger = np.maximum(wins, losses)
    tail = scipy.special.betainc(np.maximum(larger, 1), n - larger + 1, 0.5)
    return np.where(n > 0, np.minimum(2 * tail, 1.0), np.nan)
