"""Times the built-in metrics on made-up texts of real length: python -m benchmarks.builtin_metrics"""

import argparse
import os
import time

import django
import numpy as np

# Words of news segments, and how many of them a system changes: about as in WMT.
MEAN_WORDS, CHANGED = 22, 0.45


def make_texts(n_segments: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    vocabulary = np.array([f"w{number}" for number in range(20_000)])
    pairs = []
    for length in np.maximum(3, rng.poisson(MEAN_WORDS, n_segments)):
        reference = vocabulary[rng.zipf(1.3, length) % len(vocabulary)]
        translation = reference.copy()
        changed = rng.random(length) < CHANGED
        translation[changed] = vocabulary[rng.zipf(1.3, changed.sum()) % len(vocabulary)]
        turn = int(rng.integers(0, 4))
        pairs.append((" ".join(np.roll(translation, turn)), " ".join(reference)))
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--segments", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")
    django.setup()
    from analysis.metrics.catalogue import metrics_for

    pairs = make_texts(options.segments, np.random.default_rng(options.seed))
    for name, metric in metrics_for("en").items():
        start = time.perf_counter()
        for pair in pairs:
            metric.of_segment(metric.counts(*pair))
        seconds = time.perf_counter() - start
        print(f"{name:6} {seconds:7.2f} s  {len(pairs) / seconds:9,.0f} segments/s")


if __name__ == "__main__":
    main()
