"""Word-level experiments: reading tags, refusing bad files, and the same result everywhere."""

import csv
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.experiments.base import (
    ExperimentRefused,
    FilesOfExperimentRefused,
    run,
)
from analysis.experiments.tagged_sentences import tagged, worst_first
from analysis.experiments.words import TITLES, WORDS
from analysis.metrics.word_tags import (
    spans_from_tags,
    tags_from_post_edition,
    tags_from_spans,
)
from analysis.models import Experiment
from analysis.tables.writing import to_latex
from da_platform.jobs.running import run_job
from tests.api.callers import caller
from tests.experiments import GOLD, GOOD, GRADED, TEXTS, make_experiment, raw, word_files
from tests.factories import make_campaign
from tests.people import client_of, make_person
from tests.subprocesses import CHECKOUT

FEW = {"resamples": 20}


def estimates(result, name):
    row = next(row for row in [*result["rows"], *result["baselines"]] if row["name"] == name)
    return dict(zip(TITLES, row["estimates"], strict=True))


@pytest.fixture(scope="module")
def result():
    return run(WORDS, word_files(), FEW)


# Tags -----------------------------------------------------------------------------------------


def test_replaced_and_deleted_words_are_bad_and_insertions_make_gaps_bad():
    found = tags_from_post_edition(
        ["the", "very", "big", "cat", "slept"], ["the", "cat", "slept", "well"]
    )
    assert found.words == [False, True, True, False, False]
    assert found.gaps == [False] * 5 + [True]
    replaced = tags_from_post_edition(["its", "policy"], ["their", "policy", "as"])
    assert replaced.words == [True, False] and replaced.gaps == [False, False, True]
    assert tags_from_post_edition(["The"], ["the"]).words == [True]
    assert tags_from_post_edition(["The"], ["the"], ignore_case=True).words == [False]


def test_spans_become_tags_and_tags_spans():
    text = "a small  house ."
    assert tags_from_spans(text, [(2, 7)]) == [False, True, False, False]
    # From the middle of a word to the middle of another.
    assert tags_from_spans(text, [(4, 10)]) == [False, True, True, False]
    assert tags_from_spans(text, [(3, 3), (7, 9)]) == [False] * 4
    assert spans_from_tags(text, [False, True, True, False]) == [(2, 14)]
    assert spans_from_tags(text, [True, False, False, True]) == [(0, 1), (15, 16)]
    for tags in ([True, False, True, True], [False] * 4):
        assert tags_from_spans(text, spans_from_tags(text, tags)) == tags
    with pytest.raises(ValueError, match="one element per word"):
        spans_from_tags(text, [True])


# Measuring ------------------------------------------------------------------------------------


def test_measures_by_hand(result):
    # Of two BAD words one is found; no false alarm among five OK words.
    good = estimates(result, "good")
    assert good["f1_bad"] == pytest.approx(2 / 3)
    assert good["f1_ok"] == pytest.approx(10 / 11)
    # From 0.5 on a word is BAD: both found, one false alarm.
    graded = estimates(result, "graded")
    assert graded["f1_bad"] == pytest.approx(4 / 5)
    assert estimates(result, "(all BAD)")["f1_bad"] == pytest.approx(2 * (2 / 7) / (1 + 2 / 7))
    assert result["share_bad"] == 2 / 7 and result["n_words"] == 7
    assert [row["name"] for row in result["calibration"]] == ["graded"]
    assert run(WORDS, word_files(), FEW) == result


def test_sentences_come_worst_first_with_their_marks(result):
    rows = worst_first(result, "good")
    assert [row["number"] for row in rows] == [1, 0]
    sentence = tagged(rows[0], "good")
    assert [word.kind for word in sentence.words] == ["missed", "right", "right"]
    assert sentence.words[0].text == "the" and sentence.n_wrong == 1
    assert tagged(rows[1], "graded").words[2].kind == "alarm"


def test_gold_can_come_from_post_editions_and_from_spans(result):
    edits = "a tiny house .\na cat sleeps\n"
    inputs = word_files(post_editions=edits) | {"gold": []}
    assert run(WORDS, inputs, FEW)["rows"] == result["rows"]
    inputs = word_files(spans="[[2, 7]]\n[[0, 3]]\n") | {"gold": []}
    assert run(WORDS, inputs, FEW)["rows"] == result["rows"]


def test_gaps_and_words_in_turn_are_separated():
    gold, guess = "BAD OK OK BAD OK\n", "OK OK OK BAD OK\n"
    inputs = {"gold": [raw("gold", gold)], "submissions": [raw("a", guess)]}
    words = run(WORDS, inputs, FEW | {"interleaved": True})
    assert words["n_words"] == 2 and estimates(words, "a")["matthews"] == 1
    gaps = run(WORDS, inputs, FEW | {"interleaved": True, "part": "gaps"})
    assert gaps["n_words"] == 3 and estimates(gaps, "a")["f1_bad"] == 0


