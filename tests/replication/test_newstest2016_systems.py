"""Tests between the five systems of newstest2016, Czech to English, next to sacreBLEU's."""

import math
import random
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from analysis.experiments.base import run
from analysis.experiments.comparing import sums_of
from analysis.experiments.systems import METRICS, SYSTEMS
from analysis.metrics.sums import summed_metrics
from analysis.scores.raw_files import RawFile
from analysis.stats.output_tests import OUTPUT_TESTS, OutputComparison, compare_outputs
from tests.replication.locating import replication_data

# Shares a module-scoped fixture.
pytestmark = [pytest.mark.xdist_group("newstest2016 systems"), pytest.mark.slow]

N_RESAMPLES = 1000
# How many segments sacreBLEU counts edits in: it would take minutes for all of them.
N_TER = 600
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


@dataclass(frozen=True)
class Counted:
    """What sacreBLEU counted in the outputs of all systems, and our comparison of the same texts."""

    metric: Any
    outputs: list[list[str]]
    rows: np.ndarray
    ours: OutputComparison
    sign: int


@pytest.fixture(scope="module")
def counted() -> dict[str, Counted]:
    folder = replication_data("newstest2016-csen")
    paths = sorted((folder / "newstest2016" / "cs-en").iterdir())
    references = next((folder / "references").iterdir()).read_text().splitlines()
    metrics, found = summed_metrics("en"), {}
    for name, make in {"BLEU": BLEU, "chrF": CHRF, "TER": TER}.items():
        n = N_TER if name == "TER" else len(references)
        outputs = [path.read_text().splitlines()[:n] for path in paths]
        metric = make(references=[references[:n]])
        # Each output once, because TER takes a minute.
        rows = {
            tuple(output): metric._extract_corpus_statistics(output, None) for output in outputs
        }
        metric._extract_corpus_statistics = lambda texts, _, rows=rows: rows[tuple(texts)]
        (ours,) = compare_outputs(
            [sums_of(metrics[name], outputs, references[:n])],
            rng=np.random.default_rng(2),
            n_resamples=N_RESAMPLES,
        )
        sign = 1 if metrics[name].higher_is_better else -1
        found[name] = Counted(metric, outputs, np.array([*rows.values()], float), ours, sign)
    return found


def assert_close(ours: float, theirs: float) -> None:
    """Two p-values, each from as many resamples, differ by chance alone."""
    spread = math.sqrt(2 * max(theirs * (1 - theirs), 1 / N_RESAMPLES) / N_RESAMPLES)
    assert ours == pytest.approx(theirs, abs=4 * spread)


@pytest.mark.parametrize("name", ["BLEU", "chrF", "TER"])
@pytest.mark.parametrize(("kind", "test"), [("bs", "bootstrap"), ("ar", "randomisation")])
def test_p_values_of_all_pairs_agree_with_sacrebleu(
    counted: dict[str, Counted], name: str, kind: str, test: str
) -> None:
    of, n_pairs = counted[name], 0
    for first in range(4):
        named = [(str(place), of.outputs[place]) for place in range(first, 5)]
        paired = PairedTest(named, {name: of.metric}, None, test_type=kind, n_samples=N_RESAMPLES)
        (values,) = (each for title, each in paired()[1].items() if title.startswith(name))
        for second, value in enumerate(values[1:], start=first + 1):
            assert_close(of.ours.two_sided[test][first, second], value.p_value)
            assert of.ours.estimates[second] == pytest.approx(value.score, abs=1e-9)
            n_pairs += 1
        assert of.ours.estimates[first] == pytest.approx(values[0].score, abs=1e-9)
    assert n_pairs == 10


