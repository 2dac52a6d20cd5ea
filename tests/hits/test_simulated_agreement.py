import numpy as np
import pytest

from analysis.stats.roles import Role
from hits.campaigns.simulation import (
    HONEST_NOISE_SD,
    SINGLE_RATING_AGREEMENT,
    Behaviour,
    SimulatedWorker,
    honest_noise_sd,
    simulate_workers,
    true_qualities,
)
from hits.models import Rating
from tests.factories import make_hits

SHAPES = {
    "spread evenly": np.linspace(20, 90, 300),
    "normal": np.random.default_rng(1).normal(55, 18, 300),
    "many near the top": np.minimum(100, np.random.default_rng(2).normal(85, 20, 300)),
    "two kinds": np.repeat([30.0, 75.0], 150),
}


def scores_of(n_workers: int, qualities: np.ndarray, role: Role = Role.GENUINE) -> np.ndarray:
    noise_sd = honest_noise_sd(qualities)
    workers = [
        SimulatedWorker(Behaviour.HONEST, np.random.default_rng([3, i]), noise_sd)
        for i in range(n_workers)
    ]
    return np.array(
        [[person.score(role, i, q) for i, q in enumerate(qualities)] for person in workers]
    )


def mean_r(scores: np.ndarray) -> float:
    matrix = np.corrcoef(scores)
    return float(matrix[np.triu_indices(len(matrix), 1)].mean())


@pytest.mark.parametrize("shape", SHAPES)
def test_honest_ratings_agree_at_the_published_level_for_any_true_qualities(shape):
    # 780 pairs of workers over 300 translations: the mean r has a standard error below 0.01.
    r = mean_r(scores_of(40, SHAPES[shape]))
    assert r == pytest.approx(SINGLE_RATING_AGREEMENT, abs=0.02)


def test_translations_of_equal_quality_get_the_default_noise():
    assert honest_noise_sd([50.0] * 9) == honest_noise_sd([]) == HONEST_NOISE_SD


def test_a_worker_agrees_better_with_herself_than_with_others():
    qualities = SHAPES["normal"]
    alice = SimulatedWorker(Behaviour.HONEST, np.random.default_rng(4), honest_noise_sd(qualities))
    first, again = (
        [alice.score(role, i, q) for i, q in enumerate(qualities)]
        for role in (Role.GENUINE, Role.REPEAT)
    )
    assert np.corrcoef(first, again)[0, 1] > SINGLE_RATING_AGREEMENT + 0.2


@pytest.mark.django_db
def test_crowds_with_the_same_true_qualities_rate_independently():
    campaign = make_hits(n_segments=14, hit_size=40)
    for seed in (1, 2):
        simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 1}, seed=seed, truth_seed=9)
    ratings = Rating.objects.order_by("item").values_list("score", flat=True)
    scores = [
        list(ratings.filter(assignment__worker__external_id=f"honest-{seed}-1")) for seed in (1, 2)
    ]
    assert len(scores[0]) == len(scores[1]) == 40 and scores[0] != scores[1]
    truth = true_qualities(campaign=campaign, seed=9)
    assert truth == true_qualities(campaign=campaign, seed=9)
    assert truth != true_qualities(campaign=campaign, seed=1)


@pytest.mark.django_db
def test_after_hit_is_called_before_the_next_hit_is_taken():
    campaign, counts = make_hits(n_segments=28, hit_size=40), []

    def count(assignment):
        assert assignment.status == "submitted"
        counts.append(assignment.worker.assignments.count())

    crowd = {Behaviour.HONEST: 1}
    simulate_workers(campaign=campaign, crowd=crowd, hits_per_worker=2, seed=1, after_hit=count)
    assert counts == [1, 2]
