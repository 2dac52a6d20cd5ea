"""Tests between systems as an experiment: files, refusals, people's conclusions, tables and pictures."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from analysis.experiments.base import ExperimentRefused, FilesOfExperimentRefused, run
from analysis.experiments.systems import METRICS, SYSTEMS
from analysis.models import Experiment
from analysis.stats.output_tests import OUTPUT_TESTS
from da_platform.jobs.running import run_job
from tests.api.callers import caller
from tests.experiments import raw
from tests.people import client_of
from tests.subprocesses import CHECKOUT

REFERENCES = "the old house is on the hill\nshe read a book\nwe meet at noon\nit rains\n" * 5
GOOD = "the old house is on a hill\nshe read a book\nwe meet at noon\nit rains\n" * 5
POOR = "old house on hill\nshe reads book\nwe met in noon\nrain\n" * 5
FEW = {"resamples": 200}
CLUSTERS = "system\tcluster\ngood\t1\npoor\t2\nother\t3\n"
TESTED = "system,other,p\ngood,poor,0.2\n"


def files(**texts: str):
    inputs = {
        "outputs": [raw("news.good.en", GOOD), raw("news.poor.en", POOR)],
        "references": [raw("ref.en", REFERENCES)],
    }
    return inputs | {role: [raw(f"{role}.txt", text)] for role, text in texts.items()}


@pytest.fixture(scope="module")
def result():
    return run(SYSTEMS, files(human=CLUSTERS), FEW)


def test_systems_are_named_by_what_distinguishes_their_files(result):
    assert result["systems"] == ["good", "poor"]
    assert [row["metric"] for row in result["rows"]] == [*METRICS]
    for row in result["rows"]:
        assert row["order"] == [0, 1]
        assert all(row["pvalue"][test][0][1] < 0.05 for test in OUTPUT_TESTS)
    assert run(SYSTEMS, files(human=CLUSTERS), FEW) == result


def test_tables_and_pictures_say_the_same_as_the_result(result):
    scores, tests, shares = SYSTEMS.tables(result)
    assert [row[0].text for row in scores.rows] == ["good", "poor"]
    assert len(tests.rows) == len(METRICS) and all(row[1].text == "good" for row in tests.rows)
    # All conclude what people did: one pair of one, with the exact interval.
    assert len(shares.rows) == len(METRICS) * len(OUTPUT_TESTS)
    assert shares.rows[0][2].value == 1 and shares.rows[0][3].value == pytest.approx((0.025, 1))
    pictures = {picture.name: picture for picture in SYSTEMS.pictures(result)}
    assert len(pictures) == len(METRICS) * (len(OUTPUT_TESTS) + 1)
    assert pictures["ter-randomisation"].rows[0][:2] == ("good", "poor")
    drawn = pictures["ter-pseudo-statistics"]
    assert sum(row[3] for row in drawn.rows) == 200 * len(OUTPUT_TESTS)
    assert drawn.render("svg").startswith(b"<?xml") and pictures["bleu-shifted"].render("svg")


@pytest.mark.parametrize(
    ("human", "fallback", "expected"),
    [
        (CLUSTERS, None, [[0, 1], [-1, 0]]),
        (CLUSTERS.replace("\t2", "\t1"), None, [[0, 0], [0, 0]]),
        (TESTED, None, [[0, 0], [0, 0]]),
        (TESTED.replace("0.2", "0.01"), None, [[0, 1], [-1, 0]]),
        ("system,other,p\npoor,good,0.01\n", None, [[0, -1], [1, 0]]),
        # Adequacy tells nothing apart, fluency does.
        (TESTED, "system,other,p\npoor,good,0.01\n", [[0, -1], [1, 0]]),
        (CLUSTERS, "system,other,p\npoor,good,0.01\n", [[0, 1], [-1, 0]]),
    ],
)
def test_conclusions_of_people(human, fallback, expected):
    inputs = files(human=human) | ({"fallback": [raw("f.csv", fallback)]} if fallback else {})
    assert run(SYSTEMS, inputs, {"resamples": 5, "metrics": "TER"})["human"] == expected


BAD_FILES = {
    "fewer lines": ({"references": REFERENCES + "more\n"}, "news.good.en: has 20 lines, but references.txt has 21"),
    "an empty reference": ({"references": REFERENCES.replace("it rains", " ")}, "line 4: is empty"),
    "one system": ({"outputs": GOOD}, "at least two systems"),
    "an unknown column": ({"human": "system,rank2\ngood,1\npoor,2\n"}, "must have the columns system and cluster"),
    "a missing system": ({"human": "system,cluster\ngood,1\n"}, "does not have these systems: poor"),
    "a missing pair": ({"human": "system,other,p\ngood,other,0.1\n"}, "has 0 of the 1 pairs"),
    "a cluster that is no number": ({"human": "system,cluster\ngood,1\npoor,x\n"}, "line 3: has no number as its cluster"),
    "a p that is no number": ({"human": "system,other,p\ngood,poor,x\n"}, "line 2: has no number as its p"),
    "only a fallback": ({"fallback": TESTED}, "needs conclusions about adequacy too"),
}  # fmt: skip


@pytest.mark.parametrize(("texts", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_refused_with_its_message(texts, message):
    with pytest.raises(FilesOfExperimentRefused, match=message):
        run(SYSTEMS, files(**texts), FEW)


def test_tests_that_need_too_much_memory_are_refused():
    many = {"outputs": [raw(f"{place}.txt", GOOD) for place in range(12)]}
    with pytest.raises(
        ExperimentRefused, match="12 systems and 4 metrics, resamples must be at most 37,878"
    ):
        run(SYSTEMS, files() | many, {"resamples": 50_000})


def test_unknown_metrics_and_equal_names_are_refused():
    with pytest.raises(FilesOfExperimentRefused, match="no metric 'bleurt'"):
        run(SYSTEMS, files(), {"metrics": "BLEU bleurt"})
    with pytest.raises(FilesOfExperimentRefused, match="choose at least one metric"):
        run(SYSTEMS, files(), {"metrics": " "})
    inputs = files() | {"outputs": [raw("a.txt", GOOD), raw("a.txt", POOR)]}
    with pytest.raises(FilesOfExperimentRefused, match="2 systems are named 'a'"):
        run(SYSTEMS, inputs, FEW)


def test_the_documented_example_prints_what_the_documentation_says(tmp_path, capsys):
    folder = Path(CHECKOUT) / "examples" / "demo-de-en" / "campaign"
    outputs = sorted(str(path) for path in (folder / "systems").iterdir())
    arguments = ("--outputs", *outputs, "--references", str(folder / "references.txt"))
    how = ("--metrics", "BLEU chrF", "--out", str(tmp_path / "report"))
    call_command("experiment", "systems", *arguments, *how)
    page = (Path(CHECKOUT) / "docs" / "experiments.md").read_text()
    printed, _, _ = capsys.readouterr().out.partition("Wrote")
    assert printed in page
    stored = json.loads((tmp_path / "report" / "result.json").read_text())
    assert stored["options"]["metrics"] == "BLEU chrF"
    human = tmp_path / "people.tsv"
    human.write_text(page.partition("$ cat people.tsv\n")[2].partition("```")[0])
    how = ("--metrics", "BLEU", "--human", str(human), "--out", str(tmp_path / "agreement"))
    call_command("experiment", "systems", *arguments, *how)
    table = (tmp_path / "agreement" / "tables" / "system-agreement.md").read_text()
    rows = "".join(f"{line}\n" for line in table.splitlines() if line.startswith("|"))
    assert rows and rows in page
    assert "p-values are not corrected for their number here" in table


@pytest.mark.django_db
def test_page_and_api_give_the_same_result(result):
    upload = SimpleUploadedFile
    sent = {
        "name": "News",
        "outputs": [upload("news.good.en", GOOD.encode()), upload("news.poor.en", POOR.encode())],
        "references": upload("ref.en", REFERENCES.encode()),
        "human": upload("human.txt", CLUSTERS.encode()),
    }
    ada = caller("researcher")
    answer = ada.upload("/experiments", sent | {"kind": "systems", "options": json.dumps(FEW)})
    assert answer.status_code == 202, answer.content
    experiment = Experiment.objects.get()
    run_job(experiment.job.pk)
    stored = ada.get(f"/experiments/{experiment.code}").json()
    assert stored["result"]["rows"] == json.loads(json.dumps(result["rows"]))
    client = client_of("researcher")
    page = client.get(reverse("experiment", args=[experiment.code])).content.decode()
    assert "good has the best BLEU" in page and "figure-bleu-randomisation" in page
    address = reverse("experiment", args=[experiment.code])
    assert "Choose two systems" in page and "figure-ter-pseudo-statistics-1-2" not in page
    pair = client.get(address, {"first": "poor", "second": "good"}).content.decode()
    assert "figure-ter-pseudo-statistics-1-2" in pair
    assert "Choose two systems" in client.get(address, {"first": "poor"}).content.decode()
    name = "ter-pseudo-statistics-1-2"
    of_pair = client.get(reverse("experiment_picture", args=[experiment.code, name, "csv"]))
    best_two = client.get(
        reverse("experiment_picture", args=[experiment.code, name.removesuffix("-1-2"), "csv"])
    )
    assert of_pair.content == best_two.content
    form = client.get(reverse("new_experiment", args=["systems"])).content.decode()
    assert 'name="references"' in form and 'name="option_metrics"' in form
