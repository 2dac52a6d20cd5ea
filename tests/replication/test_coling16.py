"""Graham et al., COLING 2016, Table 2: correlations with DA, using references and post-editions."""

import csv
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sacrebleu.metrics.lib_ter import translation_edit_rate

from analysis.metrics.catalogue import BuiltIn, metrics_for
from analysis.metrics.ter import translation_edits
from analysis.scores.gold_tables import read_gold
from analysis.scores.score_tables import GoldTable, ScoreTable, align
from analysis.stats.correlation import correlate
from tests.replication.locating import replication_data

# Shares scores that take long to compute.
pytestmark = pytest.mark.xdist_group("coling16")

PAIRS = ("cs-en", "de-en", "es-en", "en-de")
# Our names and the names in the table.
EXACT = {"sBLEU": "BLEU", "WER": "WER", "PER": "PER", "CDER": "CDER", "TER-Moses": "TER"}
# TER-Moses is in percent.
SCALES = {"TER-Moses": 100}
COMPARED_WITH = {"": "ref", "H-": "human-post-edit"}
# sacreBLEU makes other shifts than Moses, which the paper used.
TER_TOLERANCE = 0.013


@dataclass(frozen=True, eq=False)
class Pair:
    """The published tokenised texts and gold of a language pair."""

    gold: GoldTable
    translations: list[str]
    compared_with: dict[str, list[str]]
    metrics: dict[str, BuiltIn]

    def counts(self, name: str, prefix: str) -> list[tuple[float, ...]]:
        pairs = zip(self.translations, self.compared_with[prefix], strict=True)
        return [self.metrics[name].counts(*pair) for pair in pairs]

    @cache  # noqa: B019  (there are four pairs)
    def scores(self, name: str, prefix: str) -> np.ndarray:
        metric = self.metrics[name]
        return np.array([metric.of_segment(counts) for counts in self.counts(name, prefix)])


def lines_of(kind: str, pair: str) -> list[str]:
    text = replication_data("coling16-posteditions", f"{kind}.{pair}").read_text()
    return text.removesuffix("\n").split("\n")


@pytest.fixture(scope="module", params=PAIRS)
def pair(request) -> tuple[str, Pair]:
    name = request.param
    path = replication_data("coling16-posteditions", f"human-scores.{name}.csv")
    return name, Pair(
        gold=read_gold(path, kind="da", higher_is_better=True),
        translations=lines_of("sys", name),
        compared_with={prefix: lines_of(kind, name) for prefix, kind in COMPARED_WITH.items()},
        metrics=metrics_for(name[-2:], tokenise="none"),
    )


@pytest.fixture(scope="module")
def published() -> dict[tuple[str, str], float]:
    path = replication_data("coling16-posteditions", "expected-table2.csv")
    with path.open(newline="") as file:
        return {(row["metric"], row["lp"]): float(row["published"]) for row in csv.DictReader(file)}


def correlation(pair: Pair, name: str, prefix: str) -> float:
    table = ScoreTable(
        name=name,
        level="segment",
        keys=pair.gold.keys,
        scores=pair.scores(name, prefix),
        higher_is_better=pair.metrics[name].higher_is_better,
    )
    rows = align([table], pair.gold)
    return correlate(rows.scores[0], rows.gold, higher_is_better=rows.higher_is_better[0]).estimate


@pytest.mark.parametrize("prefix", COMPARED_WITH)
@pytest.mark.parametrize("name", EXACT)
def test_correlations_match_the_published_ones_to_three_decimals(pair, published, name, prefix):
    r = correlation(pair[1], name, prefix)
    assert f"{r:.3f}" == f"{published[prefix + EXACT[name], pair[0]]:.3f}"


@pytest.mark.parametrize("prefix", COMPARED_WITH)
def test_correlations_of_sacrebleus_ter_are_close_to_the_published_ones(pair, published, prefix):
    r = correlation(pair[1], "TER-cased", prefix)
    assert_allclose(r, published[prefix + "TER", pair[0]], atol=TER_TOLERANCE)


@pytest.mark.parametrize("prefix", COMPARED_WITH)
def test_ter_has_the_edits_that_sacrebleu_counts(pair, prefix):
    texts = zip(pair[1].translations, pair[1].compared_with[prefix], strict=True)
    for translation, target in list(texts)[:70]:
        words = translation.split(), target.split()
        assert translation_edits(*words) == translation_edit_rate(*words)[0]


@pytest.mark.parametrize("prefix", COMPARED_WITH)
@pytest.mark.parametrize("name", EXACT)
def test_segment_scores_match_the_expected_ones(pair, name, prefix):
    path = replication_data("coling16-posteditions", f"expected-segment-scores.{pair[0]}.csv")
    with path.open(newline="") as file:
        expected = [float(row[prefix + EXACT[name]]) for row in csv.DictReader(file)]
    scores = pair[1].scores(name, prefix) / SCALES.get(name, 1)
    assert_allclose(scores, expected, rtol=0, atol=1e-12)
