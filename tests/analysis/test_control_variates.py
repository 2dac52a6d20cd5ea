"""System scores for all segments, where only some were rated and a metric is known for all."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats.control_variates import Outputs, ScoresForAll, scores_for_all_segments
from analysis.stats.system_covariance import SystemCovariance, reach, system_covariance

TRUTH = np.array([0.0, 0.0, 0.1, 0.2])
N_SEGMENTS, N_WORKERS, N_RATINGS = 300, 40, 3
N_SYSTEMS = len(TRUTH)


def estimate(rng: np.random.Generator, **columns) -> ScoresForAll:
    """One rating a translation by a worker of its own, unless `columns` say otherwise."""
    outputs = columns.pop("outputs")
    n = len(columns["z"])
    defaults = {"workers": np.arange(n), "is_scored": np.ones(n, dtype=bool)}
    return scores_for_all_segments(**defaults | columns, outputs=outputs, rng=rng)


def partly_rated(rng: np.random.Generator, *, r=0.6, n_rated=80, chances=None, taste=0.1):
    """A crowd that rates about `n_rated` outputs of each system, and a metric that agrees with the truth at r."""
    quality = TRUTH + rng.normal(0, 0.3, (N_SEGMENTS, 1))
    quality = quality + rng.normal(0, 0.4, (N_SEGMENTS, N_SYSTEMS))
    metric = r * quality / 0.5 + np.sqrt(1 - r * r) * rng.normal(size=quality.shape)
    if chances is None:
        is_rated = np.zeros(quality.size, dtype=bool)
        is_rated[rng.permutation(quality.size)[: n_rated * N_SYSTEMS]] = True
    else:
        is_rated = rng.random(quality.size) < chances
    rated = np.repeat(np.flatnonzero(is_rated), N_RATINGS)
    workers = np.array([rng.permutation(N_WORKERS)[:N_RATINGS] for _ in range(is_rated.sum())])
    workers = workers.ravel()
    tastes = rng.normal(0, taste, (N_WORKERS, N_SYSTEMS))
    z = quality.ravel()[rated] + tastes[workers, rated % N_SYSTEMS]
    z = z + rng.normal(0, 0.8, len(rated))
    every = np.arange(quality.size)
    return {
        "z": z,
        "workers": workers,
        "translations": rated,
        "segments": rated // N_SYSTEMS,
        "outputs": Outputs(
            every, every % N_SYSTEMS, every // N_SYSTEMS, is_rated, metric.ravel(), chances
        ),
    }


def test_without_a_metric_and_with_equal_chances_they_are_plain_means():
    rng = np.random.default_rng(3)
    columns = partly_rated(rng)
    outputs = columns["outputs"]
    rated = np.flatnonzero(outputs.is_rated)
    plain = system_covariance(
        *(columns[name] for name in ("z", "workers", "translations", "segments")),
        np.ones(len(columns["z"]), dtype=bool),
        produced=rated,
        systems=rated % N_SYSTEMS,
    )
    bare = Outputs(outputs.translations, outputs.systems, outputs.segments, outputs.is_rated)
    for_all = estimate(rng, **columns | {"outputs": bare})
    means = [
        np.mean([columns["z"][columns["translations"] == t].mean() for t in rated[rated % 4 == s]])
        for s in range(N_SYSTEMS)
    ]
    assert_allclose(for_all.covariance.scores, means)
    assert_allclose(for_all.covariance.by_segments, plain.by_segments, rtol=0.02, atol=1e-5)
    assert (for_all.slope, for_all.gain) == (0, 1) and np.isnan(for_all.r)


def test_by_hand_with_a_perfect_metric():
    # The metric is the score. In the other folds a single output is rated, which has no slope: no correction.
    quality = np.array([1.0, 2.0, 5.0, 8.0])
    every = np.arange(4)
    outputs = Outputs(every, np.zeros(4, int), every, every < 2, 10 * quality)
    columns = {"z": quality[:2], "translations": every[:2], "segments": every[:2]}
    few = estimate(np.random.default_rng(0), **columns, outputs=outputs)
    assert_allclose(few.covariance.scores, [1.5])
    # Of 40 segments, every fold learns the slope of 0.1 from the others.
    quality = np.random.default_rng(1).normal(size=40)
    every = np.arange(40)
    outputs = Outputs(every, np.zeros(40, int), every, every < 20, 10 * quality)
    columns = {"z": quality[:20], "translations": every[:20], "segments": every[:20]}
    many = estimate(np.random.default_rng(0), **columns, outputs=outputs)
    assert many.slope == pytest.approx(0.1) and many.r == pytest.approx(1)
    fold_of = np.random.default_rng(0).permutation(40) % 5
    expected = sum(
        (fold_of[:20] == fold).mean() * quality[fold_of == fold].mean() for fold in range(5)
    )
    assert_allclose(many.covariance.scores, [expected])


def test_it_is_exactly_unbiased_over_all_samples():
    # Every way to rate five of nine outputs, with a metric that is neither linear nor harmless.
    rng = np.random.default_rng(5)
    quality, metric = rng.normal(size=9), rng.lognormal(0, 1, 9)
    every = np.arange(9)
    scores, slopes = [], []
    for rated in map(np.array, combinations(range(9), 5)):
        outputs = Outputs(every, np.zeros(9, int), every, np.isin(every, rated), metric)
        columns = {"z": quality[rated], "translations": rated, "segments": rated}
        found = estimate(np.random.default_rng(1), **columns, outputs=outputs)
        scores.append(found.covariance.scores[0])
        slopes.append(found.slope)
    assert np.std(slopes) > 0.1
    assert_allclose(np.mean(scores), quality.mean(), rtol=1e-12)


def test_the_unit_and_direction_of_the_metric_do_not_matter():
    columns = partly_rated(np.random.default_rng(2))
    outputs = columns.pop("outputs")
    turned = Outputs(
        outputs.translations,
        outputs.systems,
        outputs.segments,
        outputs.is_rated,
        7 - 100 * outputs.metric,
    )
    first, second = (
        estimate(np.random.default_rng(0), **columns, outputs=each) for each in (outputs, turned)
    )
    assert_allclose(first.covariance.scores, second.covariance.scores)
    assert_allclose(first.covariance.by_segments, second.covariance.by_segments)
    assert second.slope == pytest.approx(-first.slope / 100)


def test_a_constant_metric_changes_nothing():
    columns = partly_rated(np.random.default_rng(2))
    outputs = columns.pop("outputs")
    constant = Outputs(
        outputs.translations,
        outputs.systems,
        outputs.segments,
        outputs.is_rated,
        np.full(N_SEGMENTS * N_SYSTEMS, 0.3),
    )
    found = estimate(np.random.default_rng(0), **columns, outputs=constant)
    assert_allclose(found.covariance.scores, found.plain.scores)
    assert found.slope == 0 and np.isnan(found.r) and found.gain == pytest.approx(1)


def test_a_system_without_ratings_has_no_score_and_a_shared_text_counts_for_both():
    texts = np.array([0, 0, 1, 2, 3, 4])
    outputs = Outputs(
        texts, ["a", "b", "a", "b", "a", "c"], [0, 0, 1, 1, 2, 2], texts < 3, np.arange(6.0)
    )
    found = estimate(
        np.random.default_rng(0),
        z=[1.0, 2.0, 4.0],
        translations=[0, 1, 2],
        segments=[0, 1, 1],
        outputs=outputs,
    )
    assert found.plain.systems.tolist() == ["a", "b"]
    assert_allclose(found.plain.scores, [1.5, 2.5])
    assert (found.n_rated, found.n_outputs) == (4, 5)


def test_chances_of_zero_and_a_single_fold_are_refused():
    outputs = Outputs([0, 1], ["a", "a"], [0, 1], [True, False], [1.0, 2.0], [0.0, 0.5])
    columns = {"z": [1.0], "translations": [0], "segments": [0], "outputs": outputs}
    with pytest.raises(ValueError, match="chances"):
        estimate(np.random.default_rng(0), **columns)
    with pytest.raises(ValueError, match="n_folds"):
        estimate(np.random.default_rng(0), **columns, n_folds=1)


def simulate(n_campaigns: int, **crowd) -> dict[str, np.ndarray]:
    """Return bias, its standard error, coverage, and variance without and with the metric."""
    errors = {"plain": [], "covariance": []}
    covers = {"plain": [], "covariance": []}
    upper = np.triu_indices(N_SYSTEMS, 1)
    gains = []
    for seed in range(n_campaigns):
        rng = np.random.default_rng(seed)
        for_all = estimate(rng, **partly_rated(rng, **crowd))
        gains.append(for_all.gain)
        for name in errors:
            covariance: SystemCovariance = getattr(for_all, name)
            error = covariance.scores - TRUTH
            difference = (error[:, None] - error)[upper]
            se, df = (part[upper] for part in covariance.difference_errors())
            own_se, own_df = covariance.score_errors()
            errors[name].append(np.append(error, difference))
            covers[name].append(
                [
                    np.mean(np.abs(difference) <= reach(df, 0.95) * se),
                    np.mean(np.abs(error) <= reach(own_df, 0.95) * own_se),
                ]
            )
    helped = np.array(errors["covariance"])
    return {
        "bias": helped.mean(axis=0),
        "se": helped.std(axis=0) / np.sqrt(n_campaigns),
        "covers": np.mean(covers["covariance"], axis=0),
        "gain": np.array(errors["plain"])[:, N_SYSTEMS:].var() / helped[:, N_SYSTEMS:].var(),
        "promised": np.mean(gains),
    }


UNEVEN = np.repeat(np.clip(np.linspace(0.1, 0.45, N_SEGMENTS), 0.1, 1), N_SYSTEMS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "crowd",
    [
        {"r": 0.6},
        {"r": 0.9},
        {"r": 0.0},
        {"n_rated": 30},
        {"chances": UNEVEN},
        {"chances": UNEVEN, "r": 0.9},
        {"taste": 0.3},
    ],
    ids=str,
)
def test_it_is_unbiased_and_its_intervals_hold(crowd):
    found = simulate(600, **crowd)
    assert (np.abs(found["bias"]) < 4 * found["se"]).all()
    assert (found["covers"] > 0.93).all() and (found["covers"] < 0.97).all(), found
    assert found["gain"] == pytest.approx(found["promised"], rel=0.15)


def test_a_good_metric_makes_differences_surer_by_as_much_as_promised():
    found = simulate(60, r=0.9)
    assert found["promised"] > 1.3
    assert found["gain"] > 1.15


def test_workers_still_count():
    # With strong tastes and few workers, more segments do not help, and neither does a metric.
    rng = np.random.default_rng(4)
    weak, strong = (estimate(rng, **partly_rated(rng, taste=taste)) for taste in (0, 0.5))
    assert strong.covariance.by_workers.trace() > 5 * abs(weak.covariance.by_workers.trace())
    assert strong.covariance.has_workers
