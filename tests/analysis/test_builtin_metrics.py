"""Built-in metrics: checked by hand, against sacreBLEU, and by properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sacrebleu.metrics import BLEU, CHRF, TER

from analysis.metrics import METRIC_NAMES
from analysis.metrics.catalogue import metrics_for, tokeniser_for
from analysis.metrics.edits import cover_disjoint_errors, position_independent_errors, word_errors
from analysis.metrics.smoothed_bleu import ngram_statistics, smoothed_bleu

ENGLISH = metrics_for("en")
PLAIN = metrics_for("en", tokenise="none")
TEXTS = ["The cat sat on the mat.", "A dog barked, loudly!", "It was 3.5 km away."]
REFERENCES = ["The cat is on the mat.", "A dog was barking loudly.", "It was 3.5 km from here."]

words = st.lists(st.sampled_from("abcd"), max_size=8)
texts = st.text(alphabet="abc .,ÄΩ我们", min_size=1, max_size=30).filter(str.strip)


def segment_score(metric, translation, reference):
    return metric.of_segment(metric.counts(translation, reference))


def system_score(metric, translations, references):
    rows = [metric.counts(*pair) for pair in zip(translations, references, strict=True)]
    return metric.of_system(
        np.array(rows, dtype=float), translations, [(reference,) for reference in references]
    )


def test_every_metric_name_has_its_metric():
    assert tuple(ENGLISH) == METRIC_NAMES


# By hand --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("translation", "reference", "wer", "per", "cder"),
    [
        ("a b c d", "a b c d", 0, 0, 0),
        ("", "a b", 2, 2, 2),
        # Two blocks are swapped: WER counts four errors, PER none. CDER needs three jumps: to the
        # second block, back to the first, and to the end.
        ("a b c d", "c d a b", 4, 0, 3),
        ("a b c", "a x c", 1, 1, 1),
        # An extra word costs one in each metric.
        ("a b x c", "a b c", 1, 1, 1),
        ("a b", "a b c", 1, 1, 1),
        # Words may be used again by jumping back, so repeats are cheap for CDER.
        ("a b", "a b a b", 2, 2, 1),
        # Dropping three words at the end is one jump.
        ("a x y z", "a", 3, 3, 1),
        ("x y z", "a", 3, 3, 2),
    ],
)
def test_edits_match_counts_by_hand(translation, reference, wer, per, cder):
    pair = translation.split(), reference.split()
    assert word_errors(*pair) == wer
    assert position_independent_errors(*pair) == per
    assert cover_disjoint_errors(*pair) == cder


def test_rates_are_not_clipped():
    assert segment_score(PLAIN["WER"], "x y z", "a") == 3
    assert segment_score(PLAIN["PER"], "x y z", "a") == 3


def test_smoothed_bleu_adds_one_to_every_order():
    # 3 of 4 words, 1 of 3 bigrams, 0 of 2 trigrams, 0 of 1 fourgrams; lengths equal.
    counts = ngram_statistics(["a", "b", "x", "c"], ["a", "b", "c", "d"])
    assert counts == (3, 1, 0, 0, 4, 3, 2, 1, 4, 4)
    assert_allclose(smoothed_bleu(counts), (4 / 5 * 2 / 4 * 1 / 3 * 1 / 2) ** (1 / 4))


def test_smoothed_bleu_has_a_brevity_penalty():
    counts = ngram_statistics(["a", "b", "c", "d"], ["a", "b", "c", "d", "e", "f"])
    assert_allclose(smoothed_bleu(counts), math.exp(1 - 6 / 4))


def test_an_empty_translation_gets_the_worst_score():
    worst = {"BLEU": 0, "chrF": 0, "TER": 100, "sBLEU": 0, "WER": 1, "PER": 1, "CDER": 1}
    worst |= {"TER-cased": 100, "TER-Moses": 100}
    assert {name: segment_score(ENGLISH[name], "", "a b c") for name in METRIC_NAMES} == worst


def test_every_word_is_an_error_when_the_reference_is_empty():
    assert segment_score(PLAIN["WER"], "a b", " ") == 1
    assert segment_score(PLAIN["WER"], " ", " ") == 0


def test_a_system_is_scored_as_one_long_text_not_by_a_mean():
    # The mean of the segments would be 1 / 2.
    assert system_score(PLAIN["WER"], ["a", "x y z"], ["a", "a b c"]) == 3 / 4


# Against sacreBLEU ----------------------------------------------------------------------------


@pytest.mark.parametrize(("translation", "reference"), [*zip(TEXTS, REFERENCES, strict=True)])
def test_segment_scores_match_sacrebleu(translation, reference):
    theirs_by_name = {"BLEU": BLEU(effective_order=True), "chrF": CHRF(), "TER": TER()}
    for name, theirs in theirs_by_name.items():
        expected = theirs.sentence_score(translation, [reference]).score
        assert_allclose(segment_score(ENGLISH[name], translation, reference), expected)


@pytest.mark.parametrize(("name", "theirs"), [("BLEU", BLEU()), ("chrF", CHRF()), ("TER", TER())])
def test_system_scores_match_sacrebleu(name, theirs):
    expected = theirs.corpus_score(TEXTS, [REFERENCES]).score
    assert_allclose(system_score(ENGLISH[name], TEXTS, REFERENCES), expected)


def test_signatures_are_sacrebleus_own():
    theirs = BLEU()
    theirs.corpus_score(["a"], [["a"]])
    assert ENGLISH["BLEU"].signatures["system"] == f"BLEU|{theirs.get_signature()}"
    assert "eff:yes" in ENGLISH["BLEU"].signatures["segment"]
    assert "case:lc" in ENGLISH["TER"].signatures["segment"]


def test_different_settings_have_different_signatures():
    settings = [metrics_for("zh"), metrics_for("th"), PLAIN, ENGLISH]
    for name in ("BLEU", "sBLEU", "WER", "PER", "CDER"):
        assert len({metrics[name].signatures["segment"] for metrics in settings}) == len(settings)
    assert len({metric.signatures["segment"] for metric in ENGLISH.values()}) == len(METRIC_NAMES)


def test_only_ter_ignores_case():
    scores = {name: segment_score(ENGLISH[name], "the cat", "The cat") for name in METRIC_NAMES}
    assert scores["TER"] == 0 and scores["TER-cased"] == scores["TER-Moses"] == 50
    assert "case:mixed" in ENGLISH["TER-cased"].signatures["segment"]


def test_human_targeted_metrics_are_named_and_signed_as_such():
    targeted = ENGLISH["TER"].targeted()
    assert targeted.name == "HTER" and not targeted.higher_is_better
    assert targeted.signatures["segment"].startswith("ref:post-edition|TER|")


# Languages ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "tokeniser"),
    [("en", "13a"), ("zh", "zh"), ("zh-Hant", "zh"), ("th", "char"), ("hi", "13a")],
)
def test_the_tokeniser_suits_the_language(language, tokeniser):
    assert tokeniser_for(language) == tokeniser


def test_japanese_is_tokenised_by_dictionary_or_by_character():
    assert tokeniser_for("ja") in ("ja-mecab", "char")


@pytest.mark.parametrize(
    ("language", "translation", "reference"),
    [
        ("zh", "我们今天去北京。", "我们明天去北京。"),
        ("ja", "今日は東京へ行く", "明日は東京へ行く"),
        ("th", "วันนี้อากาศดี", "วันนี้อากาศร้อน"),
    ],
)
def test_a_language_without_spaces_is_not_one_long_word(language, translation, reference):
    metrics = metrics_for(language)
    for name in ("TER", "WER", "PER", "CDER"):
        scale = 100 if name == "TER" else 1
        assert 0 < segment_score(metrics[name], translation, reference) < scale


# Properties -----------------------------------------------------------------------------------

PERFECT = {"BLEU": 100, "chrF": 100, "sBLEU": 1}


@given(texts, st.sampled_from(METRIC_NAMES))
def test_the_reference_itself_is_perfect(text, name):
    assert_allclose(segment_score(ENGLISH[name], text, text), PERFECT.get(name, 0), atol=1e-9)


@given(st.lists(texts, min_size=1, max_size=4), st.sampled_from(["TER", "sBLEU", "WER", "CDER"]))
def test_a_system_that_outputs_the_references_is_perfect(references, name):
    assert_allclose(
        system_score(ENGLISH[name], references, references), PERFECT.get(name, 0), atol=1e-9
    )


@given(words, words)
def test_per_and_cder_never_exceed_wer(translation, reference):
    wer = word_errors(translation, reference)
    assert position_independent_errors(translation, reference) <= wer
    assert cover_disjoint_errors(translation, reference) <= wer


@given(words, words)
def test_only_the_identity_of_words_matters(translation, reference):
    renamed = {"a": "zebra", "b": "a", "c": "ß", "d": "我"}
    pair = [renamed[word] for word in translation], [renamed[word] for word in reference]
    for errors in (word_errors, position_independent_errors, cover_disjoint_errors):
        assert errors(*pair) == errors(translation, reference)


@given(words, words)
def test_word_order_does_not_matter_to_per(translation, reference):
    assert position_independent_errors(translation[::-1], reference) == position_independent_errors(
        translation, reference
    )


@given(words, words)
def test_cder_is_the_shortest_path_through_the_whole_grid(translation, reference):
    assert cover_disjoint_errors(translation, reference) == _slow_cder(translation, reference)


def _slow_cder(translation, reference):
    """Find the shortest path by relaxing every step of the grid until nothing changes."""
    n, m = len(translation), len(reference)
    cost = np.full((m + 1, n + 1), 10_000)
    cost[0, 0] = 0
    while True:
        before = cost.copy()
        for row in range(m + 1):
            for place in range(n + 1):
                steps = [cost[row, place], cost[row].min() + 1]
                if place:
                    steps.append(cost[row, place - 1] + 1)
                if row:
                    steps.append(cost[row - 1, place] + 1)
                if row and place:
                    differs = translation[place - 1] != reference[row - 1]
                    steps.append(cost[row - 1, place - 1] + differs)
                cost[row, place] = min(steps)
        if (cost == before).all():
            return cost[m, n]
