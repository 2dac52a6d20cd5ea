"""Agreement with the other trusted workers: random scores fail, whatever the pairs say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.thresholds import AGREEMENT_P, FEWEST_AGREEMENT_ITEMS
from analysis.stats.worker_agreement import agreement_with_others

N_ITEMS = 40


def crowd(*columns, trusted=None, items=None):
    """Rows of workers 0, 1, ... who rated the same items in one assignment each."""
    n = len(columns[0])
    workers = np.repeat(np.arange(len(columns)), n)
    trusted = [True] * len(columns) if trusted is None else trusted
    return (
        np.concatenate(columns),
        workers,
        workers + 100,
        np.tile(np.arange(n) if items is None else items, len(columns)),
        np.repeat(trusted, n),
    )


def readers(n_workers, *, seed=1, n_items=N_ITEMS, noise=1.2):
    """Scores of workers who see the same qualities, with noise of their own."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n_items)
    return [50 + 15 * (truth + noise * rng.normal(size=n_items)) for _ in range(n_workers)]


def z(scores):
    return (scores - np.mean(scores)) / np.std(scores, ddof=1)


def test_it_is_the_correlation_with_the_mean_of_the_others():
    scores = readers(4)
    result = agreement_with_others(*crowd(*scores))
    for worker in range(4):
        others = np.mean([z(row) for i, row in enumerate(scores) if i != worker], axis=0)
        expected = stats.pearsonr(scores[worker], others, alternative="greater")
        assert_allclose(result.r[worker], expected.statistic, rtol=1e-12)
        assert_allclose(result.pvalue[worker], expected.pvalue, rtol=1e-9)
    assert list(result.n_items) == [N_ITEMS] * 4 and list(result.workers) == [0, 1, 2, 3]


def test_the_use_of_the_scale_makes_no_difference():
    scores = readers(4)
    scaled = [scores[0], 20 + scores[1] / 3, scores[2] / 2, scores[3]]
    plain, other = (agreement_with_others(*crowd(*rows)) for rows in (scores, scaled))
    assert_allclose(plain.r, other.r, rtol=1e-12)


def test_the_order_of_rows_makes_no_difference():
    columns = crowd(*readers(4))
    order = np.random.default_rng(2).permutation(len(columns[0]))
    mixed = agreement_with_others(*(column[order] for column in columns))
    assert_allclose(mixed.r, agreement_with_others(*columns).r, rtol=1e-12)


def test_a_copy_of_the_mean_agrees_perfectly_and_its_opposite_not_at_all():
    others = readers(3)
    mean = np.mean([z(row) for row in others], axis=0)
    for own, r, p in ((mean, 1, 0), (-mean, -1, 1)):
        result = agreement_with_others(*crowd(own, *others, trusted=[False, True, True, True]))
        assert_allclose((result.r[0], result.pvalue[0]), (r, p), atol=1e-12)


def test_nobody_is_compared_with_an_untrusted_worker():
    scores, trusted = readers(5), [True, True, True, True, False]
    with_stranger = agreement_with_others(*crowd(*scores, trusted=trusted))
    without = agreement_with_others(*crowd(*scores[:4]))
    assert_allclose(with_stranger.r[:4], without.r, rtol=1e-12)
    assert np.isfinite(with_stranger.r[4])


def test_it_is_not_asked_before_enough_others_rated_enough_items():
    result = agreement_with_others(*crowd(*readers(3)))
    assert list(result.n_items) == [0, 0, 0]
    assert np.isnan(result.r).all() and np.isnan(result.pvalue).all()
    few = agreement_with_others(*crowd(*readers(4, n_items=FEWEST_AGREEMENT_ITEMS - 1)))
    assert list(few.n_items) == [FEWEST_AGREEMENT_ITEMS - 1] * 4 and np.isnan(few.pvalue).all()
    enough = agreement_with_others(*crowd(*readers(4, n_items=FEWEST_AGREEMENT_ITEMS)))
    assert np.isfinite(enough.pvalue).all()


def test_equal_scores_for_everything_agree_with_nobody():
    result = agreement_with_others(*crowd(np.full(N_ITEMS, 80.0), *readers(3)))
    assert np.isnan(result.r[0]) and result.pvalue[0] == 1 and result.n_items[0] == N_ITEMS
    # They do not help the others to be asked either.
    assert list(result.n_items[1:]) == [0, 0, 0]


