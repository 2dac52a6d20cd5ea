import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats.worker_weights import (
    LEAST_DISCRIMINATION,
    POWER,
    PRIOR_PAIRS,
    PRIOR_REPEATS,
    UNAVOIDABLE_VARIANCE,
    WorkerWeights,
    worker_weights,
)

ALICE, BOB, STRANGER = 1, 2, 3


def weigh(drops: dict[int, list[float]], changes: dict[int, list[float]]) -> WorkerWeights:
    def columns(values: dict[int, list[float]]) -> tuple[list[float], list[int]]:
        pairs = [(value, worker) for worker, own in values.items() for value in own]
        return [value for value, _ in pairs], [worker for _, worker in pairs]

    (drop_values, drop_workers), (change_values, change_workers) = columns(drops), columns(changes)
    return worker_weights(
        [ALICE, BOB, STRANGER],
        drops=drop_values,
        drop_workers=drop_workers,
        changes=change_values,
        change_workers=change_workers,
    )


def test_weights_by_hand():
    weights = weigh({ALICE: [2.0, 1.0, 3.0], BOB: [0.0, 1.0]}, {ALICE: [0.2, -0.2], BOB: [2.0]})
    # Moments: within (2 + .5) / 3, between 3 * .6^2 + 2 * .9^2 = 2.7, sizes (5 - 13 / 5) / 1 = 2.4.
    prior = (2.5 / 3) / ((2.7 - 2.5 / 3) / 2.4)
    assert_allclose(weights.prior_pairs, prior)
    alice, bob = 3 / (3 + prior), 2 / (2 + prior)
    crowd = (alice * 2.0 + bob * 0.5) / (alice + bob)
    drop = np.array([alice * 2 + (1 - alice) * crowd, bob * 0.5 + (1 - bob) * crowd, crowd])
    assert_allclose(weights.discrimination, drop)
    alice, bob = 2 / (2 + PRIOR_REPEATS), 1 / (1 + PRIOR_REPEATS)
    crowd = (alice * 0.02 + bob * 2.0) / (alice + bob)
    variance = np.array([alice * 0.02 + (1 - alice) * crowd, bob * 2 + (1 - bob) * crowd, crowd])
    assert_allclose(weights.repeat_variance, variance)
    expected = drop**POWER / (UNAVOIDABLE_VARIANCE + variance)
    assert_allclose(weights.weights, expected / expected.mean())
    assert weights.n_pairs.tolist() == [3, 2, 0]
    assert np.isnan(weights.own_discrimination[2])


def test_someone_who_lowers_genuine_items_does_not_count():
    weights = weigh({ALICE: [1.5] * 10 + [1.0] * 10, BOB: [-1.0, -0.5] * 20}, {})
    assert weights.discrimination[1] < LEAST_DISCRIMINATION
    assert weights.weights[1] == 0
    assert weights.weights[0] > weights.weights[2] > 0


def test_everyone_weighs_the_same_if_only_one_was_seen():
    weights = weigh({ALICE: [1.0]}, {})
    assert weights.prior_pairs == PRIOR_PAIRS
    assert_allclose(weights.weights, 1)


def test_without_hidden_items_nobody_counts():
    assert weigh({}, {}).weights.tolist() == [0, 0, 0]


def test_closer_repeats_weigh_more():
    weights = weigh({}, {ALICE: [0.1] * 9, BOB: [1.5] * 9})
    assert weights.weights.tolist() == [0, 0, 0]
    weights = weigh(
        {ALICE: [1.0, 2.0], BOB: [2.0, 1.0], STRANGER: [1.0, 2.0]},
        {ALICE: [0.1] * 9, BOB: [1.5] * 9},
    )
    assert weights.weights[0] > weights.weights[2] > weights.weights[1]


def test_workers_who_are_not_asked_about_do_not_matter():
    few = weigh({ALICE: [1.0, 2.0], BOB: [0.5, 1.0]}, {})
    more = weigh({ALICE: [1.0, 2.0], BOB: [0.5, 1.0], 99: [50.0]}, {99: [9.0]})
    assert_allclose(few.weights, more.weights)


def test_workers_who_were_not_weighed_weigh_nothing():
    weights = weigh({ALICE: [1.0]}, {})
    assert weights.of(np.array([ALICE, 0, 99])).tolist() == [1.0, 0.0, 0.0]


def test_keys_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="one kind"):
        worker_weights([1, 2], drops=[1.0], drop_workers=["1"], changes=[], change_workers=[])
