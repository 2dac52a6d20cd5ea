"""Tests between systems: paired bootstrap of two next to sacreBLEU's from the same texts, and all tests of five systems.

The texts are those of the example campaign, repeated; in every copy, a fifth of the words is exchanged for others, in
all outputs and the reference alike.

python -m benchmarks.system_tests [--segments 3000] [--resamples 10000]
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

import benchmarks.django_setup  # noqa: F401
from analysis.experiments.comparing import sums_of
from analysis.experiments.systems import METRICS
from analysis.metrics.sums import summed_metrics
from analysis.stats.output_tests import OutputComparison, SegmentSums, compare_outputs
from analysis.stats.resampling import DEFAULT_RESAMPLES
from benchmarks.table import Row, run

# What sacreBLEU has, too.
NAMES = ("BLEU", "chrF", "TER")
CAMPAIGN = Path(__file__).parents[1] / "examples" / "demo-de-en" / "campaign"
SHARE_EXCHANGED = 0.2


def measure(*, segments: int, resamples: int) -> Iterator[Row]:
    outputs, references = texts(segments, np.random.default_rng(1))
    yield from next_to_sacrebleu(outputs[:2], references, resamples)
    yield all_tests(outputs, references, min(resamples, DEFAULT_RESAMPLES))


def next_to_sacrebleu(
    outputs: list[list[str]], references: list[str], resamples: int
) -> Iterator[Row]:
    start = time.perf_counter()
    sums = all_sums(outputs, references, NAMES)
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
        f"{resamples:,} paired resamples of {', '.join(NAMES)}, 2 systems x {len(references):,} "
        "segments"
    )
    yield Row(
        f"{what}, from texts to p", 1 / (ours - start), "/s", baseline=1 / (end - ours), min_ratio=5
    )
    yield Row(f"{what}, the tests alone", 1 / (ours - read), "/s")


def all_tests(outputs: list[list[str]], references: list[str], resamples: int) -> Row:
    """Return the time for all pairs by all metrics and tests, from texts to p-values."""
    start = time.perf_counter()
    compare_outputs(
        all_sums(outputs, references, METRICS),
        rng=np.random.default_rng(1),
        n_resamples=resamples,
    )
    took = time.perf_counter() - start
    return Row(
        f"{len(outputs)} systems x {len(references):,} segments, {len(METRICS)} metrics, 3 tests, {resamples:,} "
        "resamples",
        took,
        "s",
        maximum=60,
    )


def texts(n_segments: int, rng: np.random.Generator) -> tuple[list[list[str]], list[str]]:
    """Return the outputs of five systems, the fifth of which mixes the first two, and the references."""
    systems = [path.read_text().splitlines() for path in sorted((CAMPAIGN / "systems").iterdir())]
    references = (CAMPAIGN / "references.txt").read_text().splitlines()
    rows = [*zip(*systems, references, strict=True)]
    vocabulary = sorted({word for row in rows for line in row for word in _words(line)})
    varied = []
    for start in range(0, n_segments, len(rows)):
        exchanged = {
            word: vocabulary[rng.integers(len(vocabulary))]
            for word in vocabulary
            if rng.random() < SHARE_EXCHANGED
        }
        for row in rows[: n_segments - start]:
            first, second, *others = (_exchange(line, exchanged) for line in row)
            mixed = first if rng.random() < 0.5 else second
            varied.append((first, second, *others[:-1], mixed, others[-1]))
    *outputs, reference = map(list, zip(*varied, strict=True))
    return outputs, reference


def _words(line: str) -> list[str]:
    return re.findall(r"\w+", line)


def _exchange(line: str, exchanged: dict[str, str]) -> str:
    return re.sub(r"\w+", lambda found: exchanged.get(found[0], found[0]), line)


def all_sums(
    outputs: list[list[str]], references: list[str], names: tuple[str, ...]
) -> list[SegmentSums]:
    metrics = summed_metrics("en")
    return [sums_of(metrics[name], outputs, references) for name in names]


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