def test_an_assignment_with_equal_scores_counts_against_its_worker():
    first, second = readers(4, seed=3), readers(4, seed=4)
    columns = [
        np.concatenate(pair)
        for pair in zip(crowd(*first), crowd(*second, items=np.arange(500, 540)), strict=True)
    ]
    columns[2][len(columns[2]) // 2 :] += 100
    honest = agreement_with_others(*columns)
    columns[0][len(columns[0]) // 2 :][:N_ITEMS] = 50
    lazy = agreement_with_others(*columns)
    assert lazy.n_items[0] == honest.n_items[0] == 2 * N_ITEMS
    assert lazy.pvalue[0] > honest.pvalue[0]


def test_the_coherence_of_the_others_is_that_of_an_analysis_of_variance():
    own, *others = readers(4)
    result = agreement_with_others(*crowd(own, *others))
    expected = stats.f_oneway(*np.array([z(row) for row in others]).T)
    assert_allclose(result.coherence_pvalue[0], expected.pvalue, rtol=1e-9)


def test_others_who_do_not_agree_with_each_other_are_no_measure():
    rng = np.random.default_rng(11)
    scripts = [rng.uniform(0, 100, 70) for _ in range(3)]
    own = readers(1, n_items=70)[0]
    result = agreement_with_others(*crowd(own, *scripts))
    assert result.coherence_pvalue[0] > 0.01 and result.n_items[0] == 70
    assert np.isnan(result.r[0]) and np.isnan(result.pvalue[0])


def test_random_others_hardly_ever_pass_for_a_measure():
    rng = np.random.default_rng(12)
    own = readers(1, n_items=70)[0]
    asked = [
        np.isfinite(agreement_with_others(*crowd(own, *rng.uniform(0, 100, (3, 70)))).pvalue[0])
        for _ in range(1_000)
    ]
    assert np.mean(asked) < 0.025


def test_others_who_never_vary_say_nothing():
    flat = [np.full(N_ITEMS, 50.0)] * 3
    result = agreement_with_others(*crowd(readers(1)[0], *flat))
    assert np.isnan(result.pvalue[0])


def test_random_scores_pass_at_the_level_of_the_test():
    """Among 4,000 workers with random scores, the share that passes is within four standard errors."""
    rng = np.random.default_rng(7)
    others = readers(3, n_items=70)
    n_workers = 4_000
    random_scores = [rng.integers(0, 101, 70).astype(float) for _ in range(n_workers)]
    trusted = [True] * 3 + [False] * n_workers
    result = agreement_with_others(*crowd(*others, *random_scores, trusted=trusted))
    n_passed = int((result.pvalue[3:] < AGREEMENT_P).sum())
    error = np.sqrt(AGREEMENT_P * (1 - AGREEMENT_P) / n_workers)
    assert abs(n_passed / n_workers - AGREEMENT_P) < 4 * error


def test_readers_pass_after_one_hit():
    """Two readers' single ratings correlate at about 0.4, as published."""
    passed = [
        agreement_with_others(*crowd(*readers(4, seed=seed, n_items=70))).pvalue[0] < AGREEMENT_P
        for seed in range(200)
    ]
    assert np.mean(passed) > 0.97


def test_without_ratings_there_are_no_workers():
    result = agreement_with_others([], [], [], [], [])
    assert len(result.workers) == len(result.r) == 0


def test_the_signature_says_how_many_others_are_needed():
    result = agreement_with_others(*crowd(*readers(4)), fewest_others=2)
    assert result.signature.startswith(
        "agreement:pearson,leave-one-out,others>=2|items:>=30|coherence:anova,p<0.01|"
    )


@pytest.mark.parametrize(
    ("place", "value", "name"),
    [(0, [1.0], "scores"), (4, [1] * 160, "is_trusted"), (0, [np.nan] * 160, "scores")],
)
def test_wrong_input_is_refused(place, value, name):
    columns = list(crowd(*readers(4)))
    columns[place] = value
    with pytest.raises(ValueError, match=f"`{name}`"):
        agreement_with_others(*columns)


def test_nobody_can_be_compared_with_no_others():
    with pytest.raises(ValueError, match="`fewest_others`"):
        agreement_with_others(*crowd(*readers(4)), fewest_others=0)
