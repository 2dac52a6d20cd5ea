"""TER, WER, PER and CDER of new pairs, next to sacreBLEU's TER alone, with the same edits.

python -m benchmarks.edit_distances [--segments 3000]
"""

import time
from collections.abc import Iterator

import numpy as np
from sacrebleu.metrics import TER

import benchmarks.django_setup  # noqa: F401
from analysis.metrics.catalogue import metrics_for
from benchmarks.table import Row, run

# Words in a news segment, and how many of them a system changes: about as in WMT.
MEAN_WORDS, SHARE_CHANGED = 22, 0.45
EDIT_DISTANCES = ("TER", "WER", "PER", "CDER")
MIN_RATIO = 10
WARM_UP, MEASURED = 1, 2


def measure(*, segments: int) -> Iterator[Row]:
    metrics = [metrics_for("en")[name] for name in EDIT_DISTANCES]
    theirs = TER()
    # Both have seen some pairs before, but none of those that are timed.
    for pair in random_pairs(20, np.random.default_rng(WARM_UP)):
        theirs.sentence_score(pair[0], [pair[1]])
        for metric in metrics:
            metric.counts(*pair)
    pairs = random_pairs(segments, np.random.default_rng(MEASURED))
    start = time.process_time()
    edits, *_ = [[metric.counts(*pair)[0] for pair in pairs] for metric in metrics]
    ours = time.process_time() - start
    start = time.process_time()
    expected = [theirs.sentence_score(pair[0], [pair[1]]).num_edits for pair in pairs]
    baseline = time.process_time() - start
    assert edits == expected
    yield Row(
        f"{', '.join(EDIT_DISTANCES)} of {segments:,} segments, next to sacreBLEU's TER",
        segments / ours,
        "/s",
        baseline=segments / baseline,
        min_ratio=MIN_RATIO,
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
