"""Times the tests between metrics at today's sizes: python -m benchmarks.metric_significance

Everything runs on synthetic scores. The rival is the usual way: one pair of metrics and one resample at a
time, each with a fresh swap and two correlations. It is measured on a part and scaled up.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from analysis.stats.meta_evaluation import compare_tie_accuracies, tie_accuracies
from analysis.stats.significance import permutation_matrix
from analysis.stats.soft_accuracy import compare_soft_accuracies, soft_pairwise_accuracies
from analysis.stats.williams import williams_matrix

from .bars import fail_if_missed, verdict

MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class Measurement:
    """How long one piece of work took, at best, and the most memory it held."""

    seconds: float
    peak_bytes: int


def measure(work: Callable[[], object], repeats: int) -> Measurement:
    """Time `work`, then run it once more under the memory tracer, which slows it."""
    seconds = fastest(work, repeats)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Measurement(seconds, peak)


def fastest(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest of several times: the others say what else the machine was doing."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def noisy_copies(gold: np.ndarray, n_metrics: int, rng: np.random.Generator) -> np.ndarray:
    """Return metrics from good to poor."""
    noise = np.linspace(0.5, 2, n_metrics).reshape(-1, *(1 for _ in gold.shape))
    return gold + noise * rng.normal(size=(n_metrics, *gold.shape))


def numpy_loop(
    first: np.ndarray, second: np.ndarray, gold: np.ndarray, n: int, rng: np.random.Generator
) -> None:
    """Permute one pair of metrics `n` times with plain NumPy."""
    for _ in range(n):
        swap = rng.random(len(gold)) < 0.5
        swapped = np.where(swap, second, first), np.where(swap, first, second)
        np.corrcoef(swapped[0], gold)[0, 1] - np.corrcoef(swapped[1], gold)[0, 1]


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


def report(name: str, found: Measurement, bar: float | None = None) -> None:
    words = ""
    if bar is not None:
        words = f"   bar {bar:g} s: {verdict(name, is_met=found.seconds < bar)}"
    print(f"{name:<66}{found.seconds:>9.3f} s{found.peak_bytes / MEGABYTE:>9.1f} MB{words}")


def report_ratio(name: str, seconds: float, ours: float, bar: float) -> None:
    ratio = seconds / ours
    word = verdict(name, is_met=ratio >= bar)
    print(f"{name:<66}{seconds:>9.1f} s   {ratio:,.0f} times as long (bar {bar:g}: {word})")


def time_williams(options: argparse.Namespace, rng: np.random.Generator) -> None:
    gold = rng.normal(size=3000)
    metrics = noisy_copies(gold, 500, rng)
    found = measure(lambda: williams_matrix(metrics, gold), options.repeats)
    report("Williams matrix, 500 metrics x 3,000 segments", found)


def time_permutations(options: argparse.Namespace, rng: np.random.Generator) -> None:
    n_metrics, n_segments, n_resamples = 20, 20_000, 1000
    gold = rng.normal(size=n_segments)
    metrics = noisy_copies(gold, n_metrics, rng)
    ours = measure(
        lambda: permutation_matrix(metrics, gold, rng=rng, n_resamples=n_resamples), options.repeats
    )
    report("Permutation matrix, 20 metrics x 20,000 scores x 1,000 resamples", ours)
    n_swaps = n_metrics * (n_metrics - 1) // 2 * n_resamples
    for name, loop in (("NumPy", numpy_loop), ("SciPy", scipy_test)):
        standard = stats.zscore(metrics[:2], axis=1)
        part = fastest(
            lambda loop=loop, standard=standard: loop(
                standard[0], standard[1], gold, options.loop_resamples, rng
            ),
            options.repeats,
        )
        seconds = part * n_swaps / options.loop_resamples
        label = f"  pair by pair with {name}, {options.loop_resamples} of {n_swaps:,} swaps, scaled"
        report_ratio(label, seconds, ours.seconds, options.bar)


def time_accuracies(options: argparse.Namespace, rng: np.random.Generator) -> None:
    # Gold in whole points has ties, as people's scores do.
    gold = np.round(2 * rng.normal(size=(20, 1000)))
    metrics = noisy_copies(gold, 20, rng)
    calls: list[tuple[str, Callable[[], object], float | None]] = [
        ("acc_eq with tie calibration", lambda: tie_accuracies(metrics, gold), 1.0),
        ("  and all pairs tested", lambda: compare_tie_accuracies(metrics, gold, rng=rng), None),
        ("Soft pairwise accuracy", lambda: soft_pairwise_accuracies(metrics, gold, rng=rng), None),
    ]
    for name, work, bar in calls:
        label = f"{name}, 20 metrics x 20 systems x 1,000 segments"
        report(label, measure(work, options.repeats), bar)
    found = measure(lambda: compare_soft_accuracies(metrics, gold, rng=rng), 1)
    report("  and all pairs tested, 20 metrics x 20 systems x 1,000 segments", found)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the tests between metrics.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=7, help="runs to take the best of")
    parser.add_argument(
        "--loop-resamples", type=int, default=50, help="how much of the rival loops to run"
    )
    parser.add_argument("--bar", type=float, default=500, help="how many times faster to be")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print(f"{'':<66}{'time':>11}{'peak':>12}")
    time_williams(options, rng)
    time_permutations(options, rng)
    time_accuracies(options, rng)
    fail_if_missed()


if __name__ == "__main__":
    main()