def wmt(*tags: str, kind: str = "MT") -> str:
    rows = [f"en-cs\tbest\t{kind}\t0\t{place}\tw{place}\t{tag}" for place, tag in enumerate(tags)]
    return "\n".join(["1024", "560000", "6", *rows]) + "\n"


def test_a_wmt_submission_keeps_the_size_of_its_ensemble():
    inputs = {
        "gold": [raw("gold", "OK BAD\n")],
        "submissions": [raw("team.txt", wmt("OK", "BAD") + "en-cs\tbest\tgap\t0\t0\tgap\tBAD\n")],
    }
    result = run(WORDS, inputs, FEW)
    (row,) = result["rows"]
    assert row["name"] == "best" and result["sentences"][0]["words"] == ["w0", "w1"]
    assert row["figures"] == {"bytes": "1024", "parameters": "560000", "models": "6"}


def test_every_measure_has_its_interval(result):
    (table,) = (each for each in WORDS.tables(result) if each.name == "word-tag-intervals")
    rows = list(csv.DictReader(table.csv().decode().splitlines()))
    for row, found in zip(rows, result["rows"], strict=True):
        for place, title in enumerate(TITLES.values()):
            assert float(row[f"{title} low"]) == found["low"][place]
            assert float(row[f"{title} high"]) == found["high"][place]
    assert "F1 product" in to_latex(table)


def test_error_spans_of_a_result_are_read_again_as_gold(result):
    (table,) = WORDS.long_tables(result)
    rows = list(csv.DictReader(table.csv().decode().splitlines()))
    of = {
        name: "".join(f"{row['spans']}\n" for row in rows if row["submission"] == name)
        for name in ("(gold)", "graded")
    }
    assert of == {"(gold)": "[[2, 7]]\n[[0, 3]]\n", "graded": "[[2, 13]]\n[[0, 3]]\n"}
    inputs = word_files(spans=of["(gold)"]) | {"gold": []}
    assert run(WORDS, inputs, FEW)["rows"] == result["rows"]
    # Without words there are no places.
    assert WORDS.long_tables(run(WORDS, word_files() | {"texts": []}, FEW)) == []


def test_sentences_with_an_empty_line_in_place_of_a_post_edition_are_left_out(result):
    inputs = word_files(post_editions="\na cat sleeps\n") | {"gold": []}
    found = run(WORDS, inputs, FEW)
    assert found["n_sentences"] == 1 and found["n_left_out"] == 1
    assert found["sentences"] == [result["sentences"][1]]
    assert "left out because they have no post-edition: 1" in WORDS.findings(found)[-1]
    (spans,) = WORDS.long_tables(found)
    assert spans.rows[0][0].value == 1
    with pytest.raises(FilesOfExperimentRefused, match="has only empty lines"):
        run(WORDS, word_files(post_editions="\n\n") | {"gold": []}, FEW)


def test_progress_reaches_its_end_and_the_signature_says_how_tags_were_read():
    steps = []
    found = run(WORDS, word_files(), FEW, lambda *step: steps.append(step))
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert "threshold:0.5" in found["signature"] and "interleaved" not in found["signature"]
    inputs = {"gold": [raw("g", "OK BAD OK\n")], "submissions": [raw("a", "OK BAD OK\n")]}
    how = {"interleaved": True, "language_pair": "en-cs"}
    assert "|interleaved:yes|language_pair:en-cs|" in run(WORDS, inputs, FEW | how)["signature"]


# Refusals -------------------------------------------------------------------------------------

