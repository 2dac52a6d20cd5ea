"""Ranked outputs become pairwise judgements, and judgements become agreement and scores of systems."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats import trueskill as module
from analysis.stats.bradley_terry import bradley_terry
from analysis.stats.judgements import (
    SKIPPED,
    Judgements,
    collapse,
    complete_tasks,
    expand,
    rankings,
    without_inferred,
)
from analysis.stats.kappa import kappa
from analysis.stats.published_lookup import _hash, expand_as_published, outcomes_found
from analysis.stats.rank_ranges import rank_ranges
from analysis.stats.trueskill import LOOKUPS, trueskill
from analysis.stats.win_shares import head_to_head, sign_test


@pytest.fixture(autouse=True)
def plain_loop(request, monkeypatch):
    """Compiling the loop takes longer than running it for so few judgements."""
    if "slow" not in request.keywords:
        monkeypatch.setattr(module, "_one_run", module._one_run.py_func)


def ranked(*tasks):
    """Each task: judge, segment, and the outputs in the order shown, such as {"A B": 1, "C": 2}."""
    rows = [
        (number, segment, judge, system, place, rank)
        for number, (judge, segment, outputs) in enumerate(tasks)
        for place, (systems, rank) in enumerate(outputs.items())
        for system in systems.split()
    ]
    return rankings(*zip(*rows, strict=True))


def pairs(judgements):
    names = judgements.names
    columns = (judgements.first, judgements.second, judgements.outcomes)
    return [(names[a], names[b], outcome) for a, b, outcome in zip(*columns, strict=True)]


def contest(n=400, seed=1, strengths=(1.0, 0.5, 0.0, -1.5)):
    """Judgements between systems A, B, ... whose odds are known."""
    rng = np.random.default_rng(seed)
    size = len(strengths)
    first = rng.integers(size, size=n)
    second = (first + rng.integers(1, size, size=n)) % size
    odds = np.asarray(strengths)[first] - np.asarray(strengths)[second]
    outcomes = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), 1, -1)
    zeros = np.zeros(n, dtype=np.int64)
    names = np.array(list("ABCDEFGH"[:size]))
    return Judgements(names, first, second, outcomes, zeros == 1, np.arange(n), zeros, np.arange(n))


def test_a_task_becomes_all_its_pairs_in_the_order_shown():
    rows = ranked(("alice", 1, {"C": 2, "A": 1, "B": 2}))
    assert pairs(expand(rows)) == [("C", "A", -1), ("C", "B", 0), ("A", "B", 1)]


def test_systems_that_share_an_output_get_its_rank_and_an_inferred_tie():
    judgements = expand(ranked(("alice", 1, {"A B": 1, "C": 2})))
    assert pairs(judgements) == [("A", "B", 0), ("A", "C", 1), ("B", "C", 1)]
    assert judgements.is_inferred.tolist() == [True, False, False]
    assert len(without_inferred(judgements)) == 2


def test_collapsed_outputs_are_judged_once():
    rows = collapse(ranked(("alice", 1, {"C": 2, "B A": 1})))
    assert pairs(expand(rows)) == [("C", "A+B", -1)]


def test_a_skipped_output_leaves_out_its_pairs_or_its_whole_task():
    rows = ranked(("alice", 1, {"A": 1, "B": SKIPPED, "C": 2}), ("alice", 2, {"A": 1, "B": 2}))
    assert len(expand(rows)) == 2
    assert pairs(expand(complete_tasks(rows))) == [("A", "B", 1)]


@pytest.mark.parametrize(
    ("outputs", "complaint"),
    [
        ({"A": 0, "B": 1}, "at least 1"),
        ({"A A": 1}, "twice"),
    ],
)
def test_impossible_rankings_are_refused(outputs, complaint):
    with pytest.raises(ValueError, match=complaint):
        ranked(("alice", 1, outputs))


def test_systems_of_one_output_must_have_one_rank():
    with pytest.raises(ValueError, match="share an output"):
        rankings([0, 0], [1, 1], [1, 1], ["A", "B"], [0, 0], [1, 2])


def test_kappa_by_hand():
    rows = ranked(
        ("alice", 1, {"A": 1, "B": 2}),
        ("bob", 1, {"B": 2, "A": 1}),
        ("carol", 1, {"A": 2, "B": 1}),
        ("carol", 2, {"A": 1, "B": 1}),
    )
    result = kappa(expand(rows), "inter")
    # Of the pairs alice-bob, alice-carol and bob-carol on segment 1, the first agrees; 1 of 4 is a tie.
    assert (result.n_agree, result.n_comparable, result.n_ties, result.n_labels) == (1, 3, 1, 4)
    chance = 0.25**2 + 2 * 0.375**2
    assert_allclose(result.kappa, (1 / 3 - chance) / (1 - chance))
    # In the order shown, only alice and carol saw A before B on segment 1.
    published = kappa(expand(rows), "inter", counting="published")
    assert (published.n_agree, published.n_comparable) == (0, 1)


def test_a_judge_is_not_another_judge_unless_as_published():
    rows = ranked(("alice", 1, {"A": 1, "B": 2}), ("alice", 1, {"A": 1, "B": 2}))
    judgements = expand(rows)
    assert kappa(judgements, "inter").n_comparable == 0
    assert np.isnan(kappa(judgements, "inter").kappa) and not kappa(judgements, "inter").word
    assert kappa(judgements, "inter", counting="published").n_comparable == 1
    intra = kappa(judgements, "intra")
    assert (intra.kappa, intra.word) == (1.0, "almost perfect")


def test_kappa_is_near_zero_for_judges_who_guess():
    rng = np.random.default_rng(5)
    rows = [
        (judge, segment, dict(zip("ABCDE", rng.integers(1, 6, size=5).tolist(), strict=True)))
        for judge in ("alice", "bob", "carol")
        for segment in range(300)
    ]
    assert abs(kappa(expand(ranked(*rows)), "inter").kappa) < 0.03


def test_rank_ranges_leave_out_the_best_and_worst_runs():
    scores = np.tile([3.0, 2.0, 1.0, 0.0], (100, 1))
    scores[:3, :2] = [2.0, 3.0]  # the ceil(2.5) runs that are left out
    ranges = rank_ranges(scores)
    assert ranges.best.tolist() == ranges.worst.tolist() == [1, 2, 3, 4]
    assert ranges.clusters.tolist() == [1, 2, 3, 4]
    scores[:4, :2] = [2.0, 3.0]
    ranges = rank_ranges(scores)
    assert (ranges.best.tolist(), ranges.worst.tolist()) == ([1, 1, 3, 4], [2, 2, 3, 4])
    assert ranges.clusters.tolist() == [1, 1, 2, 3]


def test_trueskill_finds_the_order_and_repeats_itself():
    judgements = contest()
    result = trueskill(judgements, rng=np.random.default_rng(3), runs=20)
    assert result.systems.tolist() == list("ABCD")
    assert (np.diff(result.scores) < 0).all() and result.ranges.clusters[-1] > 1
    again = trueskill(judgements, rng=np.random.default_rng(3), runs=20)
    assert_allclose(again.mus, result.mus, rtol=0)
    assert "n:401|runs:20" in result.signature


@pytest.mark.slow
def test_the_compiled_loop_does_what_the_plain_one_does():
    pytest.importorskip("numba")
    wins, ties = contest().counts()
    played = np.maximum(wins + wins.T + ties, 1)
    arguments = wins / played, (wins + ties) / played, played > 0, 200, 2.5, 1.1
    plain, compiled = (
        loop(*arguments, np.random.default_rng(2))
        for loop in (module._one_run.py_func, module._one_run)
    )
    assert_allclose(compiled, plain, rtol=1e-12)


def test_one_step_of_trueskill_agrees_with_the_published_formulas():
    """Two equal systems: the first wins. v and w as in Herbrich et al. (2007), table 1."""
    sigma, n = module.SIGMA, 400
    beta = sigma * n / 40
    margin = stats.norm.ppf((module.DRAW + 1) / 2) * np.sqrt(2) * beta
    certain = np.array([[0.0, 1.0], [0.0, 0.0]])
    mu = module._one_run(
        certain, certain, certain + certain.T > 0, 1, beta, margin, np.random.default_rng(1)
    )
    scale = np.sqrt(2 * beta**2 + 2 * sigma**2)
    edge = margin / scale
    v = stats.norm.pdf(-edge) / stats.norm.cdf(-edge)
    assert_allclose(mu, [sigma**2 / scale * v, -(sigma**2) / scale * v], rtol=1e-12)


def test_trueskill_needs_every_system_to_be_compared():
    judgements = contest(strengths=(1.0, 0.0))
    lonely = Judgements(
        np.array(["A", "B", "C"]), *[getattr(judgements, name) for name in judgements.__slots__[1:]]
    )
    with pytest.raises(ValueError, match="every system"):
        trueskill(lonely, rng=np.random.default_rng(1), runs=2)


def test_expected_wins_by_hand():
    rows = ranked(
        ("alice", 1, {"A": 1, "B": 2, "C": 3}),
        ("bob", 1, {"A": 1, "B": 2}),
        ("bob", 2, {"A": 2, "B": 1}),
        ("bob", 3, {"B": 1, "C": 1}),
    )
    table = head_to_head(expand(rows))
    assert table.systems.tolist() == ["A", "B", "C"]
    assert_allclose(table.expected_wins, [(2 / 3 + 1) / 2, (1 / 3 + 1) / 2, 0])
    assert table.ties[1, 2] == 1 and np.isnan(np.diag(table.shares)).all()


def test_the_sign_test_agrees_with_scipy():
    wins, losses = np.array([9.0, 5.0, 0.0, 3.0]), np.array([1.0, 5.0, 4.0, 2.0])
    expected = [
        stats.binomtest(int(w), int(w + lost)).pvalue for w, lost in zip(wins, losses, strict=True)
    ]
    assert_allclose(sign_test(wins, losses), expected)
    assert np.isnan(sign_test(np.zeros(1), np.zeros(1)))[0]


def test_bradley_terry_recovers_known_odds():
    result = bradley_terry(contest(n=20_000))
    truth = np.array([1.0, 0.5, 0.0, -1.5])
    assert result.systems.tolist() == list("ABCD")
    assert_allclose(result.strengths, truth - truth.mean(), atol=3 * result.errors.max())
    assert (result.errors < 0.05).all()


def test_bradley_terry_stays_finite_if_a_system_always_wins():
    rows = ranked(*[("alice", segment, {"A": 1, "B": 2}) for segment in range(8)])
    result = bradley_terry(expand(rows))
    # By symmetry s and -s with 8 (1 - p(2s)) + 0.5 = p(s): solved by hand to three places.
    s = result.strengths[0]
    assert_allclose(8 * (1 - 1 / (1 + np.exp(-2 * s))) + 0.5, 1 / (1 + np.exp(-s)), atol=1e-8)


def test_the_published_lookup_splits_pairs_whose_hashes_collide_by_the_order_shown():
    """In a Python 2 set of eight slots A and I collide, and A comes first if it was added first; A and B do not."""
    assert _hash("a") == 12416037344  # as in any session of Python 2 on 64 bits
    assert (_hash("A") % 8, _hash("B") % 8) == (_hash("I") % 8, 3)
    judgements = expand(
        ranked(
            ("alice", 1, {"A": 1, "I": 2, "B": 3}),
            ("alice", 2, {"I": 1, "A": 2}),
            ("alice", 3, {"I": 1, "A": 1}),
            ("alice", 4, {"B": 1, "A": 2}),
        )
    )
    a, b, i = (judgements.names.tolist().index(name) for name in "ABI")
    wins, ties, losses = outcomes_found(judgements)
    # A first: only the task that showed A first. I first: the two others.
    assert (wins[a, i], ties[a, i], losses[a, i]) == (1, 0, 0)
    assert (wins[i, a], ties[i, a], losses[i, a]) == (1, 1, 0)
    # A and B are found whatever the order.
    assert (wins[a, b], losses[a, b], wins[b, a], losses[b, a]) == (1, 1, 1, 1)


def test_without_collisions_the_published_lookup_finds_everything():
    judgements = contest()
    found = outcomes_found(judgements)
    wins, ties = judgements.counts()
    for array, expected in zip(found, (wins, ties, wins.T), strict=True):
        assert_allclose(array, expected, rtol=0)
    published, ours = (
        trueskill(judgements, rng=np.random.default_rng(3), runs=2, lookup=lookup)
        for lookup in LOOKUPS
    )
    assert_allclose(published.mus, ours.mus, rtol=0)
    with pytest.raises(ValueError, match="`lookup` must be"):
        trueskill(judgements, rng=np.random.default_rng(3), runs=2, lookup="others")


def test_a_task_done_twice_at_once_is_read_as_one_task_twice_in_the_published_way():
    """Five outputs of three and of three systems: C(6,2) = 15 judgements, twice, instead of 3 and 3."""
    task = ("alice", 7, {"A": 1, "B": 2, "C": 3})
    once = ranked(task, ("alice", 8, {"A": 1, "B": 1}))
    assert len(expand_as_published(once)) == 4
    twice = expand_as_published(ranked(task, task, ("alice", 8, {"A": 1, "B": 1})))
    assert len(twice) == 1 + 2 * 15
    a, b, c = 0, 1, 2
    wins, ties = twice.counts()
    # Each of A's two ranks against each of B's, twice; and each system once against itself, twice.
    assert (wins[a, b], wins[b, c], ties[a, a]) == (8, 8, 4)
    others = [("bob", segment, {"A": 1, "B": 2}) for segment in range(4)]
    assert len(expand_as_published(ranked(task, *others, task))) == 3 + 4 + 3
