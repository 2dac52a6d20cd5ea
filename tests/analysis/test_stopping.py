"""Group sequential tests: boundaries against published tables, p-values by property, decisions by hand."""

import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose

from analysis.stats.stopping import (
    SPENDING,
    Rule,
    boundaries,
    crossing_probability,
    decide,
    sequential_pvalues,
    spent,
)
from benchmarks.stopping import Plan, errors, most_errors

FIVE = (0.2, 0.4, 0.6, 0.8, 1.0)
# Half of .05 in each direction, as in the tables.
LEVEL = 0.025


def test_spending_as_obrien_and_fleming_gives_the_published_boundaries():
    # Lan and DeMets (1983); Reboussin et al., ld98, for five equal looks, two-sided .05.
    expected = [4.8769, 3.3570, 2.6803, 2.2898, 2.0310]
    assert_allclose(boundaries(FIVE, LEVEL, "obrien_fleming"), expected, atol=1e-4)


def test_spending_as_pocock_gives_the_published_boundaries():
    expected = [2.4380, 2.4268, 2.4101, 2.3966, 2.3859]
    assert_allclose(boundaries(FIVE, LEVEL, "pocock"), expected, atol=2e-4)


@pytest.mark.parametrize(
    ("n_looks", "constant"), [(2, 1.977), (3, 2.004), (4, 2.024), (5, 2.040), (10, 2.087)]
)
def test_obrien_and_flemings_own_constants_cross_with_the_level(n_looks, constant):
    # Jennison and Turnbull (2000), table 2.3: the boundary at look k is C sqrt(K / k). For five looks
    # 4.56, 3.23, 2.63, 2.28, 2.04.
    looks = np.arange(1, n_looks + 1)
    chances = crossing_probability(looks / n_looks, constant * np.sqrt(n_looks / looks))
    assert_allclose(chances.sum(), LEVEL, atol=5e-5)


@pytest.mark.parametrize(
    ("n_looks", "constant"), [(2, 2.178), (3, 2.289), (4, 2.361), (5, 2.413), (10, 2.555)]
)
def test_pococks_own_constants_cross_with_the_level(n_looks, constant):
    # Jennison and Turnbull (2000), table 2.1.
    looks = np.arange(1, n_looks + 1)
    chances = crossing_probability(looks / n_looks, np.full(n_looks, constant))
    assert_allclose(chances.sum(), LEVEL, atol=5e-5)


def test_power_agrees_with_the_published_sample_size():
    # Jennison and Turnbull (2000), table 2.2: Pocock's test of five looks needs 1.229 times the sample of
    # a single test for a power of 80 %.
    drift = np.sqrt(1.229) * (1.959964 + 0.841621)
    power = crossing_probability(FIVE, np.full(5, 2.413), drift=drift).sum()
    assert_allclose(power, 0.8, atol=1e-3)


@pytest.mark.parametrize("spending", SPENDING)
@pytest.mark.parametrize("times", [(0.05, 0.07, 0.9, 1.0), (0.31, 0.6), (0.5,)])
def test_any_looks_spend_what_may_be_spent(spending, times):
    chances = crossing_probability(times, boundaries(times, 0.01, spending))
    assert_allclose(np.cumsum(chances), spent(0.01, times, spending), rtol=1e-4)


@pytest.mark.parametrize("spending", SPENDING)
def test_everything_is_spent_in_the_end_and_one_look_is_the_plain_test(spending):
    assert_allclose(spent(0.03, 1, spending), 0.03)
    assert_allclose(boundaries((1.0,), 0.03, spending), [scipy.stats.norm.isf(0.03)])
    assert_allclose(sequential_pvalues([0.03], (1.0,), spending), 0.03)


@pytest.mark.parametrize("spending", SPENDING)
@pytest.mark.parametrize("level", [1e-6, 0.0005, 0.05, 0.4])
def test_a_score_at_its_boundary_has_the_level_as_its_p_value(spending, level):
    for look, bound in enumerate(boundaries(FIVE, level, spending)):
        if bound > 30:
            continue
        pvalues = [*[0.999] * look, scipy.stats.norm.sf(bound)]
        assert_allclose(sequential_pvalues(pvalues, FIVE[: look + 1], spending), level, rtol=1e-4)


def test_looking_again_never_takes_evidence_back():
    by_look = np.array([[0.5, 1e-9], [0.01, 0.5], [np.nan, 0.5]])
    after = [sequential_pvalues(by_look[:n], FIVE[:n]) for n in (1, 2, 3)]
    assert (np.diff(after, axis=0) <= 0).all()
    assert after[2][0] > 0.01, "earlier looks cost something"


def test_a_test_that_was_not_made_has_no_p_value():
    assert np.isnan(sequential_pvalues([np.nan, np.nan], (0.5, 1.0)))