BAD_FILES = {
    "an unknown tag": ({"gold": "OK GOOD\n"}, "gold.txt, line 1: 'GOOD' is neither OK nor BAD"),
    "another number of sentences": ({"gold": "OK BAD OK OK\n"}, "has 2 sentences, but the gold has 1"),
    "another number of words": (
        {"gold": "OK BAD OK OK\nOK\n", "texts": "a b c d\ne\n"},
        "good: has 3 words in sentence 1, but the gold has 1",
    ),
    "texts of another length": ({"texts": "a small house .\n"}, "mt.tok|texts.txt"),
    "an empty file": ({"gold": ""}, "gold.txt: is empty"),
    "probabilities as gold": ({"gold": GRADED}, "must hold the tags OK and BAD"),
    "two golds": ({"post_editions": TEXTS}, "give the gold as tags, as post-editions or as"),
    "no submissions": ({"submissions": "OK OK OK OK\nOK maybe OK\n"}, "line 2: 'maybe'"),
    "a word out of place": (
        {"submissions": wmt("OK", "BAD").replace("\t1\tw1", "\t2\tw1")},
        "line 5: is segment 0, word 2 of best, not segment 0, word 1",
    ),
    "a short line": ({"submissions": wmt("OK") + "en-cs\tbest\n"}, "line 5: has 2 cells, not 7"),
    "another part": ({"submissions": wmt("OK", kind="gap")}, "has no tags of words"),
    "two language pairs": (
        {"submissions": wmt("OK") + "en-de\tbest\tMT\t1\t0\tw\tOK\n"},
        "has several language pairs; choose one: en-cs, en-de",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("texts", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_refused_with_its_message(texts, message):
    with pytest.raises(FilesOfExperimentRefused, match=message):
        run(WORDS, word_files(**texts), FEW)


def test_bad_spans_are_refused():
    for line in ("[[2, 70]]", "x", "[[1]]", "[[true, 2]]"):
        inputs = word_files(spans=f"{line}\n[]\n") | {"gold": []}
        with pytest.raises(FilesOfExperimentRefused, match="line 1: is not a list of"):
            run(WORDS, inputs, FEW)
    with pytest.raises(FilesOfExperimentRefused, match="nothing about gaps"):
        run(WORDS, inputs, FEW | {"part": "gaps"})


def test_equal_names_and_surplus_files_are_refused():
    inputs = word_files()
    inputs["submissions"].append(raw("good.tags", GOOD))
    with pytest.raises(FilesOfExperimentRefused, match="2 submissions are named 'good'"):
        run(WORDS, inputs, FEW)
    with pytest.raises(FilesOfExperimentRefused, match="second file for: gold tags"):
        run(WORDS, word_files() | {"gold": [raw("a", GOLD), raw("b", GOLD)]}, FEW)
    with pytest.raises(FilesOfExperimentRefused, match="no file role 'other'"):
        run(WORDS, word_files(other="x"), FEW)
    with pytest.raises(FilesOfExperimentRefused, match="file is missing: submissions"):
        run(WORDS, word_files() | {"submissions": []}, FEW)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"colour": 1}, "There is no option 'colour'"),
        ({"main": "bleu"}, "main must be one of matthews"),
        ({"resamples": 0}, "resamples must be between 1 and 100000"),
        ({"resamples": 1.5}, "resamples must be a whole number"),
        ({"seed": True}, "seed must be a whole number"),
        ({"alpha": "x"}, "alpha must be a number"),
        ({"interleaved": 1}, "interleaved must be true or false"),
    ],
)
def test_bad_options_are_refused(given, message):
    with pytest.raises(ExperimentRefused, match=message):
        run(WORDS, word_files(), given)


# Everywhere the same --------------------------------------------------------------------------


def written(tmp_path):
    paths = {}
    for name, text in (("good", GOOD), ("graded", GRADED), ("gold", GOLD), ("mt", TEXTS)):
        paths[name] = tmp_path / f"{name}.tags"
        paths[name].write_text(text)
    return {name: str(path) for name, path in paths.items()}


def test_the_command_writes_a_report(tmp_path, capsys, result):
    files, out = written(tmp_path), tmp_path / "report"
    arguments = ("--submissions", files["good"], files["graded"], "--gold", files["gold"])
    how = ("--texts", files["mt"], "--resamples", "20", "--out", str(out))
    call_command("experiment", "words", *arguments, *how)
    assert "graded has the highest Matthews" in capsys.readouterr().out
    stored = json.loads((out / "result.json").read_text())
    assert stored["rows"] == result["rows"] and stored["signature"] == result["signature"]
    assert r"\begin{table}" in (out / "tables" / "word-tags.tex").read_text()
    assert "(gold)" in (out / "tables" / "error-spans.csv").read_text()
    assert (out / "figures" / "calibration-1.svg").is_file()
    assert "graded has the highest" in (out / "report.md").read_text()
    with pytest.raises(CommandError, match="not empty"):
        call_command("experiment", "words", *arguments, *how)
    with pytest.raises(CommandError, match="missing.tags"):
        call_command(
            "experiment", "words", "--submissions", str(tmp_path / "missing.tags"),
            "--gold", files["gold"], "--out", str(tmp_path / "new"),
        )  # fmt: skip


def test_the_documented_example_prints_what_the_documentation_says(tmp_path, capsys):
    folder = Path(CHECKOUT) / "examples" / "words"
    files = ("--texts", "mt.tok", "--post-editions", "pe.tok")
    tags = ("--submissions", "careful.tags", "graded.tags")
    paths = [word if word.startswith("-") else str(folder / word) for word in (*files, *tags)]
    call_command("experiment", "words", *paths, "--out", str(tmp_path / "report"))
    page = (Path(CHECKOUT) / "docs" / "experiments.md").read_text()
    printed, _, _ = capsys.readouterr().out.partition("Wrote")
    assert printed in page


