"""Segments per second of the built-in metrics, on random texts of realistic length.

python -m benchmarks.builtin_metrics [--segments 3000]
"""

import time
from collections.abc import Iterator

import numpy as np
from sacrebleu.metrics import TER

import benchmarks.django_setup  # noqa: F401
from analysis.metrics.catalogue import metrics_for
from benchmarks.measuring import affordable
from benchmarks.table import Row, run

# Words in a news segment, and how many of them a system changes: about as in WMT.
MEAN_WORDS, SHARE_CHANGED = 22, 0.45
MAX_SECONDS_PER_METRIC = 30.0
EDIT_DISTANCES = ("TER", "WER", "PER", "CDER")


def measure(*, segments: int) -> Iterator[Row]:
    pairs = random_pairs(segments, np.random.default_rng(1))
    for name, metric in metrics_for("en").items():

        def score(n: int, metric=metric) -> float:  # type: ignore[no-untyped-def]
            start = time.perf_counter()
            for pair in pairs[:n]:
                metric.of_segment(metric.counts(*pair))
            return time.perf_counter() - start

        part = max(1, segments // 20)
        n = affordable(segments, measured=part, took=score(part), seconds=MAX_SECONDS_PER_METRIC)
        yield Row(f"{name}, {n:,} segments", n / score(n), "/s")
    yield next_to_sacrebleu(pairs)


def next_to_sacrebleu(pairs: list[tuple[str, str]]) -> Row:
    """Return the time for all edit distances of new pairs, next to sacreBLEU's for TER alone."""
    metrics = [metrics_for("en")[name] for name in EDIT_DISTANCES]
    start = time.perf_counter()
    n_edits = [[metric.counts(*pair)[0] for pair in pairs] for metric in metrics][0]
    ours = time.perf_counter() - start
    ter = TER()
    start = time.perf_counter()
    expected = [ter.sentence_score(pair[0], [pair[1]]).num_edits for pair in pairs]
    baseline = time.perf_counter() - start
    assert n_edits == expected
    return Row(
        f"{', '.join(EDIT_DISTANCES)} of {len(pairs):,} segments, next to sacreBLEU's TER",
        len(pairs) / ours,
        "/s",
        baseline=len(pairs) / baseline,
        min_ratio=10,
    )


def random_pairs(n_segments: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Return translations with their references."""
    vocabulary = np.array([f"w{number}" for number in range(20_000)])
    pairs = []
    for length in np.maximum(3, rng.poisson(MEAN_WORDS, n_segments)):
        reference = vocabulary[rng.zipf(1.3, length) % len(vocabulary)]
        translation = reference.copy()
        is_changed = rng.random(length) < SHARE_CHANGED
        translation[is_changed] = vocabulary[rng.zipf(1.3, is_changed.sum()) % len(vocabulary)]
        rotated = np.roll(translation, int(rng.integers(0, 4)))
        pairs.append((" ".join(rotated), " ".join(reference)))
    return pairs


if __name__ == "__main__":
    run(measure, __doc__, sizes={"segments": (3_000, 50)})
