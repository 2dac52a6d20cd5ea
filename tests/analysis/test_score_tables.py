"""Metrics laid beside gold: whatever does not fit is named, and nothing is intersected in silence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from analysis.scores.errors import ScoresRefused
from analysis.scores.score_tables import GoldTable, ScoreTable, align

KEYS = (("a", "1"), ("b", "1"), ("a", "2"), ("b", "2"))


def gold(scores=(1.0, 2.0, np.nan, 4.0), keys=KEYS, **fields):
    defaults = {"name": "gold", "kind": "da", "level": "segment", "higher_is_better": True}
    return GoldTable(keys=keys, scores=np.array(scores, dtype=float), **defaults | fields)


def metric(scores=(10.0, 20.0, 30.0, 40.0), keys=KEYS, **fields):
    defaults = {"name": "M", "level": "segment", "higher_is_better": True, "sha256": "0" * 64}
    return ScoreTable(keys=keys, scores=np.array(scores, dtype=float), **defaults | fields)


def refusal(*tables, beside=None, **options):
    with pytest.raises(ScoresRefused) as refused:
        align(tables, beside or gold(), **options)
    return str(refused.value)


def test_rows_follow_the_gold_whatever_the_order_of_the_file():
    found = align([metric((40, 30, 20, 10), KEYS[::-1])], gold())
    assert_array_equal(found.scores, [[10, 20, 40]])
    assert_array_equal(found.gold, [1, 2, 4])
    assert found.keys == (("a", "1"), ("b", "1"), ("b", "2"))
    assert found.n_without_gold == 1


def test_systems_and_segments_are_numbered_in_order_of_appearance():
    found = align([metric()], gold(documents=("x", "x", "y", "y"), origins=("o",) * 4))
    assert_array_equal(found.systems, [0, 1, 1])
    assert_array_equal(found.segments, [0, 0, 1])
    assert found.documents == ("x", "x", "y") and found.origins == ("o", "o", "o")


def test_scores_keep_their_sign():
    found = align([metric(higher_is_better=False)], gold())
    assert found.higher_is_better == (False,) and found.scores[0, 0] == 10


def test_a_missing_score_is_named_even_where_there_is_no_gold():
    assert "M: has no score for segment 2 by a" in refusal(metric((1, 2, 4), KEYS[:2] + KEYS[3:]))


def test_an_extra_score_is_named():
    assert "M: has a score for segment 3 by a" in refusal(metric((1,) * 5, (*KEYS, ("a", "3"))))


def test_extra_scores_can_be_ignored_and_are_counted():
    found = align([metric((1,) * 5, (*KEYS, ("a", "3")))], gold(), ignore_extra=True)
    assert found.n_ignored == 1 and found.scores.shape == (1, 3)


def test_a_doubled_score_is_named():
    assert "M: has 2 scores for segment 2 by b" in refusal(metric((1,) * 5, (*KEYS, KEYS[3])))


def test_doubled_gold_is_named():
    doubled = gold((1, 2, 3, 4, 5), (*KEYS, KEYS[0]))
    assert "gold: has 2 gold scores for segment 1 by a" in refusal(metric(), beside=doubled)


def test_an_unconfirmed_direction_is_refused():
    assert "needs a confirmed direction" in refusal(metric(higher_is_better=None))


def test_levels_must_agree():
    systems = metric((1, 2), (("a", ""), ("b", "")), level="system")
    assert "M: has system scores, but gold is at segment level" in refusal(systems)


def test_two_metrics_cannot_share_a_name():
    assert "2 metrics are named 'M'" in refusal(metric(), metric())


def test_there_must_be_a_metric():
    assert "no metric" in refusal()


def test_a_system_can_be_left_out_of_both_sides():
    found = align([metric()], gold(), without_systems=["b"])
    assert found.keys == (("a", "1"),) and found.n_ignored == 2


def test_a_left_out_system_may_be_in_the_scores_alone():
    found = align([metric((1,) * 5, (*KEYS, ("ref", "1")))], gold(), without_systems=["ref"])
    assert found.n_ignored == 1


def test_a_misspelt_system_to_leave_out_is_refused():
    assert "no system 'B'" in refusal(metric(), without_systems=["B"])


def test_every_problem_of_every_metric_is_told():
    message = refusal(metric((1, 2), KEYS[:2]), metric((1, 2), KEYS[2:], name="N"))
    assert "4 problems" in message and "M: has no" in message and "N: has no" in message


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_metric_has_finite_scores_only(bad):
    with pytest.raises(ValueError, match="`scores` must be finite"):
        metric((1, 2, 3, bad))


def test_gold_may_lack_a_score_but_not_be_infinite():
    with pytest.raises(ValueError, match="finite or NaN"):
        gold((1, 2, 3, np.inf))


def test_columns_must_be_parallel():
    with pytest.raises(ValueError, match="per key"):
        metric((1, 2))
    with pytest.raises(ValueError, match="must match `keys`"):
        gold(documents=("x",))


@given(st.permutations(range(len(KEYS))))
def test_the_order_of_a_file_makes_no_difference(order):
    shuffled = metric([10.0 * (place + 1) for place in order], [KEYS[place] for place in order])
    assert_array_equal(align([shuffled], gold()).scores, align([metric()], gold()).scores)