def fields(**others):
    upload = SimpleUploadedFile
    files = {
        "submissions": [upload("good.tags", GOOD.encode()), upload("graded.tags", GRADED.encode())],
        "gold": upload("gold.tags", GOLD.encode()),
        "texts": upload("mt.tok", TEXTS.encode()),
    }
    return {"name": "WMT words"} | files | others


def page_options(**others):
    chosen = {option.name: option.default for option in WORDS.options} | FEW | others
    return {f"option_{name}": value for name, value in chosen.items() if value is not False}


@pytest.mark.django_db
def test_the_page_stores_the_files_and_the_job_shows_the_result(result):
    client = client_of("researcher")
    address = reverse("new_experiment", args=["words"])
    assert "Submissions" in client.get(address).content.decode()
    answer = client.post(address, fields() | page_options())
    stored = Experiment.objects.get()
    assert answer.url == reverse("experiment", args=[stored.code])
    assert "There is no result yet" in client.get(answer.url).content.decode()
    assert client.get(reverse("experiment_json", args=[stored.code])).status_code == 404
    run_job(stored.job.pk)
    stored.refresh_from_db()
    assert stored.result["rows"] == result["rows"]
    page = client.get(answer.url, {"submission": "good"}).content.decode()
    assert '<mark class="tag missed" title="BAD, missed">the</mark>' in page
    assert page.index("Sentence 1:") < page.index("Sentence 0:")
    assert "graded has the highest Matthews" in page
    for fmt in ("tex", "csv", "md"):
        table = reverse("experiment_table", args=[stored.code, "word-tags", fmt])
        assert client.get(table).status_code == 200
    spans = reverse("experiment_table", args=[stored.code, "error-spans", "csv"])
    assert spans in page and b"(gold)" in client.get(spans).content
    picture = reverse("experiment_picture", args=[stored.code, "calibration-1", "csv"])
    assert client.get(picture).content.startswith(b"probability,share of BAD,words")
    assert client.get(picture.replace("calibration-1", "other")).status_code == 404
    assert "WMT words" in client.get(reverse("experiments")).content.decode()


@pytest.mark.django_db
def test_the_page_lists_what_is_wrong_with_files_and_options():
    client = client_of("researcher")
    address = reverse("new_experiment", args=["words"])
    bad = SimpleUploadedFile("gold.tags", b"OK GOOD OK OK\nOK OK OK\n")
    answer = client.post(address, fields(gold=bad) | page_options())
    assert (
        answer.status_code == 422
        and "&#x27;GOOD&#x27; is neither OK nor BAD" in answer.content.decode()
    )
    answer = client.post(address, fields() | page_options(resamples=0))
    assert answer.status_code == 422 and "greater than or equal to 1" in answer.content.decode()
    assert not Experiment.objects.exists()
    assert client.get(reverse("new_experiment", args=["other"])).status_code == 404


@pytest.mark.django_db
def test_only_the_owner_and_platform_researchers_see_an_experiment():
    experiment = make_experiment(make_person("researcher"))
    page = reverse("experiment", args=[experiment.code])
    assert client_of("researcher").get(page).status_code == 200
    assert client_of("outsider").get(page).status_code == 403
    member = client_of("researcher", make_campaign())
    assert member.get(page).status_code == 404
    assert experiment.name not in member.get(reverse("experiments")).content.decode()


@pytest.mark.django_db
def test_the_api_does_what_the_page_does(result):
    ada = caller("researcher")
    sent = fields(kind="words", options=json.dumps(FEW))
    answer = ada.upload("/experiments", sent)
    assert answer.status_code == 202, answer.content
    experiment = Experiment.objects.get(code=answer.json()["code"])
    assert answer.json()["job"] == str(experiment.job.code)
    address = f"/experiments/{experiment.code}"
    assert ada.get(address).json()["result"] is None
    assert ada.get(f"{address}/tables/word-tags").status_code == 404
    run_job(experiment.job.pk)
    stored = ada.get(address).json()
    assert stored["result"]["rows"] == result["rows"]
    names = ["word-tags", "word-tag-intervals", "word-tag-tests", "calibration", "error-spans"]
    assert stored["tables"] == names
    assert ada.get(f"{address}/tables/word-tags", format="tex").status_code == 200
    assert ada.get(f"{address}/pictures/calibration-1", format="csv").status_code == 200
    assert [row["name"] for row in ada.get("/experiments").json()["items"]] == ["WMT words"]
    assert caller("outsider").get(address).status_code == 404
    assert caller("outsider").upload("/experiments", fields(kind="words")).status_code == 403
    refused = ada.upload("/experiments", fields(kind="words", options='{"main": "bleu"}'))
    assert refused.status_code == 409 and "main must be" in refused.json()["detail"]
    bad = SimpleUploadedFile("gold.tags", b"OK\n")
    refused = ada.upload("/experiments", fields(kind="words", gold=bad))
    assert refused.status_code == 422 and refused.json()["problems"]
