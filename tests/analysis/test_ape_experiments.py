"""Automatic post-editing: edits by kind, what became of sentences, refusals, and the same result everywhere."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from numpy.testing import assert_allclose
from sacrebleu.metrics import BLEU, CHRF, TER

from analysis.experiments.ape import APE, MEASURES, _mean_of_sentences
from analysis.experiments.ape_tables import NOTHING_DONE
from analysis.experiments.base import ExperimentRefused, FilesOfExperimentRefused, run
from analysis.experiments.edited_sentences import OUTCOMES, context
from analysis.metrics.sums import ter_score
from analysis.metrics.ter import EditKinds, edit_kinds, translation_edits
from analysis.models import Experiment
from analysis.stats.output_tests import SegmentSums, compare_outputs
from da_platform.jobs.running import run_job
from tests.api.callers import caller
from tests.experiments import APE_TEXTS, ape_files, raw
from tests.people import client_of
from tests.subprocesses import CHECKOUT

FEW = {"resamples": 400}


@pytest.fixture(scope="module")
def result():
    return run(APE, ape_files(), FEW)


# Edits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a b c", "a b c", EditKinds(0, 0, 0, 0)),
        ("a b c", "a b d c", EditKinds(1, 0, 0, 0)),
        ("a b d c", "a b c", EditKinds(0, 1, 0, 0)),
        ("a b c", "a x c", EditKinds(0, 0, 1, 0)),
        ("d e a b c", "a b c d e", EditKinds(0, 0, 0, 1)),
        # A run moves, a word is added, and another is replaced.
        ("d e a b c g", "a b c d e f x", EditKinds(1, 0, 1, 1)),
        ("", "a b", EditKinds(2, 0, 0, 0)),
        ("a b", "", EditKinds(0, 2, 0, 0)),
    ],
)
def test_edits_by_kind(before, after, expected):
    assert edit_kinds(before.split(), after.split()) == expected


def test_kinds_of_edits_add_up_to_those_of_ter():
    rng = np.random.default_rng(1)
    for _ in range(300):
        before, after = (list(rng.choice([*"abcdefg"], size=rng.integers(1, 15))) for _ in "ab")
        kinds = edit_kinds(before, after)
        total = kinds.insertions + kinds.deletions + kinds.substitutions + kinds.shifts
        assert total == translation_edits(before, after)
        assert len(after) - len(before) == kinds.insertions - kinds.deletions


# Measuring ------------------------------------------------------------------------------------


def test_scores_are_those_of_sacrebleu_against_the_post_editions(result):
    edits = [APE_TEXTS["post_editions"].splitlines()]
    theirs = {
        "TER": TER(case_sensitive=True),
        "TER-lc": TER(),
        "BLEU": BLEU(),
        "chrF": CHRF(),
    }
    rows = {row["metric"]: row for row in result["rows"]}
    assert [*rows] == [*MEASURES]
    assert result["systems"] == [NOTHING_DONE, "careful", "eager"]
    for place, name in enumerate(("before", "careful", "eager")):
        lines = APE_TEXTS[name].splitlines()
        for measure, metric in theirs.items():
            expected = metric.corpus_score(lines, edits).score
            assert rows[measure]["estimates"][place] == pytest.approx(expected, abs=1e-9)
        for measure, metric in (("TER-mean", TER(case_sensitive=True)), ("TER-mean-lc", TER())):
            by_sentence = [
                metric.sentence_score(line, [edit]).score
                for line, edit in zip(lines, edits[0], strict=True)
            ]
            assert rows[measure]["estimates"][place] == pytest.approx(np.mean(by_sentence))


def test_differences_from_doing_nothing_have_intervals(result):
    row = next(row for row in result["rows"] if row["metric"] == "TER")
    careful, eager = row["differences"]
    assert_allclose(careful["estimate"], row["estimates"][1] - row["estimates"][0])
    assert careful["low"] < careful["estimate"] < careful["high"] < 0
    assert eager["low"] < 0 < eager["high"]
    assert row["adjusted"]["bootstrap"][1][0] < 0.05
    assert run(APE, ape_files(), FEW) == result


def test_a_copy_is_no_better_than_doing_nothing():
    copied = run(APE, ape_files(outputs=APE_TEXTS["before"]), FEW)
    for row in copied["rows"]:
        assert row["pvalue"]["bootstrap"][1][0] == row["pvalue"]["bootstrap"][0][1] == 1
        assert row["differences"] == [{"estimate": 0, "low": 0, "high": 0}]
    (changes,) = copied["changes"]
    assert changes["modified"] == 0 and changes["precision"] is None
    assert "not significantly different from doing nothing" in APE.findings(copied)[0]
    assert APE.tables(copied) and all(each.render("svg") for each in APE.pictures(copied))


def test_sentences_are_counted_by_what_became_of_them(result):
    careful, eager = result["changes"]
    assert (careful["modified"], careful["improved"], careful["deteriorated"]) == (6, 5, 0)
    assert (eager["modified"], eager["improved"], eager["deteriorated"]) == (12, 5, 7)
    assert careful["same"] == 1 and careful["precision"]["n_right"] == 5
    # "stand" -> "stands", "has read" -> "read", "meet us" -> "meet", "has gifted" -> "gave", "garden" -> "the garden",
    # "at" -> "in".
    assert careful["edits"] == {"insertions": 1, "deletions": 3, "substitutions": 3, "shifts": 0}


def test_sentences_are_listed_by_system_and_outcome(result):
    shown = context(result, {"system": "eager", "list": "deteriorated"})
    assert shown["n_listed"] == 7 and shown["system"] == "eager"
    changes = [each.n_after - each.n_before for each in shown["sentences"]]
    assert changes == sorted(changes, reverse=True) and min(changes) > 0
    door = next(each for each in shown["sentences"] if each.number == 8)
    assert ("replace", "close", "shut") in door.by_system
    assert ("replace", "shut", "close") in door.by_people
    # What cannot be understood falls back to the first system, and its first list with sentences.
    first = context(result, {"system": "x", "list": "y"})
    assert (first["system"], first["outcome"], first["n_listed"]) == ("careful", "improved", 5)
    counts = [context(result, {"system": "careful", "list": name})["n_listed"] for name in OUTCOMES]
    assert counts == [0, 5, 1, 6]


def test_a_sentence_without_a_post_edition_is_left_out(result):
    lines = APE_TEXTS["post_editions"].splitlines()
    lines[7] = ""
    fewer = run(APE, ape_files(post_editions="\n".join(lines) + "\n"), FEW)
    assert fewer["n_segments"] == 11 and fewer["n_left_out"] == 1
    assert fewer["changes"][1]["deteriorated"] == 6
    assert 8 not in [sentence["number"] for sentence in fewer["sentences"]]
    assert "Sentences left out because they have no post-edition: 1." in APE.findings(fewer)
    assert "1 without one left out" in APE.tables(fewer)[0].note


def test_one_system_needs_no_table_of_pairs(result):
    names = [table.name for table in APE.tables(result)]
    assert names == ["ape-scores", "ape-tests", "ape-pairs", "ape-sentences", "ape-edits"]
    one = run(APE, ape_files(outputs=APE_TEXTS["careful"]), FEW | {"main": "BLEU"})
    assert "ape-pairs" not in [table.name for table in APE.tables(one)]
    assert [row[0].text for row in APE.tables(one)[0].rows] == ["outputs", NOTHING_DONE]


# Refusals -------------------------------------------------------------------------------------

BAD_FILES = {
    "fewer lines": ({"post_editions": "One line.\n"}, "post_editions.txt: has 1 line, but before.txt has 12"),
    "outputs of another length": ({"outputs": "One line.\n"}, "outputs.txt: has 1 line, but before.txt has 12"),
    "sources of another length": ({"sources": "Eins.\n"}, "sources.txt: has 1 line"),
    "an empty source": ({"sources": APE_TEXTS["sources"].replace("Wir treffen uns am Bahnhof.", "")}, "line 3: is empty"),
    "no post-edition": ({"post_editions": "\n" * 12}, "has only empty lines"),
    "no lines at all": ({"before": ""}, "before.txt: is empty"),
    "a control character": ({"outputs": APE_TEXTS["eager"].replace("home", "ho\x00me")}, "outputs.txt, line 1: "),
}  # fmt: skip


@pytest.mark.parametrize(("texts", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_refused_with_its_message(texts, message):
    with pytest.raises(FilesOfExperimentRefused, match=message):
        run(APE, ape_files(**texts), FEW)


def test_missing_files_and_impossible_names_and_options_are_refused():
    for role in ("before", "outputs", "post_editions"):
        with pytest.raises(FilesOfExperimentRefused, match="file is missing"):
            run(APE, ape_files() | {role: []}, FEW)
    taken = ape_files() | {"outputs": [raw(f"{NOTHING_DONE}.txt", APE_TEXTS["eager"])]}
    with pytest.raises(FilesOfExperimentRefused, match="cannot be named"):
        run(APE, taken, FEW)
    twice = ape_files() | {"outputs": [raw("a.txt", APE_TEXTS["eager"])] * 2}
    with pytest.raises(FilesOfExperimentRefused, match="2 systems are named 'a'"):
        run(APE, twice, FEW)
    for given, message in (
        ({"language": "klingonish"}, "'klingonish' is not a known language code"),
        ({"tokenise": "moses"}, "tokenise must be one of"),
        ({"main": "NIST"}, "main must be one of TER"),
    ):
        with pytest.raises(ExperimentRefused, match=message):
            run(APE, ape_files(), given)


# Everywhere the same --------------------------------------------------------------------------


def test_the_documented_example_prints_what_the_documentation_says(tmp_path, capsys):
    folder = Path(CHECKOUT) / "examples" / "ape"
    outputs = sorted(str(path) for path in (folder / "outputs").iterdir())
    single = [
        word
        for role in ("before", "post-editions", "sources")
        for word in (f"--{role}", str(folder / f"{role}.txt"))
    ]
    call_command("experiment", "ape", *single, "--outputs", *outputs, "--out", str(tmp_path / "r"))
    page = (Path(CHECKOUT) / "docs" / "experiments.md").read_text()
    printed, _, _ = capsys.readouterr().out.partition("Wrote")
    assert printed in page
    assert r"\begin{table}" in (tmp_path / "r" / "tables" / "ape-tests.tex").read_text()
    assert (tmp_path / "r" / "figures" / "ape-edits.pdf").is_file()
    rows = list(
        csv.DictReader((tmp_path / "r" / "tables" / "ape-list.csv").read_text().splitlines())
    )
    assert len(rows) == 24 and rows[15]["outcome"] == "deteriorated"
    assert (rows[15]["line"], rows[15]["system"], rows[15]["edits after"]) == ("8", "eager", "1")
    assert rows[15]["after"] == "Please shut the door."


def upload(name: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(f"{name}.txt", APE_TEXTS[name].encode())


@pytest.mark.django_db
def test_page_and_api_give_the_same_result(result):
    sent = {
        "name": "News",
        "before": upload("before"),
        "outputs": [upload("careful"), upload("eager")],
        "post_editions": upload("post_editions"),
        "sources": upload("sources"),
    }
    ada = caller("researcher")
    answer = ada.upload("/experiments", sent | {"kind": "ape", "options": json.dumps(FEW)})
    assert answer.status_code == 202, answer.content
    experiment = Experiment.objects.get()
    run_job(experiment.job.pk)
    stored = ada.get(f"/experiments/{experiment.code}").json()
    assert stored["result"]["rows"] == json.loads(json.dumps(result["rows"]))
    assert stored["result"]["signature"] == result["signature"]
    client = client_of("researcher")
    address = reverse("experiment", args=[experiment.code])
    page = client.get(address, {"system": "eager"}).content.decode()
    assert "careful has TER" in page and "figure-ape-edits" in page
    assert "<del>close</del> <ins>shut</ins>" in page and "Die Suppe ist" in page
    listed = client.get(reverse("experiment_table", args=[experiment.code, "ape-list", "csv"]))
    assert listed.content.startswith(b"line,edits before,edits after,system,outcome,source")
    assert stored["tables"][-1] == "ape-list"
    form = client.get(reverse("new_experiment", args=["ape"])).content.decode()
    assert 'name="before"' in form and 'name="option_main"' in form


@pytest.mark.slow
def test_changes_that_help_as_much_as_they_harm_differ_in_one_test_of_twenty():
    """By TER averaged over sentences; better and worse than doing nothing."""
    rng = np.random.default_rng(7)
    n_rejected = np.zeros(2)
    for _ in range(2000):
        n_words = rng.integers(5, 30, size=200)
        # Some sentences are left as they are, as a post-editor does.
        edits = rng.binomial(n_words, 0.3, size=(2, 200))
        edits[1] = np.where(rng.random(200) < 0.4, edits[0], edits[1])
        ter = SegmentSums(
            np.stack([edits, np.broadcast_to(n_words, edits.shape)], axis=-1), ter_score, False
        )
        (found,) = compare_outputs(
            [_mean_of_sentences(ter)], rng=rng, n_resamples=200, tests=["bootstrap"]
        )
        p = found.pvalue["bootstrap"]
        n_rejected += [p[0, 1] < 0.05, p[1, 0] < 0.05]
    assert (n_rejected / 2000 >= 0.03).all() and (n_rejected / 2000 <= 0.07).all()
