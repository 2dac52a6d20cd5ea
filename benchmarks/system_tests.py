"""Paired bootstrap of BLEU, chrF and TER for two systems, next to sacreBLEU's, from the same texts.

python -m benchmarks.system_tests [--segments 3000] [--resamples 10000]
"""

import time
from collections.abc import Iterator

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

import benchmarks.django_setup  # noqa: F401
from analysis.experiments.comparing import sums_of
from analysis.metrics.sums import summed_metrics
from analysis.stats.output_tests import OutputComparison, SegmentSums, compare_outputs
from benchmarks.builtin_metrics import random_pairs
from benchmarks.table import Row, run

NAMES = ("BLEU", "chrF", "TER")


def measure(*, segments: int, resamples: int) -> Iterator[Row]:
    rng = np.random.default_rng(1)
    outputs, references = two_systems(segments, rng)
    start = time.perf_counter()
    sums = all_sums(outputs, references)
    read = time.perf_counter()
    found = compare_outputs(
        sums, rng=np.random.default_rng(1), n_resamples=resamples, tests=["bootstrap"]
    )
    ours = time.perf_counter()
    metrics = {
        "BLEU": BLEU(references=[references]),
        "chrF": CHRF(references=[references]),
        "TER": TER(references=[references]),
    }
    named = [(str(place), output) for place, output in enumerate(outputs)]
    # sacreBLEU counts n-grams and edits here, and resamples when it is called.
    paired = PairedTest(named, metrics, None, test_type="bs", n_samples=resamples)
    scores = paired()[1]
    end = time.perf_counter()
    check(found, scores, resamples)
    what = (
        f"{resamples:,} paired resamples of {', '.join(NAMES)}, 2 systems x {segments:,} segments"
    )
    yield Row(
        f"{what}, from texts to p", 1 / (ours - start), "/s", baseline=1 / (end - ours), min_ratio=5
    )
    yield Row(f"{what}, the tests alone", 1 / (ours - read), "/s")


def two_systems(n_segments: int, rng: np.random.Generator) -> tuple[list[list[str]], list[str]]:
    """Return the outputs of two systems with the same references."""
    pairs = random_pairs(n_segments, rng)
    first = [output for output, _ in pairs]
    second = [
        " ".join(word for word in output.split() if rng.random() > 0.02) or output
        for output in first
    ]
    return [first, second], [reference for _, reference in pairs]


def all_sums(outputs: list[list[str]], references: list[str]) -> list[SegmentSums]:
    metrics = summed_metrics("en")
    return [sums_of(metrics[name], outputs, references) for name in NAMES]


def check(found: list[OutputComparison], scores: dict[str, list], resamples: int) -> None:  # type: ignore[type-arg]
    """The point scores are the same, and the p-values as close as resampling makes them."""
    for name, comparison in zip(NAMES, found, strict=True):
        (values,) = (each for title, each in scores.items() if title.startswith(name))
        for estimate, value in zip(comparison.estimates, values, strict=True):
            assert abs(estimate - value.score) < 1e-9, name
        difference = abs(comparison.two_sided["bootstrap"][0, 1] - values[1].p_value)
        assert difference < 4 / np.sqrt(2 * resamples), name


if __name__ == "__main__":
    run(measure, __doc__, sizes={"segments": (3_000, 60), "resamples": (10_000, 100)})