def test_the_p_value_is_valid_whenever_one_stops():
    rng = np.random.default_rng(5)
    steps = rng.normal(size=(5, 40_000)) * np.sqrt(0.2)
    z = np.cumsum(steps, axis=0) / np.sqrt(FIVE)[:, None]
    for spending in SPENDING:
        p = sequential_pvalues(scipy.stats.norm.sf(z), FIVE, spending)
        # With 40,000 paths, the rate at .05 has a standard error of .0011.
        assert_allclose([np.mean(p <= 0.05), np.mean(p <= 0.2)], [0.05, 0.2], atol=0.006)


def _pvalues(*z):
    """p-values of three systems at looks, from the scores of 1 against 2, 1 against 3 and 2 against 3."""
    looks = []
    for first, second, third in z:
        scores = np.array(
            [[np.nan, first, second], [-first, np.nan, third], [-second, -third, np.nan]]
        )
        looks.append(scipy.stats.norm.sf(scores))
    return np.array(looks)


def test_decisions_by_hand():
    rule = Rule(5)
    decision = decide(_pvalues((5.5, 5.6, 1.2), (5.0, 6.0, 1.5)), FIVE[:2], rule)
    assert decision.is_win.tolist() == [[False, True, True], [False] * 3, [False] * 3]
    assert decision.n_undecided == 1
    assert decision.open_systems.tolist() == [False, True, True]
    # The first step of Holm's method: six tests.
    assert_allclose(decision.boundary, boundaries(FIVE[:2], 0.05 / 6, "obrien_fleming")[1])


def test_a_pair_without_a_chance_gets_no_more_ratings():
    looks = _pvalues((5.5, 5.6, 0.1), (5.0, 6.0, 0.1), (5.0, 6.0, 0.1))
    decision = decide(looks, FIVE[:3], Rule(5))
    assert decision.n_undecided == 1
    assert not decision.open_systems.any()
    assert decide(looks, FIVE[:3], Rule(5, least_chance=0)).open_systems.tolist() == [
        False,
        True,
        True,
    ]


def test_the_chance_is_that_of_reaching_the_last_boundary_as_things_stand():
    rule = Rule(2, least_chance=0.1)
    p = np.array([[[np.nan, 0.02], [0.98, np.nan]]])
    chance = decide(p, (0.5,), rule).chances[0, 1]
    z = scipy.stats.norm.isf(0.02)
    last = boundaries((0.5, 1.0), 0.05 / 2, "obrien_fleming")[1]
    rng = np.random.default_rng(1)
    ends = z * np.sqrt(0.5) + rng.normal(z / np.sqrt(0.5) * 0.5, np.sqrt(0.5), 200_000)
    assert_allclose(chance, np.mean(ends > last), atol=0.005)


def test_nothing_is_open_after_the_last_look():
    assert not decide(_pvalues((1, 1, 1), (2, 2, 2)), (0.5, 1.0), Rule(2)).open_systems.any()


def test_a_system_without_scores_stays_open():
    p = _pvalues((5, 5, 5))
    p[:, 2], p[:, :, 2] = np.nan, np.nan
    decision = decide(p, (0.5,), Rule(2))
    assert decision.is_open[2].tolist() == [True, True, False]


def test_a_system_that_is_no_longer_rated_does_not_come_back():
    p = _pvalues((0.1, 0.1, 3.0), (5, 5, 3.0))
    p[1, 0], p[1, :, 0] = np.nan, np.nan
    decision = decide(p, FIVE[:2], Rule(5))
    assert decision.open_systems.tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Rule(1), "n_looks"),
        (lambda: Rule(11), "n_looks"),
        (lambda: Rule(3, alpha=0), "alpha"),
        (lambda: Rule(3, spending="all"), "spending"),  # type: ignore[arg-type]
        (lambda: Rule(3, least_chance=1), "least_chance"),
        (lambda: boundaries((0.5, 0.5), 0.05, "pocock"), "times"),
        (lambda: boundaries((), 0.05, "pocock"), "times"),
        (lambda: sequential_pvalues([0.1], (0.5, 1.0)), "looks"),
        (lambda: sequential_pvalues([1.1], (1.0,)), "pvalues"),
    ],
)
def test_it_names_what_is_wrong(make, word):
    with pytest.raises(ValueError, match=word):
        make()


def test_the_rule_says_what_was_fixed():
    facts = Rule(4, alpha=0.01, spending="pocock").signature
    assert "looks:4|spend:pocock,alpha=0.01|undecided:holm,sequential-p,p>=0.01" in facts
    assert Rule(4).times == (0.25, 0.5, 0.75, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("spending", SPENDING)
def test_equal_systems_are_told_apart_in_at_most_5_percent_of_campaigns(spending):
    """Nothing is given up, which would only make errors rarer."""
    n = 2000
    rate = errors(Plan((0.0,) * 4, 150), Rule(5, spending=spending, least_chance=0), campaigns=n)
    assert rate <= most_errors(n)
