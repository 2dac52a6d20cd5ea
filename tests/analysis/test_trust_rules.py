"""The guarded rule: each side of the evidence speaks for a worker, against, or not yet."""

import itertools

import numpy as np
import pytest
from scipy import stats

from analysis.stats.quality_control import Verdict
from analysis.stats.thresholds import (
    AGAINST_P,
    AGREEMENT_P,
    ENOUGH_AGREEMENT_ITEMS,
    ENOUGH_PAIRS,
    FEWEST_AGREEMENT_ITEMS,
    MINIMUM_PAIRS,
    RELIABLE_P,
)
from analysis.stats.trust_rules import (
    Stance,
    guarded_verdict,
    rule_facts,
    stance_of_agreement,
    stance_of_pairs,
)


@pytest.mark.parametrize(
    ("n_pairs", "p", "expected"),
    [
        (MINIMUM_PAIRS - 1, 0.0, Stance.SILENT),
        (MINIMUM_PAIRS, 0.0, Stance.FOR),
        (10, 0.0499, Stance.FOR),
        (10, RELIABLE_P, Stance.UNDECIDED),
        (10, 0.078, Stance.UNDECIDED),
        (10, AGAINST_P, Stance.UNDECIDED),
        (10, 0.501, Stance.AGAINST),
        (ENOUGH_PAIRS - 1, RELIABLE_P, Stance.UNDECIDED),
        (ENOUGH_PAIRS, RELIABLE_P, Stance.AGAINST),
        (ENOUGH_PAIRS, 0.0499, Stance.FOR),
        (10, None, Stance.SILENT),
        (10, np.nan, Stance.SILENT),
    ],
)
def test_what_the_pairs_say(n_pairs, p, expected):
    assert stance_of_pairs(n_pairs, p) == expected


@pytest.mark.parametrize(
    ("n_items", "p", "expected"),
    [
        (FEWEST_AGREEMENT_ITEMS - 1, 0.0, Stance.SILENT),
        (FEWEST_AGREEMENT_ITEMS, 0.0, Stance.FOR),
        (70, AGREEMENT_P, Stance.UNDECIDED),
        (70, 0.6, Stance.AGAINST),
        (ENOUGH_AGREEMENT_ITEMS, 0.02, Stance.AGAINST),
        (70, None, Stance.SILENT),
    ],
)
def test_what_agreement_says(n_items, p, expected):
    assert stance_of_agreement(n_items, p) == expected


def test_every_combination_has_its_verdict():
    verdicts = {
        (pairs, agreement): guarded_verdict(pairs, agreement)
        for pairs, agreement in itertools.product(Stance, Stance)
    }
    reliable = {key for key, verdict in verdicts.items() if verdict == Verdict.RELIABLE}
    unreliable = {key for key, verdict in verdicts.items() if verdict == Verdict.UNRELIABLE}
    assert reliable == {(Stance.FOR, Stance.FOR), (Stance.FOR, Stance.SILENT)}
    assert unreliable == {key for key in verdicts if Stance.AGAINST in key}
    others = set(verdicts.values()) - {Verdict.RELIABLE, Verdict.UNRELIABLE}
    assert others == {Verdict.UNPROVEN}


def test_pairs_alone_let_few_random_scores_pass_and_tell_most_of_them_apart_at_once():
    """Of 4,000 workers with random scores, 5 % pass after ten pairs and half are found out."""
    rng = np.random.default_rng(5)
    differences = rng.integers(0, 101, (4_000, 10)) - rng.integers(0, 101, (4_000, 10))
    pvalues = stats.ttest_1samp(differences, 0, axis=1, alternative="less").pvalue
    stances = [stance_of_pairs(10, p) for p in pvalues]
    assert abs(stances.count(Stance.FOR) / 4_000 - RELIABLE_P) < 0.015
    assert abs(stances.count(Stance.AGAINST) / 4_000 - AGAINST_P) < 0.035


def test_the_signature_of_the_guarded_rule_names_its_thresholds():
    assert rule_facts("published") == {}
    assert rule_facts("guarded") == {
        "agreement": ("p<0.01", "items>=30", "others>=3", "coherence p<0.01"),
        "against": ("p>0.5", "pairs>=20", "items>=100"),
    }
