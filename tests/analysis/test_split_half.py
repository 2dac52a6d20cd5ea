"""How well the scores from two random halves of the workers agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.gold.reliability import splits_for
from analysis.stats.split_half import RANGE, SplitHalf, split_half

N_SYSTEMS, N_SEGMENTS, PER_WORKER = 8, 40, 70


def ratings(
    rng: np.random.Generator, *, n_workers: int = 24, spread: float = 0.3
) -> dict[str, np.ndarray]:
    """Workers who each rate random outputs; the systems have fixed scores, the same in every crowd."""
    truth = spread * np.random.default_rng(5).normal(size=N_SYSTEMS)
    workers = np.repeat(np.arange(n_workers), PER_WORKER)
    translations = rng.integers(N_SYSTEMS * N_SEGMENTS, size=len(workers))
    systems, segments = translations % N_SYSTEMS, translations // N_SYSTEMS
    return {
        "z": truth[systems] + rng.normal(size=len(workers)),
        "workers": workers,
        "translations": translations,
        "systems": systems,
        "segments": segments,
    }


def halves(columns: dict[str, np.ndarray], **options) -> SplitHalf:
    return split_half(**columns, **{"rng": np.random.default_rng(1), "n_splits": 30} | options)


def test_each_half_is_weighed_alone():
    asked = []

    def weigh(workers: np.ndarray) -> np.ndarray:
        asked.append(set(workers.tolist()))
        return np.ones(len(workers))

    halves(ratings(np.random.default_rng(2)), method="weighted", weigh=weigh, n_splits=4)
    for first, second in zip(asked[:8:2], asked[1:8:2], strict=True):
        assert not first & second and first | second == set(range(24))
    # Then without each group in turn.
    assert all(not first & second for first, second in zip(asked[::2], asked[1::2], strict=True))


def test_a_worker_without_weight_is_not_there():
    columns = ratings(np.random.default_rng(2))
    some = {name: values[columns["workers"] < 12] for name, values in columns.items()}
    noisy = columns | {"z": np.where(columns["workers"] < 12, columns["z"], 1e6)}
    weighed = halves(
        noisy, method="weighted", weigh=lambda workers: (workers < 12).astype(float), n_splits=300
    )
    alone = halves(some, method="weighted", weigh=lambda workers: np.ones(len(workers)))
    assert_allclose(weighed.systems.r, alone.systems.r, atol=0.1)


def test_all_workers_are_as_reliable_as_spearman_and_brown_say():
    systems = halves(ratings(np.random.default_rng(3))).systems
    assert_allclose(systems.full, 2 * systems.r / (1 + systems.r))
    assert_allclose(systems.full_low, 2 * systems.low / (1 + systems.low))
    assert systems.range_low < systems.r < systems.range_high
    assert systems.low < systems.r < systems.high


def test_halves_of_noise_do_not_agree():
    correlations = [
        halves(ratings(np.random.default_rng(seed), spread=0), n_splits=10).systems.r
        for seed in range(20)
    ]
    assert abs(np.mean(correlations)) < 0.25


def test_a_few_workers_have_no_interval():
    systems = halves(ratings(np.random.default_rng(3), n_workers=2)).systems
    assert np.isnan(systems.low) and not np.isnan(systems.r)


def test_weights_are_for_weighted_scores():
    columns = ratings(np.random.default_rng(3))
    with pytest.raises(ValueError, match="`weigh` is needed"):
        halves(columns, method="weighted")
    with pytest.raises(ValueError, match="`weigh` is needed"):
        halves(columns, weigh=lambda workers: np.ones(len(workers)))


def test_large_campaigns_get_fewer_splits():
    assert [splits_for(n) for n in (0, 31_664, 200_000, 1_000_000, 10**8)] == [
        200,
        200,
        200,
        40,
        20,
    ]


@pytest.mark.slow
def test_intervals_contain_the_agreement_of_all_crowds():
    """The interval is over workers, and rather too wide than too narrow."""
    crowds = [
        halves(ratings(np.random.default_rng(seed), n_workers=60), n_splits=20).systems
        for seed in range(300)
    ]
    expected = np.mean([each.r for each in crowds])
    covered = np.mean([each.low <= expected <= each.high for each in crowds])
    assert covered >= RANGE - 0.01
