"""Tests between the five systems of newstest2016, Czech to English, next to sacreBLEU's."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from analysis.experiments.base import run
from analysis.experiments.comparing import sums_of
from analysis.experiments.systems import METRICS, SYSTEMS
from analysis.metrics.sums import summed_metrics
from analysis.scores.raw_files import RawFile
from analysis.stats.output_tests import OUTPUT_TESTS, compare_outputs
from tests.replication.locating import replication_data

# Shares a module-scoped fixture.
pytestmark = [pytest.mark.xdist_group("newstest2016 systems"), pytest.mark.slow]

N_RESAMPLES = 1000
# Segments to draw from, and how often, for two systems that are equally good.
N_POOLED, N_MIXES = 1500, 1000


def raw(path: Path) -> RawFile:
    return RawFile(path.name, path.read_bytes())


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    folder = replication_data("newstest2016-csen")
    inputs = {
        "outputs": [raw(path) for path in sorted((folder / "newstest2016" / "cs-en").iterdir())],
        "references": [raw(next((folder / "references").iterdir()))],
    }
    return run(SYSTEMS, inputs, {"resamples": N_RESAMPLES})


def test_all_pairs_of_five_systems_are_tested_by_four_metrics(result: dict[str, Any]) -> None:
    assert result["systems"] == ["PJATK", "cu-mergedtrees", "jhu-pbmt", "online-B", "uedin-nmt"]
    assert result["n_segments"] == 2999
    assert [row["metric"] for row in result["rows"]] == [*METRICS]
    assert all(len(row["histograms"]["shifted"]) == 10 for row in result["rows"])


@pytest.mark.parametrize(("kind", "test"), [("bs", "bootstrap"), ("ar", "randomisation")])
def test_p_values_agree_with_sacrebleu(result: dict[str, Any], kind: str, test: str) -> None:
    folder = replication_data("newstest2016-csen")
    outputs = [
        path.read_text().splitlines()
        for path in sorted((folder / "newstest2016" / "cs-en").iterdir())
    ]
    references = next((folder / "references").iterdir()).read_text().splitlines()
    rows = {row["metric"]: row for row in result["rows"]}
    makers = {"BLEU": BLEU, "chrF": CHRF, "TER": TER}
    # The closest pairs, each metric's own: sacreBLEU's TER takes a minute for every output.
    pairs = {"BLEU": (0, 3), "chrF": (4, 2)}
    for name, (first, second) in pairs.items():
        metric = makers[name](references=[references])
        named = [(str(place), outputs[place]) for place in (first, second)]
        _, scores = PairedTest(named, {name: metric}, None, test_type=kind, n_samples=N_RESAMPLES)()
        (values,) = (each for title, each in scores.items() if title.startswith(name))
        theirs = values[1].p_value
        spread = math.sqrt(2 * max(theirs * (1 - theirs), 1 / N_RESAMPLES) / N_RESAMPLES)
        ours = rows[name]["two_sided"][test][first][second]
        assert ours == pytest.approx(theirs, abs=4 * spread)
        for place, value in zip((first, second), values, strict=True):
            assert rows[name]["estimates"][place] == pytest.approx(value.score, abs=1e-9)


def test_outputs_exchanged_at_random_differ_in_one_test_of_twenty() -> None:
    """Two systems whose outputs are mixed are equally good. Every metric and test, on real sums."""
    folder = replication_data("newstest2016-csen")
    paths = sorted((folder / "newstest2016" / "cs-en").iterdir())[3:]
    outputs = [path.read_text().splitlines()[:N_POOLED] for path in paths]
    references = next((folder / "references").iterdir()).read_text().splitlines()[:N_POOLED]
    metrics = summed_metrics("en")
    sums = [sums_of(metrics[name], outputs, references) for name in METRICS]
    rng = np.random.default_rng(1)
    n_rejected = np.zeros((len(METRICS), len(OUTPUT_TESTS)))
    for _ in range(N_MIXES):
        drawn = rng.choice(N_POOLED, 400, replace=False)
        is_swapped = (rng.random(400) < 0.5)[None, :, None]
        mixed = [
            replace(each, rows=np.where(is_swapped, each.rows[::-1, drawn], each.rows[:, drawn]))
            for each in sums
        ]
        found = compare_outputs(mixed, rng=rng, n_resamples=199)
        n_rejected += [[each.pvalue[test][0, 1] <= 0.05 for test in OUTPUT_TESTS] for each in found]
    shares = n_rejected / N_MIXES
    assert shares.min() >= 0.03 and shares.max() <= 0.07, shares
