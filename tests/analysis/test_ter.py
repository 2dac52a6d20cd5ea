"""Translation edit rate: the same edits as sacreBLEU counts, on thousands of pairs."""

import json
import os
import random
import subprocess
import sys

import pytest
from sacrebleu.metrics import lib_ter
from sacrebleu.metrics.lib_ter import translation_edit_rate

from analysis.metrics import ter
from analysis.metrics.ter import translation_edits
from tests.subprocesses import CHECKOUT


def random_pair(rng: random.Random, longest: int) -> tuple[list[str], list[str]]:
    """Return words, and the same ones with runs moved and single words replaced."""
    vocabulary = [str(number) for number in range(rng.choice([3, 8, 30, 300]))]
    words = rng.choices(vocabulary, k=rng.randrange(longest))
    target = list(words)
    for _ in range(rng.randrange(5)):
        start, end = sorted(rng.choices(range(len(target) + 1), k=2))
        run, target = target[start:end], target[:start] + target[end:]
        place = rng.randrange(len(target) + 1)
        target = target[:place] + run + target[place:]
    share = rng.choice([0, 0.1, 0.4, 1])
    target = [rng.choice(vocabulary) if rng.random() < share else word for word in target]
    return words, target[: rng.randrange(longest) + 1]


@pytest.mark.parametrize(("longest", "n"), [(6, 2000), (16, 300), (35, 20)])
def test_edits_are_those_of_sacrebleu(longest, n):
    rng = random.Random(longest)
    for _ in range(n):
        pair = random_pair(rng, longest)
        assert translation_edits(*pair) == translation_edit_rate(*pair)[0], pair


@pytest.mark.parametrize(
    ("translation", "reference", "n_edits"),
    [
        ("", "", 0),
        ("", "a b", 2),
        ("a b", "", 2),
        ("a b c", "a b c", 0),
        ("a b c d e f", "d e f a b c", 1),
        ("a x c", "a b c", 1),
        # One shift and one replaced word.
        ("c d a x", "a b c d", 2),
    ],
)
def test_edits_match_counts_by_hand(translation, reference, n_edits):
    assert translation_edits(translation.split(), reference.split()) == n_edits


@pytest.fixture
def handed_over(monkeypatch):
    """A band of few words, and the pairs that are left to sacreBLEU because they need more."""
    pairs = []

    def counted(*pair):
        pairs.append(pair)
        return translation_edit_rate(*pair)

    monkeypatch.setattr(ter, "translation_edit_rate", counted)
    monkeypatch.setattr(ter, "BAND", 4)
    monkeypatch.setattr(lib_ter, "_BEAM_WIDTH", 4)
    return pairs


def test_edits_are_those_of_sacrebleu_at_the_edge_of_its_band(handed_over):
    rng = random.Random(1)
    for _ in range(300):
        pair = random_pair(rng, 16)
        assert translation_edits(*pair) == translation_edit_rate(*pair)[0], pair
    assert handed_over


def test_an_alignment_outside_the_band_is_left_to_sacrebleu(handed_over):
    # The words that both texts share are five words from the diagonal.
    pair = list("abcdeuvwxyz"), list("uvwxyzfghij")
    assert translation_edits(*pair) == translation_edit_rate(*pair)[0]
    assert handed_over == [pair]


def test_many_edits_inside_the_band_are_not(handed_over):
    assert translation_edits(list("abcdefghij"), list("klmnopqrst")) == 10
    assert not handed_over


def test_no_more_shifts_are_tried_than_by_sacrebleu():
    rng = random.Random(1)
    pair = rng.choices("ab", k=24), rng.choices("ab", k=24)
    assert translation_edits(*pair) == translation_edit_rate(*pair)[0]


# Reads pairs of texts as JSON, and writes what is counted in them.
PROGRAM = """
import json, sys
from rapidfuzz.distance import Levenshtein
from analysis.metrics.edits import cover_disjoint_errors, position_independent_errors, word_errors
from analysis.metrics.ter import translation_edits
from analysis.metrics.word_tags import tags_from_post_edition
counters = translation_edits, word_errors, position_independent_errors, cover_disjoint_errors
pairs = json.load(sys.stdin)
counts = [[count(*pair) for count in counters] for pair in pairs]
tags = [tags_from_post_edition(*pair) for pair in pairs]
result = [Levenshtein.distance.__module__, counts, [[each.words, each.gaps] for each in tags]]
json.dump(result, sys.stdout)
"""


def counted_with(implementation, pairs):
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        env=os.environ | {"RAPIDFUZZ_IMPLEMENTATION": implementation},
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def test_edits_and_tags_are_the_same_without_compiled_parts():
    rng = random.Random(7)
    pairs = [random_pair(rng, 25) for _ in range(200)]
    compiled, *fast = counted_with("cpp", pairs)
    plain, *slow = counted_with("python", pairs)
    assert (compiled == plain, plain) == (False, "rapidfuzz.distance.Levenshtein_py")
    assert slow == fast
    assert fast[0][0][0] == translation_edits(*pairs[0])
