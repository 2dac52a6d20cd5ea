"""Tags of gaps and of the source: from lines and from submissions with one word a line, with gold of every kind."""

import re
from pathlib import Path

import pytest
from django.core.management import call_command

from analysis.experiments.base import FilesOfExperimentRefused, run
from analysis.experiments.words import WORDS
from tests.experiments import TEXTS, raw
from tests.subprocesses import CHECKOUT

FEW = {"resamples": 20}
GAPS, SOURCE = FEW | {"part": "gaps"}, FEW | {"part": "source"}
# Deletes "small", and inserts "well" at the end.
EDITED = "a house .\nthe cat sleeps well\n"
SOURCES = "ein kleines Haus .\ndie Katze schläft\n"


def submission(kind: str, *sentences: str, name: str = "team") -> str:
    """A WMT submission with one tag a line; the words of gaps say where they are."""
    rows = [
        f"en-cs\t{name}\t{kind}\t{number}\t{place}\tw{place}\t{tag}"
        for number, tags in enumerate(sentences)
        for place, tag in enumerate(tags.split())
    ]
    # Other parts of the same sentences, to be skipped.
    others = [f"en-cs\t{name}\tMT\t0\t0\ta\tBAD"] if kind != "MT" else []
    return "\n".join(["1024", "560000", "6", *others, *rows]) + "\n"


def files(**texts: str):
    empty: dict[str, list] = {role.name: [] for role in WORDS.roles}
    return empty | {role: [raw(f"{role}.txt", text)] for role, text in texts.items()}


def test_gaps_of_post_editions_are_compared_with_those_of_a_submission():
    tags = ("OK OK OK OK OK", "OK OK OK BAD")
    inputs = files(
        texts=TEXTS, post_editions=EDITED, submissions=submission("gap", *tags), sources=SOURCES
    )
    result = run(WORDS, inputs, GAPS)
    # Only an insertion makes a gap BAD, a deletion does not.
    assert [row["gold"] for row in result["sentences"]] == ["OOOOO", "OOOB"]
    (row,) = result["rows"]
    assert row["name"] == "team" and row["estimates"][0] == 1
    assert result["sentences"][1]["words"] == ["·the", "the·cat", "cat·sleeps", "sleeps·"]
    assert result["sentences"][1]["source"] == "die Katze schläft"


def test_gaps_of_two_submissions_with_one_word_a_line():
    gold = submission("gap", "OK BAD", "BAD OK OK")
    result = run(WORDS, files(gold=gold, submissions=gold), GAPS)
    assert result["rows"][0]["estimates"][0] == 1 and result["n_words"] == 5
    assert not result["has_words"]


def test_source_tags_are_shown_with_the_words_of_the_source():
    gold = "OK BAD OK OK\nBAD OK OK\n"
    tags = submission("source", *gold.splitlines())
    result = run(WORDS, files(gold=gold, submissions=tags, sources=SOURCES), SOURCE)
    assert result["rows"][0]["estimates"][0] == 1
    assert result["sentences"][0]["words"] == ["ein", "kleines", "Haus", "."]
    # They are not repeated as the source of the sentence.
    assert result["sentences"][0]["source"] == "" and not result["has_words"]
    # Lines of tags say nothing about what they tag.
    assert run(WORDS, files(gold=gold, submissions=gold), SOURCE)["n_words"] == 7


def test_the_documented_example_prints_what_the_documentation_says(tmp_path, capsys):
    page = (Path(CHECKOUT) / "docs" / "experiments.md").read_text()
    shown = page.split("### Example: gaps and words of the source")[1]
    for name, text in re.findall(r"^\$ cat (\S+)\n(.*?)(?=^\$ cat|^```)", shown, re.M | re.S):
        (tmp_path / name).write_text(text)
    for command in re.findall(
        r"^manage.py (experiment words --part (?:gaps|source) .*)$", shown, re.M
    ):
        words = [
            str(tmp_path / word) if "." in word or "/" in word else word for word in command.split()
        ]
        call_command(*words)
        printed, _, _ = capsys.readouterr().out.partition("Wrote")
        assert "team has the highest" in printed and printed in shown


BAD_FILES = {
    "sources of another length": (
        {"sources": "ein Haus .\ndie Katze schläft\n"},
        SOURCE,
        "sources.txt: has 3 words in sentence 0, but the gold has 4",
    ),
    "outputs with source tags": ({"texts": TEXTS}, SOURCE, "texts.txt: are outputs; with tags of"),
    "outputs with another number of gaps": (
        {"texts": TEXTS},
        GAPS,
        "texts.txt: has 5 gaps in sentence 0, but the gold has 4",
    ),
    "sources that are not parallel": (
        {"sources": "ein kleines Haus .\n"},
        FEW,
        "sources.txt: has 1 line, but gold has 2",
    ),
    "source tags of post-editions": (
        {"gold": None, "post_editions": EDITED, "texts": TEXTS},
        SOURCE,
        "post-editions say nothing about words of the source",
    ),
    "source tags of error spans": (
        {"gold": None, "spans": "[]\n[]\n", "texts": TEXTS},
        SOURCE,
        "error spans say nothing about gaps or the source",
    ),
    "post-editions without outputs": (
        {"gold": None, "post_editions": EDITED},
        FEW,
        "post-editions and error spans also need the tokenised outputs",
    ),
    "error spans without outputs": (
        {"gold": None, "spans": "[]\n[]\n"},
        FEW,
        "post-editions and error spans also need the tokenised outputs",
    ),
    "an even number of tags in turn": (
        {},
        GAPS | {"interleaved": True},
        "gold.txt, line 1: has 4 tags; gaps and words in turn need an odd number",
    ),
    "other words than the gold": (
        {"gold": submission("MT", "OK BAD"), "submissions": submission("MT", "OK OK").replace("w1", "x")},
        FEW,
        "team: has other words than the gold in sentence 0",
    ),
    "the name of a baseline": (
        {"gold": submission("MT", "OK BAD"), "submissions": submission("MT", "OK OK", name="(all OK)")},
        FEW,
        r"a submission cannot be named '\(all OK\)'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("texts", "how", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_refused_with_its_message(texts, how, message):
    tags = "OK BAD OK OK\nBAD OK OK\n"
    given = {"gold": tags, "submissions": tags} | texts
    inputs = files(**{role: text for role, text in given.items() if text is not None})
    with pytest.raises(FilesOfExperimentRefused, match=message):
        run(WORDS, inputs, how)
