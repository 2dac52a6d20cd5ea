"""The points behind a worker's agreement with the others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.worker_agreement import agreement_with_others, scores_beside_others


def crowd(n_workers: int = 6, n_items: int = 40) -> dict[str, np.ndarray]:
    """Everyone rates every item in one HIT each; scores share a truth."""
    rng = np.random.default_rng(5)
    truth = rng.normal(60, 20, n_items)
    workers = np.repeat(np.arange(n_workers), n_items)
    return {
        "scores": np.tile(truth, n_workers) + rng.normal(0, 15, n_workers * n_items),
        "workers": workers,
        "assignments": workers + 100,
        "items": np.tile(np.arange(n_items), n_workers),
        "is_trusted": workers != 1,
    }


@pytest.mark.parametrize("worker", [0, 1], ids=["trusted", "untrusted"])
def test_the_points_have_the_correlation_of_the_test(worker):
    points = scores_beside_others(**crowd(), worker=worker)
    tested = agreement_with_others(**crowd())
    assert len(points.z) == tested.n_items[worker] == 40
    r = stats.pearsonr(points.z, points.others).statistic
    assert_allclose(r, tested.r[worker], rtol=1e-12)


def test_means_leave_out_the_worker_and_the_untrusted():
    rows = crowd()
    points = scores_beside_others(**rows, worker=0)
    scores = rows["scores"].reshape(6, 40)
    z = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, ddof=1, keepdims=True)
    assert_allclose(points.z, z[0])
    assert_allclose(points.others, z[2:].mean(axis=0))
    assert set(points.n_others) == {4}


def test_items_with_too_few_others_have_no_point():
    rows = {name: values[: 3 * 40] for name, values in crowd().items()}
    assert len(scores_beside_others(**rows, worker=0).z) == 0
    assert len(scores_beside_others(**rows, worker=0, fewest_others=1).z) == 40


def test_equal_scores_have_zeros():
    rows = crowd()
    rows["scores"][rows["workers"] == 0] = 50
    assert set(scores_beside_others(**rows, worker=0).z) == {0.0}