@pytest.mark.parametrize("name", ["BLEU", "chrF", "TER"])
def test_one_sided_p_values_agree_with_a_loop_over_resamples(
    counted: dict[str, Counted], name: str
) -> None:
    """By the definitions, with sacreBLEU's counts and scores, and resamples of its own."""
    of, generator = counted[name], random.Random(3)
    n = of.rows.shape[1]

    def score(sums: np.ndarray) -> float:
        return of.sign * of.metric._compute_score_from_stats(sums.tolist()).score

    observed = [score(rows.sum(axis=0)) for rows in of.rows]
    drawn = []
    for _ in range(N_RESAMPLES):
        places = generator.choices(range(n), k=n)
        drawn.append([score(rows[places].sum(axis=0)) for rows in of.rows])
    for x, y in permutations(range(5), 2):
        difference = observed[x] - observed[y]
        lost = sum(scores[x] <= scores[y] for scores in drawn)
        assert_close(of.ours.pvalue["bootstrap"][x, y], (lost + 1) / (N_RESAMPLES + 1))
        differences = [scores[x] - scores[y] for scores in drawn]
        tau = sum(differences) / N_RESAMPLES
        extreme = sum(each - tau >= difference for each in differences)
        assert_close(of.ours.pvalue["shifted"][x, y], (extreme + 1) / (N_RESAMPLES + 1))
    for x, y in combinations(range(5), 2):
        above = below = 0
        for _ in range(N_RESAMPLES):
            places = [place for place in range(n) if generator.random() < 0.5]
            change = of.rows[y][places].sum(axis=0) - of.rows[x][places].sum(axis=0)
            exchanged = score(of.rows[x].sum(axis=0) + change) - score(
                of.rows[y].sum(axis=0) - change
            )
            above += exchanged >= observed[x] - observed[y]
            below += exchanged <= observed[x] - observed[y]
        assert_close(of.ours.pvalue["randomisation"][x, y], (above + 1) / (N_RESAMPLES + 1))
        assert_close(of.ours.pvalue["randomisation"][y, x], (below + 1) / (N_RESAMPLES + 1))


def nist_by_definition(outputs: list[str], references: list[str]) -> float:
    """NIST as in mteval-v13a, for one reference and texts whose words are apart: no code in common with ours."""
    occurs: dict[str, int] = {}
    n_words = 0
    for reference in references:
        words = reference.split()
        n_words += len(words)
        for start in range(len(words)):
            for end in range(start + 1, min(start + 5, len(words)) + 1):
                gram = " ".join(words[start:end])
                occurs[gram] = occurs.get(gram, 0) + 1
    gained, totals, length = [0.0] * 5, [0] * 5, 0
    for output, reference in zip(outputs, references, strict=True):
        ours, theirs = output.split(), reference.split()
        length += len(ours)
        for order in range(5):
            left = [" ".join(theirs[at : at + order + 1]) for at in range(len(theirs) - order)]
            for at in range(len(ours) - order):
                gram = " ".join(ours[at : at + order + 1])
                totals[order] += 1
                if gram in left:
                    left.remove(gram)
                    before = occurs[gram.rpartition(" ")[0]] if order else n_words
                    gained[order] += math.log2(before / occurs[gram])
    beta = -math.log(0.5) / math.log(1.5) / math.log(1.5)
    penalty = math.exp(-beta * math.log(min(length / n_words, 1)) ** 2)
    return penalty * sum(gain / total for gain, total in zip(gained, totals, strict=True))


def test_nist_agrees_with_its_definition(result: dict[str, Any]) -> None:
    folder = replication_data("newstest2016-csen")
    tokenise = Tokenizer13a()
    references = [
        tokenise(line) for line in next((folder / "references").iterdir()).read_text().splitlines()
    ]
    (row,) = (each for each in result["rows"] if each["metric"] == "NIST")
    paths = sorted((folder / "newstest2016" / "cs-en").iterdir())
    for path, estimate in zip(paths, row["estimates"], strict=True):
        outputs = [tokenise(line) for line in path.read_text().splitlines()]
        assert nist_by_definition(outputs, references) == pytest.approx(estimate, abs=1e-9)


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
