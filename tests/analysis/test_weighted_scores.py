import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.stats.segments import segment_scores
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.system_covariance import SystemCovariance
from analysis.stats.weighted_scores import segment_scores_weighted, system_scores_weighted

RNG_SEED = 20
N_WORKERS, N_SEGMENTS, N_SYSTEMS = 30, 60, 4


def crowd(rng: np.random.Generator, *, segment_sd: float = 0.6, worker_sd: float = 0.0) -> dict:
    """Workers who each rate every second output, with different noise; the truth is 0 for all systems."""
    worker, segment, system = (
        part.ravel()
        for part in np.meshgrid(
            np.arange(N_WORKERS), np.arange(N_SEGMENTS), np.arange(N_SYSTEMS), indexing="ij"
        )
    )
    rated = rng.random(len(worker)) < 0.25
    worker, segment, system = worker[rated], segment[rated], system[rated]
    noise = np.exp(rng.normal(0, 0.4, N_WORKERS))
    taste = rng.normal(0, worker_sd, (N_WORKERS, N_SYSTEMS))
    score = rng.normal(0, segment_sd, N_SEGMENTS)[segment]
    score = score + taste[worker, system] + noise[worker] * rng.normal(size=len(worker))
    return {
        "z": standardise_by_worker(score, worker).z,
        "workers": worker,
        "systems": system,
        "segments": segment,
        "weights": (1 / noise**2)[worker],
    }


def test_equal_weights_give_plain_means():
    rng = np.random.default_rng(RNG_SEED)
    columns = (
        rng.integers(0, 100, 80),
        rng.normal(size=80),
        rng.integers(0, 9, 80),
        rng.integers(0, 6, 80),
    )
    plain = segment_scores(*columns, minimum=3, expected=range(8))
    weighted = segment_scores_weighted(*columns, np.full(80, 2.5), minimum=3, expected=range(8))
    for name in (
        "translations",
        "raw",
        "z",
        "raw_se",
        "z_se",
        "z_low",
        "z_high",
        "n",
        "incomplete",
    ):
        assert_allclose(getattr(weighted, name), getattr(plain, name))


def test_a_weighted_mean_by_hand():
    scores = segment_scores_weighted(
        [10, 20, 60], [0.0, 1.0, 3.0], [1, 2, 3], [7, 7, 7], [1.0, 2.0, 1.0], minimum=2
    )
    assert_allclose(scores.z, [1.25])
    assert_allclose(scores.raw, [27.5])
    # Squares (1.25^2 + (2 * .25)^2 + 1.75^2) / 16, times n / (n - 1) for n = 16 / 6.
    squares = (1.25**2 + 0.5**2 + 1.75**2) / 16
    assert_allclose(scores.z_se, [np.sqrt(squares * (16 / 6) / (16 / 6 - 1))])


def test_a_weight_of_zero_is_no_rating():
    scores = segment_scores_weighted(
        [10, 90, 50], [0.0, 9.0, 1.0], [1, 2, 3], [7, 7, 7], [1.0, 0.0, 1.0], minimum=3
    )
    assert scores.incomplete.tolist() == [7]
    assert scores.incomplete_n.tolist() == [2]


def test_fifteen_careless_ratings_do_not_complete_a_translation():
    rng = np.random.default_rng(RNG_SEED)
    columns = (rng.integers(0, 100, 30), rng.normal(size=30), np.arange(30), np.repeat([7, 8], 15))
    weights = np.repeat([0.1, 0.7], 15)
    scores = segment_scores_weighted(*columns, weights, minimum=15)
    assert scores.translations.tolist() == [8] and scores.n.tolist() == [15]
    # Fifteen times a fifth of a worker.
    assert scores.incomplete.tolist() == [7] and scores.incomplete_n.tolist() == [3]


def test_documents_of_one_segment_change_nothing_and_longer_ones_do():
    ratings = crowd(np.random.default_rng(RNG_SEED))
    plain = system_scores_weighted(**ratings)
    single, longer = (
        system_scores_weighted(**ratings, documents=ratings["segments"] // length)
        for length in (1, 5)
    )
    assert_allclose(single.by_segments, plain.by_segments)
    assert_allclose(longer.scores, plain.scores)
    assert (plain.n_segments, longer.n_segments) == (N_SEGMENTS, N_SEGMENTS // 5)
    assert longer.unit == "documents" and "var:documents,workers" in longer.signature
    assert not np.allclose(longer.by_segments, plain.by_segments)


def test_systems_on_easier_segments_do_not_gain():
    """Both systems are equally good, but one was rated mostly where every translation is good."""
    rng = np.random.default_rng(3)
    segment = np.tile(np.arange(40), 30)
    worker = np.repeat(np.arange(30), 40)
    is_easy = segment < 20
    system = (rng.random(len(segment)) < np.where(is_easy, 0.8, 0.2)).astype(int)
    score = np.where(is_easy, 1.0, -1.0) + 0.5 * rng.normal(size=len(segment))
    z = standardise_by_worker(score, worker).z
    plain = z[system == 1].mean() - z[system == 0].mean()
    scores = system_scores_weighted(z, worker, system, segment, np.ones(len(z))).scores
    assert plain > 0.8
    assert abs(scores[1] - scores[0]) < 0.1


def test_shifting_and_stretching_a_worker_changes_nothing():
    ratings = crowd(np.random.default_rng(RNG_SEED))
    before = system_scores_weighted(**ratings)
    moved = ratings["z"] + 3.0 * (ratings["workers"] == 4)
    after = system_scores_weighted(**ratings | {"z": moved})
    assert_allclose(after.scores, before.scores)
    assert_allclose(after.by_workers, before.by_workers, atol=1e-12)


def test_blocks_do_not_change_the_covariance(monkeypatch: pytest.MonkeyPatch):
    ratings = crowd(np.random.default_rng(RNG_SEED))
    whole = system_scores_weighted(**ratings)
    monkeypatch.setattr("analysis.stats._groups.BLOCK_ROWS", 17)
    in_blocks = system_scores_weighted(**ratings)
    assert_allclose(in_blocks.by_segments, whole.by_segments)
    assert_allclose(in_blocks.by_workers, whole.by_workers)


@pytest.mark.slow
@pytest.mark.parametrize("worker_sd", [0.0, 0.3])
def test_intervals_of_differences_cover_the_truth(worker_sd: float):
    """95 % intervals of the difference of two systems contain 0 in 93 to 97 % of 1,200 crowds."""
    rng = np.random.default_rng(11)
    covered = [
        is_covered(system_scores_weighted(**crowd(rng, worker_sd=worker_sd))) for _ in range(1200)
    ]
    assert 0.93 <= np.mean(covered) <= 0.97


def is_covered(scores: SystemCovariance) -> bool:
    from analysis.stats.system_covariance import reach

    se, df = scores.difference_errors()
    half = reach(df, 0.95) * se
    assert scores.scores is not None
    return bool(abs(scores.scores[0] - scores.scores[1]) <= half[0, 1])
