import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from analysis.stats.resampling import swap_masks
from analysis.stats.system_significance import (
    paired_bootstrap_test,
    randomisation_test,
    shifted_bootstrap_test,
)

TESTS = [paired_bootstrap_test, shifted_bootstrap_test, randomisation_test]


def rng(seed: int = 6) -> np.random.Generator:
    return np.random.default_rng(seed)


def two_systems(lead: float = 0.2, n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    generator = rng(1)
    segments = generator.normal(size=n)
    return segments + lead + generator.normal(size=n), segments + generator.normal(size=n)


def f_score(sums: np.ndarray) -> np.ndarray:
    """Return F1 from sums of matches, words of the output and words of the reference."""
    matches, output, reference = sums.T
    return 2 * matches / (output + reference)


def two_corpora(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    generator = rng(2)
    reference = generator.integers(5, 30, size=n)
    corpora = []
    for quality in (0.7, 0.6):
        output = reference + generator.integers(-2, 3, size=n)
        matches = generator.binomial(np.minimum(output, reference), quality)
        corpora.append(np.column_stack([matches, output, reference]))
    return corpora[0], corpora[1]


@pytest.mark.parametrize("test", TESTS)
def test_the_statistic_is_the_difference_of_means(test) -> None:  # type: ignore[no-untyped-def]
    first, second = two_systems()
    result = test(first, second, rng=rng())
    assert_allclose(result.statistic, first.mean() - second.mean())
    assert_allclose((result.first, result.second), (first.mean(), second.mean()))
    assert result.n == 100


@pytest.mark.parametrize("test", TESTS)
def test_p_values_are_close_to_the_paired_t_test(test) -> None:  # type: ignore[no-untyped-def]
    first, second = two_systems()
    expected = stats.ttest_rel(first, second, alternative="greater").pvalue
    result = test(first, second, rng=rng(), n_resamples=5000)
    # Different tests of the same hypothesis agree roughly.
    assert_allclose(result.pvalue, expected, atol=0.02)


def test_randomisation_matches_the_exact_test_of_a_small_set() -> None:
    first, second = two_systems(n=10)
    exact = stats.permutation_test(
        (first, second),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
    ).pvalue
    result = randomisation_test(first, second, rng=rng(), n_resamples=20_000)
    assert_allclose(result.pvalue, exact, atol=0.012)


def test_the_bootstrap_interval_matches_scipy() -> None:
    first, second = two_systems()
    expected = stats.bootstrap((first - second,), np.mean, method="percentile", rng=rng())
    result = paired_bootstrap_test(first, second, rng=rng(), n_resamples=9999)
    low, high = expected.confidence_interval
    assert_allclose((result.low, result.high), (low, high), atol=0.015)


@pytest.mark.parametrize("test", TESTS)
def test_corpus_scores_come_from_sums_of_statistics(test) -> None:  # type: ignore[no-untyped-def]
    first, second = two_corpora()
    result = test(first, second, score=f_score, rng=rng())
    assert_allclose(result.first, f_score(first.sum(axis=0)[None])[0])
    assert result.pvalue < 0.01


def test_randomised_corpus_scores_match_a_plain_loop() -> None:
    first, second = two_corpora()
    result = randomisation_test(first, second, score=f_score, rng=rng(), n_resamples=100)
    as_large = 0
    for mask in np.concatenate(list(swap_masks(60, 100, rng()))).astype(bool):
        a = np.where(mask[:, None], second, first).sum(axis=0)
        b = np.where(mask[:, None], first, second).sum(axis=0)
        as_large += f_score(a[None])[0] - f_score(b[None])[0] >= result.statistic - 1e-12
    assert_allclose(result.pvalue, (as_large + 1) / 101)


@pytest.mark.parametrize("test", TESTS)
def test_a_mean_as_a_corpus_score_gives_the_same_result(test) -> None:  # type: ignore[no-untyped-def]
    first, second = two_systems()
    plain = test(first, second, rng=rng())
    counted = test(
        np.column_stack([first, np.ones(100)]),
        np.column_stack([second, np.ones(100)]),
        score=lambda sums: sums[:, 0] / sums[:, 1],
        rng=rng(),
    )
    assert_allclose(counted.pvalue, plain.pvalue)


@pytest.mark.parametrize("test", TESTS)
def test_lower_is_better_favours_the_smaller_score(test) -> None:  # type: ignore[no-untyped-def]
    first, second = two_systems()
    straight = test(first, second, rng=rng())
    turned = test(-first, -second, rng=rng(), higher_is_better=False)
    assert_allclose(turned.pvalue, straight.pvalue)
    assert_allclose(turned.statistic, straight.statistic)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=30))
@pytest.mark.parametrize("test", TESTS)
def test_swapping_the_systems_mirrors_the_test(test, pairs: list[tuple[int, int]]) -> None:  # type: ignore[no-untyped-def]
    first, second = zip(*pairs, strict=True)
    straight = test(first, second, rng=rng(), n_resamples=50)
    swapped = test(second, first, rng=rng(), n_resamples=50)
    assert_allclose(swapped.statistic, -straight.statistic)
    # Ties and the observed arrangement count on both sides.
    assert straight.pvalue + swapped.pvalue >= 1


@pytest.mark.parametrize("test", TESTS)
def test_equal_systems_do_not_differ(test) -> None:  # type: ignore[no-untyped-def]
    first, _ = two_systems()
    assert test(first, first, rng=rng()).pvalue == 1


def test_randomisation_has_no_interval() -> None:
    result = randomisation_test(*two_systems(), rng=rng())
    assert np.isnan([result.low, result.high]).all()


@pytest.mark.parametrize("test", TESTS)
def test_refusals_name_the_parameter(test) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="`first` has shape"):
        test([1, 2, 3], [1, 2], rng=rng())
    with pytest.raises(ValueError, match="`second` has 1 missing"):
        test([1, 2], [1, np.nan], rng=rng())
    with pytest.raises(ValueError, match="`first` has 1 segment"):
        test([1], [2], rng=rng())
    with pytest.raises(ValueError, match="`first` must be"):
        test([[1, 2], [3, 4]], [[1, 2], [3, 4]], rng=rng())
    with pytest.raises(ValueError, match="`score` returned"):
        test([[1, 2], [3, 4]], [[1, 2], [3, 4]], score=lambda sums: sums[0], rng=rng())
