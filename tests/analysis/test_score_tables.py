"""Metrics are aligned with gold; whatever does not match is named, never dropped silently."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from analysis.scores.errors import ScoresRefused
from analysis.scores.fixes import IGNORE_EXTRA, leave_out_system
from analysis.scores.score_tables import GoldTable, ScoreTable, align

KEYS = (("a", "1"), ("b", "1"), ("a", "2"), ("b", "2"))


def gold(scores=(1.0, 2.0, np.nan, 4.0), keys=KEYS, **fields):
    defaults = {"name": "gold", "kind": "da", "level": "segment", "higher_is_better": True}
    return GoldTable(keys=keys, scores=np.array(scores, dtype=float), **defaults | fields)


def metric(scores=(10.0, 20.0, 30.0, 40.0), keys=KEYS, **fields):
    defaults = {"name": "M", "level": "segment", "higher_is_better": True, "sha256": "0" * 64}
    return ScoreTable(keys=keys, scores=np.array(scores, dtype=float), **defaults | fields)


def refusal(*tables, against_gold=None, **options):
    with pytest.raises(ScoresRefused) as refused:
        align(tables, against_gold or gold(), **options)
    return str(refused.value)


def test_rows_are_in_the_order_of_the_gold():
    rows = align([metric((40, 30, 20, 10), KEYS[::-1])], gold())
    assert_array_equal(rows.scores, [[10, 20, 40]])
    assert_array_equal(rows.gold, [1, 2, 4])
    assert rows.keys == (("a", "1"), ("b", "1"), ("b", "2"))
    assert rows.n_without_gold == 1


def test_systems_and_segments_are_numbered_in_order_of_appearance():
    rows = align([metric()], gold(documents=("x", "x", "y", "y"), origins=("o",) * 4))
    assert_array_equal(rows.systems, [0, 1, 1])
    assert_array_equal(rows.segments, [0, 0, 1])
    assert rows.documents == ("x", "x", "y") and rows.origins == ("o", "o", "o")


def test_scores_keep_their_sign():
    rows = align([metric(higher_is_better=False)], gold())
    assert rows.higher_is_better == (False,) and rows.scores[0, 0] == 10


EXTRA = metric((1,) * 5, (*KEYS, ("a", "3")))
SYSTEM_SCORES = metric((1, 2), (("a", ""), ("b", "")), level="system")


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        # Its gold is missing, too.
        ([metric((1, 2, 4), KEYS[:2] + KEYS[3:])], "M: has no score for segment 2 by a"),
        ([EXTRA], "M: has a score for segment 3 by a"),
        ([metric((1,) * 5, (*KEYS, KEYS[3]))], "M: has 2 scores for segment 2 by b"),
        ([metric(higher_is_better=None)], "needs a confirmed direction"),
        ([SYSTEM_SCORES], "M: has system scores, but gold is at segment level"),
        ([metric(), metric()], "2 metrics are named 'M'"),
        ([], "no metric"),
    ],
)
def test_scores_that_do_not_match_the_gold_are_refused(tables, reason):
    assert reason in refusal(*tables)


def test_extra_scores_can_be_ignored_and_are_counted():
    rows = align([EXTRA], gold(), ignore_extra=True)
    assert rows.n_ignored == 1 and rows.scores.shape == (1, 3)


def test_doubled_gold_is_named():
    doubled = gold((1, 2, 3, 4, 5), (*KEYS, KEYS[0]))
    assert "gold: has 2 gold scores for segment 1 by a" in refusal(metric(), against_gold=doubled)


def test_a_system_can_be_left_out_of_metrics_and_gold():
    rows = align([metric()], gold(), without_systems=["b"])
    assert rows.keys == (("a", "1"),) and rows.n_ignored == 2


def test_a_system_without_gold_can_be_left_out():
    rows = align([metric((1,) * 5, (*KEYS, ("ref", "1")))], gold(), without_systems=["ref"])
    assert rows.n_ignored == 1


def test_a_misspelt_system_to_leave_out_is_refused():
    assert "no system 'B'" in refusal(metric(), without_systems=["B"])


def test_every_problem_of_every_metric_is_reported():
    message = refusal(metric((1, 2), KEYS[:2]), metric((1, 2), KEYS[2:], name="N"))
    assert "2 problems" in message
    assert "M: has no score for 2 rows (the first: segment 2 by a)" in message
    assert "N: has no score for 2 rows (the first: segment 1 by a)" in message


def test_metrics_that_lack_the_same_rows_are_one_problem():
    tables = [metric((1, 2), KEYS[:2], name=name) for name in "MNOPQ"] + [metric(name="R")]
    assert "M, N, O and 2 more: have no score for 2 rows" in refusal(*tables)


def test_a_system_that_the_gold_lacks_is_one_problem_with_its_fix():
    keys = (*KEYS, ("synthetic_ref", "1"), ("synthetic_ref", "2"), ("a", "9"))
    tables = [metric((1, 2, 3, 4, 5, 6, 7), keys, name=name) for name in "MN"]
    with pytest.raises(ScoresRefused) as refused:
        align(tables, gold())
    system, row = refused.value.problems
    assert str(system) == "system synthetic_ref is not in the gold, but has 4 scores by M and N"
    assert system.fix == leave_out_system("synthetic_ref")
    assert "M and N: have scores for segment 9 by a" in str(row)
    assert row.fix == IGNORE_EXTRA


def test_a_system_that_no_metric_scored_is_one_problem_with_its_fix():
    with pytest.raises(ScoresRefused) as refused:
        align([metric((1, 3), KEYS[::2], name=name) for name in "MN"], gold())
    [problem] = refused.value.problems
    assert str(problem) == "system b has 2 rows of gold, but no metric has scores for it"
    assert problem.fix == leave_out_system("b")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_metric_scores_must_be_finite(bad):
    with pytest.raises(ValueError, match="`scores` must be finite"):
        metric((1, 2, 3, bad))


def test_gold_may_lack_a_score_but_not_be_infinite():
    with pytest.raises(ValueError, match="finite or NaN"):
        gold((1, 2, 3, np.inf))


def test_columns_must_have_the_same_length():
    with pytest.raises(ValueError, match="per key"):
        metric((1, 2))
    with pytest.raises(ValueError, match="must match `keys`"):
        gold(documents=("x",))


@given(st.permutations(range(len(KEYS))))
def test_the_order_of_a_file_does_not_matter(order):
    shuffled = metric([10.0 * (place + 1) for place in order], [KEYS[place] for place in order])
    assert_array_equal(align([shuffled], gold()).scores, align([metric()], gold()).scores)
