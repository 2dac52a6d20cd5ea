"""Metrics as sums and the tests between systems: against sacreBLEU, by hand, and under the null hypothesis."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from analysis.metrics.sums import nist_score, summed_metrics
from analysis.stats.output_tests import (
    OUTPUT_TESTS,
    SegmentSums,
    agreement,
    compare_outputs,
    conclusions,
    histogram,
    with_fallback,
)

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "table",
    "old",
    "big",
    ",",
    ".",
]


def texts(n: int, rng: np.random.Generator) -> list[str]:
    return [" ".join(rng.choice(WORDS, size=rng.integers(1, 14))) for _ in range(n)]


def noisy(lines: list[str], rate: float, rng: np.random.Generator) -> list[str]:
    return [
        " ".join(rng.choice(WORDS) if rng.random() < rate else word for word in line.split())
        for line in lines
    ]


@pytest.fixture(scope="module")
def references() -> list[str]:
    return texts(60, np.random.default_rng(1))


@pytest.fixture(scope="module")
def outputs(references) -> list[list[str]]:
    rng = np.random.default_rng(2)
    return [noisy(references, rate, rng) for rate in (0.1, 0.3, 0.35)]


def sums_of(outputs, references, names=("BLEU", "NIST", "TER", "chrF")):
    metrics = summed_metrics("en")
    return [
        SegmentSums(
            np.stack([metrics[name].statistics(output, references) for output in outputs]),
            metrics[name].score,
            metrics[name].higher_is_better,
        )
        for name in names
    ]


# Scores ---------------------------------------------------------------------------------------


def test_scores_are_those_of_sacrebleu(outputs, references):
    metrics = summed_metrics("en")
    strange = [["", "one"], ["no", "match"], ["a b c", "a b d e"], ["a", "a"]]
    cases = [*((output, references) for output in outputs)]
    cases += [([first], [second]) for first, second in strange]
    for name, theirs in (("BLEU", BLEU()), ("TER", TER()), ("chrF", CHRF())):
        for output, reference in cases:
            found = metrics[name].score(metrics[name].statistics(output, reference).sum(axis=0))
            expected = theirs.corpus_score(output, [reference]).score
            assert_allclose(found, expected, rtol=0, atol=1e-9, err_msg=f"{name} {output[:1]}")


def test_nist_by_hand():
    # "a" occurs twice among four words: 1 bit; "b" and "c" once: 2 bits. "a b" occurs once after "a" did twice: 1 bit.
    metric = summed_metrics("en", tokenise="none")["NIST"]
    rows = metric.statistics(["a b", "a x"], ["a b", "a c"])
    assert rows[0].tolist() == [1 + 2, 1, 0, 0, 0, 2, 1, 0, 0, 0, 2, 2]
    assert rows[1].tolist() == [1, 0, 0, 0, 0, 2, 1, 0, 0, 0, 2, 2]
    assert nist_score(rows.sum(axis=0)) == pytest.approx(4 / 4 + 1 / 2)
    # Two thirds as long as the reference: half the score.
    short = metric.statistics(["a b"], ["a b c"]).sum(axis=0)
    assert nist_score(short) == pytest.approx(((2 * math.log2(3)) / 2 + 0) / 2)
    assert nist_score(metric.statistics([""], ["a"]).sum(axis=0)) == 0


# Tests ----------------------------------------------------------------------------------------


def test_p_values_agree_with_sacrebleu(outputs, references):
    named = [(str(place), output) for place, output in enumerate(outputs)]
    n = 2000
    found = compare_outputs(
        sums_of(outputs, references, ("BLEU", "TER", "chrF")),
        rng=np.random.default_rng(3),
        n_resamples=n,
    )
    for kind, ours in (("bs", "bootstrap"), ("ar", "randomisation")):
        metrics = {"BLEU": BLEU(references=[references]), "TER": TER(references=[references]), "chrF": CHRF(references=[references])}  # fmt: skip
        _, scores = PairedTest(named, metrics, references=None, test_type=kind, n_samples=n)()
        for comparison, name in zip(found, metrics, strict=True):
            (values,) = (each for title, each in scores.items() if title.startswith(name))
            for place in (1, 2):
                theirs = values[place].p_value
                spread = math.sqrt(2 * max(theirs * (1 - theirs), 1 / n) / n)
                assert comparison.two_sided[ours][0, place] == pytest.approx(theirs, abs=4 * spread)
                assert comparison.estimates[place] == pytest.approx(values[place].score, abs=1e-9)


def test_the_better_system_wins_every_test_and_a_copy_none(outputs, references):
    found = compare_outputs(
        sums_of([outputs[0], outputs[1], outputs[0]], references), rng=np.random.default_rng(4)
    )
    for comparison in found:
        for test in OUTPUT_TESTS:
            assert comparison.pvalue[test][0, 1] < 0.01
            assert comparison.pvalue[test][1, 0] > 0.99
            assert comparison.pvalue[test][0, 2] == comparison.pvalue[test][2, 0] == 1
            assert comparison.two_sided[test][0, 2] == 1
        assert (comparison.low <= comparison.estimates).all()
        assert (comparison.estimates <= comparison.high).all()
    assert found[2].estimates[0] < found[2].estimates[1]


def test_two_segments_by_hand():
    """The score is a sum: with two segments there are four arrangements, and nine pairs of draws."""
    rows = np.array([[[3.0], [1.0]], [[0.0], [0.0]]])
    metric = SegmentSums(rows, lambda sums: sums[..., 0], True)
    (found,) = compare_outputs([metric], rng=np.random.default_rng(5), n_resamples=8000)
    # Differences are 4, 2, -2, -4, equally often.
    assert found.pvalue["randomisation"][0, 1] == pytest.approx(1 / 4, abs=0.02)
    assert found.two_sided["randomisation"][0, 1] == pytest.approx(1 / 2, abs=0.02)
    # Draws add up to 6, 4, 4 or 2, never to 0 or less; around their mean of 4, none reaches 4.
    assert found.pvalue["bootstrap"][0, 1] == pytest.approx(1 / 8001)
    assert found.pvalue["shifted"][0, 1] == pytest.approx(1 / 8001)
    assert set(found.differences["bootstrap"][0]) == {2, 4, 6}


def test_wrong_arguments_are_refused(outputs, references):
    sums = sums_of(outputs, references, ["TER"])
    with pytest.raises(ValueError, match="not 'sign'"):
        compare_outputs(sums, rng=np.random.default_rng(1), tests=["sign"])
    with pytest.raises(ValueError, match="same systems and segments"):
        compare_outputs(
            [*sums, *sums_of(outputs[:2], references, ["TER"])], rng=np.random.default_rng(1)
        )


def test_a_histogram_of_one_value_has_one_bin():
    counts, edges = histogram([2.0, 2.0])
    assert counts.tolist() == [2] and edges.tolist() == [1.5, 2.5]
    assert histogram([0.0, 1.0], 2)[0].tolist() == [1, 1]


# Agreement with people ------------------------------------------------------------------------


def test_the_published_interval():
    found = np.zeros((12, 12), dtype=int)
    human = found.copy()
    human[tuple(index[:13] for index in np.triu_indices(12, 1))] = 1
    share = agreement(found, human)
    assert (share.n_right, share.n) == (53, 66)
    assert [round(100 * value, 1) for value in (share.estimate, share.low, share.high)] == [80.3, 68.7, 89.1]  # fmt: skip


def test_conclusions_and_their_fallback():
    nan = np.nan
    adequacy = conclusions([[nan, 0.01, 0.4], [0.99, nan, 0.5], [0.6, 0.5, nan]], 0.05)
    assert adequacy.tolist() == [[0, 1, 0], [-1, 0, 0], [0, 0, 0]]
    fluency = conclusions([[nan, 0.99, 0.2], [0.01, nan, 0.01], [0.8, 0.99, nan]], 0.05)
    assert with_fallback(adequacy, fluency).tolist() == [[0, 1, 0], [-1, 0, 1], [0, -1, 0]]
    with pytest.raises(ValueError, match="two systems"):
        agreement([[0]], [[0]])


@pytest.mark.slow
@pytest.mark.parametrize("test", OUTPUT_TESTS)
def test_equal_systems_differ_in_one_test_of_twenty(test):
    """Two equally noisy outputs of new texts each time, by a metric with a denominator."""
    rng = np.random.default_rng(6)
    n_rejected = 0
    for _ in range(2000):
        lengths = rng.integers(5, 30, size=200).astype(float)
        rows = np.stack(
            [np.stack([rng.binomial(lengths.astype(int), 0.4), lengths], axis=1) for _ in range(2)]
        ).astype(float)
        metric = SegmentSums(rows, lambda sums: sums[..., 0] / sums[..., 1], True)
        (found,) = compare_outputs([metric], rng=rng, n_resamples=200, tests=[test])
        n_rejected += found.pvalue[test][0, 1] < 0.05
    assert 0.03 <= n_rejected / 2000 <= 0.07
