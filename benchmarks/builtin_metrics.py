"""Segments per second of the built-in metrics, on random texts of realistic length.

python -m benchmarks.builtin_metrics [--segments 3000]
"""

import time
from collections.abc import Iterator

import numpy as np

import benchmarks.django_setup  # noqa: F401
from analysis.metrics.catalogue import metrics_for
from benchmarks.edit_distances import random_pairs
from benchmarks.measuring import affordable
from benchmarks.table import Row, run

MAX_SECONDS_PER_METRIC = 30.0


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


if __name__ == "__main__":
    run(measure, __doc__, sizes={"segments": (3_000, 50)})
