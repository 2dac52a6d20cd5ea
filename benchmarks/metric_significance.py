"""Tests between metrics on synthetic scores: time and peak memory, against loops over pairs and resamples.

    python -m benchmarks.metric_significance

The baseline is the usual way: one pair of metrics and one resample at a time, each with a new swap and two
correlations. As many swaps are timed as fit into a second or so, and the time is scaled up.
"""

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import stats

from analysis.stats.by_segment import Method, correlations_by_segment
from analysis.stats.meta_evaluation import compare_tie_accuracies, tie_accuracies
from analysis.stats.segment_resampling import resampled_correlations
from analysis.stats.significance import permutation_matrix
from analysis.stats.soft_accuracy import compare_soft_accuracies, soft_pairwise_accuracies
from analysis.stats.system_swaps import swap_spreads
from analysis.stats.williams import williams_matrix
from benchmarks.measuring import affordable, best_of
from benchmarks.table import Row, run

N_METRICS, N_SYSTEMS, N_RESAMPLES = 20, 20, 1_000
# At most this fraction of the time of a loop over pairs.
MAX_RATIO = 1 / 500
MAX_TIE_SECONDS = 1.0
MAX_SWAP_SECONDS = 5.0
LOOP_SECONDS = 1.0


def measure(*, scores: int) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    yield from time_williams(scores * 3 // 20, rng)
    yield from time_permutations(scores, rng)
    yield from time_by_segment(scores, rng)
    yield from time_accuracies(scores // N_SYSTEMS, rng)


def row_of(title: str, work: Callable[[], object], **fields: float) -> Row:
    """Time the work, then run it once more under the memory tracer, which slows it down."""
    seconds, _ = best_of(work, max_runs=7)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Row(title, seconds, "s", note=f"peak memory {peak / 2**20:.1f} MB", **fields)


def noisy_copies(gold: np.ndarray, n_metrics: int, rng: np.random.Generator) -> np.ndarray:
    """Return metrics from good to poor."""
    noise = np.linspace(0.5, 2, n_metrics).reshape(-1, *(1 for _ in gold.shape))
    return gold + noise * rng.normal(size=(n_metrics, *gold.shape))


def time_williams(n_segments: int, rng: np.random.Generator) -> Iterator[Row]:
    gold = rng.normal(size=n_segments)
    metrics = noisy_copies(gold, 500, rng)
    title = f"Williams matrix, 500 metrics, {n_segments:,} segments"
    yield row_of(title, lambda: williams_matrix(metrics, gold))


def time_permutations(n_scores: int, rng: np.random.Generator) -> Iterator[Row]:
    gold = rng.normal(size=n_scores)
    metrics = noisy_copies(gold, N_METRICS, rng)
    n_swaps = N_METRICS * (N_METRICS - 1) // 2 * N_RESAMPLES
    first, second = stats.zscore(metrics[:2], axis=1)
    work = partial(permutation_matrix, metrics, gold, rng=rng, n_resamples=N_RESAMPLES)
    title = f"Permutation matrix, {N_METRICS} metrics, {n_scores:,} scores"
    for name, loop in (("NumPy", numpy_loop), ("SciPy", scipy_test)):
        took, _ = best_of(partial(loop, first, second, gold, 10, rng))
        n = affordable(n_swaps, measured=10, took=took, seconds=LOOP_SECONDS)
        loop_seconds, _ = best_of(partial(loop, first, second, gold, n, rng))
        yield row_of(
            f"{title}, against a loop with {name}",
            work,
            baseline=loop_seconds * n_swaps / n,
            max_ratio=MAX_RATIO,
        )


def time_by_segment(n_scores: int, rng: np.random.Generator) -> Iterator[Row]:
    """Time the tests of a WMT metrics task, against a loop of paired permutations as in mt-metrics-eval."""
    n_systems = 15
    n_metrics, n_segments = (70, 1_177) if n_scores >= 20_000 else (5, n_scores // n_systems)
    gold = rng.normal(size=n_segments) + rng.normal(size=(n_systems, n_segments))
    metrics = noisy_copies(gold, n_metrics, rng)
    flat, segments = metrics.reshape(n_metrics, -1), np.tile(np.arange(n_segments), n_systems)
    size = f"{n_metrics} metrics, {gold.size:,} translations, all pairs"
    first, second = stats.zscore(flat[:2], axis=1)
    n_swaps = n_metrics * (n_metrics - 1) // 2 * N_RESAMPLES
    for method in ("pearson", "spearman", "kendall_b"):
        loop = partial(measure_loop, method, first, second, gold.ravel(), n_segments, rng)
        took, _ = best_of(partial(loop, 1), max_runs=2)
        n = affordable(n_swaps, measured=1, took=took, seconds=LOOP_SECONDS)
        loop_seconds, _ = best_of(partial(loop, n), max_runs=2)

        def by_segment(method: Method = method) -> object:
            result = correlations_by_segment(flat, gold.ravel(), segments, method=method)
            return result.compare()

        yield row_of(
            f"{method} by segment, {size}, against a loop of paired permutations",
            by_segment,
            baseline=loop_seconds * n_swaps / n,
            max_ratio=MAX_RATIO,
        )
        yield row_of(
            f"{method} by segment, {size}, {N_RESAMPLES:,} bootstrap resamples and swaps, against the same loop",
            partial(
                resampled_correlations,
                flat,
                gold.ravel(),
                segments,
                method=method,
                rng=rng,
                n_resamples=N_RESAMPLES,
            ),
            baseline=loop_seconds * n_swaps / n,
            max_ratio=MAX_RATIO,
        )
    yield row_of(
        f"Five measures at system level, {size}, {N_RESAMPLES:,} swaps",
        partial(swap_spreads, metrics, gold, rng=rng, n_resamples=N_RESAMPLES),
        maximum=MAX_SWAP_SECONDS,
    )


def measure_loop(
    method: Method,
    first: np.ndarray,
    second: np.ndarray,
    gold: np.ndarray,
    n_segments: int,
    rng: np.random.Generator,
    n: int,
) -> None:
    """Swap one pair of metrics segment by segment `n` times, computing both coefficients from scratch."""
    coefficient = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall_b": stats.kendalltau,
    }[method]
    for _ in range(n):
        is_swapped = np.tile(rng.random(n_segments) < 0.5, len(gold) // n_segments)
        pair = np.where(is_swapped, second, first), np.where(is_swapped, first, second)
        coefficient(pair[0], gold).statistic - coefficient(pair[1], gold).statistic


def numpy_loop(
    first: np.ndarray, second: np.ndarray, gold: np.ndarray, n: int, rng: np.random.Generator
) -> None:
    """Permute one pair of metrics `n` times with plain NumPy."""
    for _ in range(n):
        is_swapped = rng.random(len(gold)) < 0.5
        pair = np.where(is_swapped, second, first), np.where(is_swapped, first, second)
        np.corrcoef(pair[0], gold)[0, 1] - np.corrcoef(pair[1], gold)[0, 1]


def scipy_test(
    first: np.ndarray, second: np.ndarray, gold: np.ndarray, n: int, rng: np.random.Generator
) -> None:
    """Permute one pair of metrics `n` times with SciPy."""

    def difference(a: np.ndarray, b: np.ndarray) -> float:
        return float(stats.pearsonr(a, gold).statistic - stats.pearsonr(b, gold).statistic)

    stats.permutation_test(
        (first, second),
        difference,
        permutation_type="samples",
        alternative="greater",
        vectorized=False,
        n_resamples=n,
        rng=rng,
    )


def time_accuracies(n_segments: int, rng: np.random.Generator) -> Iterator[Row]:
    # Gold in whole points has ties, as human scores do.
    gold = np.round(2 * rng.normal(size=(N_SYSTEMS, n_segments)))
    metrics = noisy_copies(gold, N_METRICS, rng)
    size = f"{N_METRICS} metrics, {N_SYSTEMS} systems, {n_segments:,} segments"
    yield row_of(
        f"acc_eq with tie calibration, {size}",
        lambda: tie_accuracies(metrics, gold),
        maximum=MAX_TIE_SECONDS,
    )
    for title, function in (
        ("acc_eq, all pairs tested", compare_tie_accuracies),
        ("Soft pairwise accuracy", soft_pairwise_accuracies),
        ("Soft pairwise accuracy, all pairs tested", compare_soft_accuracies),
    ):
        yield row_of(f"{title}, {size}", partial(function, metrics, gold, rng=rng))


if __name__ == "__main__":
    run(measure, __doc__, sizes={"scores": (20_000, 400)})
