"""WMT22 quality estimation of words: nine submissions against the published tags, and tags from post-editions."""

import csv
import json
from typing import Any

import pytest
from django.core.management import call_command
from numpy.testing import assert_allclose

from analysis.experiments.words import TITLES
from analysis.metrics.word_tags import tags_from_post_edition
from tests.replication.locating import replication_data

# Shares module-scoped fixtures.
pytestmark = pytest.mark.xdist_group("wmt22 words")

PAIRS = ("en-cs", "en-de")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What the command writes about the published files."""
    results = {}
    for pair in PAIRS:
        folder = replication_data("wmt22-qe", "words", pair)
        out = tmp_path_factory.mktemp(pair)
        call_command(
            "experiment",
            "words",
            *("--gold", str(folder / f"test.2022.{pair}.tags")),
            *("--texts", str(folder / "test.2022.mt_tok")),
            *("--submissions", *map(str, sorted((folder / "submissions").iterdir()))),
            *("--resamples", "100", "--out", str(out)),
        )
        results[pair] = json.loads((out / "result.json").read_text())
    return results


def test_all_nine_submissions_have_the_expected_figures(
    results: dict[str, dict[str, Any]],
) -> None:
    with replication_data("wmt22-qe", "expected-words.csv").open(newline="") as file:
        expected = list(csv.DictReader(file))
    assert len(expected) == sum(len(result["rows"]) for result in results.values()) == 9
    columns = {
        "matthews": "mcc",
        "f1_bad": "f1_bad",
        "f1_ok": "f1_ok",
        "f1_product": "f1_multi",
        "f1_weighted": "f1_weighted",
    }
    for row in expected:
        result = results[row["lp"]]
        # The tag of <EOS> counts like that of any word.
        assert all(sentence["words"][-1] == "<EOS>" for sentence in result["sentences"])
        assert result["n_sentences"] == int(row["n_segments"])
        assert result["n_words"] == int(row["n_words"])
        assert_allclose(result["share_bad"], float(row["share_bad"]), rtol=0, atol=1e-9)
        (found,) = (each for each in result["rows"] if each["name"] == row["method"])
        estimates = dict(zip(TITLES, found["estimates"], strict=True))
        for name, column in columns.items():
            assert_allclose(estimates[name], float(row[column]), rtol=0, atol=1e-9)


def test_tagging_all_words_bad_scores_what_their_share_says(
    results: dict[str, dict[str, Any]],
) -> None:
    for result in results.values():
        share, all_bad = result["share_bad"], result["baselines"][0]
        f1_bad = all_bad["estimates"][[*TITLES].index("f1_bad")]
        assert_allclose(f1_bad, 2 * share / (1 + share), rtol=0, atol=1e-12)


# Lines of the Czech-English files, and the words and gaps that are BAD, found by reading.
BY_HAND: dict[int, tuple[set[int], set[int]]] = {
    1: ({3}, {5}),
    2: (set(), {10}),
    3: ({12, 16}, {20}),
    4: (set(), {10}),
    5: ({9}, set()),
    6: ({17}, {16}),
    7: (set(), set()),
    10: (set(), set()),
    11: (set(), {3}),
    12: ({6}, set()),
}


@pytest.mark.parametrize("line", BY_HAND)
def test_word_tags_of_post_editions_are_those_found_by_reading(line: int) -> None:
    output, edited = (
        replication_data("coling16-posteditions", f"{name}.cs-en")
        .read_text()
        .splitlines()[line - 1]
        for name in ("sys", "human-post-edit")
    )
    found = tags_from_post_edition(output.split(), edited.split())
    words = {place for place, is_bad in enumerate(found.words) if is_bad}
    gaps = {place for place, is_bad in enumerate(found.gaps) if is_bad}
    assert (words, gaps) == BY_HAND[line]
