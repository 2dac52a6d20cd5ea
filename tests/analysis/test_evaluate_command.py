"""`manage.py evaluate` writes a report from files and never guesses a direction."""

import csv
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.evaluation import (
    Directions,
    DirectionsUnknown,
    EvaluationResult,
    GoldFile,
    evaluate,
    evaluate_files,
)
from analysis.scores.errors import ScoresRefused
from tests.analysis.evaluation_tables import gold_scores, gold_table, metric, write_table

# Shares a module-scoped fixture.
pytestmark = pytest.mark.xdist_group("evaluate command")

ROOT = Path(__file__).parents[2]

GOOD, POOR = metric("good", 0.3).scores, metric("poor", 4, seed=4).scores


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return write_table(tmp_path / "metrics.tsv", {"good": GOOD, "TER": -POOR})


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write_table(tmp_path / "gold.tsv", {"da": gold_scores()})


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("evaluate", *map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A report that several tests check, and what the command printed."""
    folder = tmp_path_factory.mktemp("evaluate")
    scores = write_table(folder / "metrics.tsv", {"good": GOOD, "TER": -POOR})
    gold = write_table(folder / "gold.tsv", {"da": gold_scores()})
    out = folder / "report"
    printed = run(
        scores, "--gold", f"da={gold}", "--higher", "good", "--lower", "TER", "--out", out
    )
    return out, printed


def test_a_report_has_every_kind_of_file(report):
    out, printed = report
    assert (
        "Not significantly outperformed by any other metric (t test by segment, Holm's correction): good."
        in printed
    )
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert {"index.html", "report.md", "result.json"} <= names
    for name in ("significance-gold", "between-metrics", "scatter-good-gold"):
        assert {f"figures/{name}.{end}" for end in ("svg", "png", "pdf", "csv")} <= names
    for name in ("segment-gold", "system-gold", "by-system-gold"):
        assert {f"tables/{name}.{end}" for end in ("tex", "md", "csv")} <= names


def test_the_result_matches_the_engine(report):
    result = EvaluationResult.from_dict(json.loads((report[0] / "result.json").read_text()))
    tables = [metric("good", 0.3), metric("TER", 4, seed=4, higher=False)]
    expected = evaluate(tables, [gold_table()]).result
    assert result.golds[0].segment == expected.golds[0].segment
    assert result.golds[0].comparison == expected.golds[0].comparison
    assert len(result.inputs[0].sha256) == 64


def test_a_second_run_writes_the_same_bytes(report, tmp_path):
    scores, gold = report[0].parent / "metrics.tsv", report[0].parent / "gold.tsv"
    out = tmp_path / "again"
    run(scores, "--gold", f"da={gold}", "--as-suggested", "--higher", "good", "--out", out)
    for path in report[0].rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (out / path.relative_to(report[0])).read_bytes(), path.name


def test_unknown_directions_are_listed_with_what_to_confirm(scores, gold, tmp_path):
    with pytest.raises(CommandError) as refusal:
        run(scores, "--gold", gold, "--out", tmp_path / "report")
    message = str(refusal.value)
    assert "good: is higher or lower better? (its name does not say)" in message
    assert (
        "TER: is higher or lower better? (probably lower: TER seems to be an error rate" in message
    )
    assert "gold: is higher or lower better?" in message
    assert "--lower TER" in message and not (tmp_path / "report").exists()


def test_every_unknown_direction_is_listed(gold, tmp_path):
    many = {f"metric-{i}": GOOD for i in range(44)}
    scores = write_table(tmp_path / "many.tsv", many)
    with pytest.raises(DirectionsUnknown) as refusal:
        evaluate_files([scores], [f"da={gold}"])
    assert refusal.value.names == list(many)
    assert all(f"{name}: is higher" in str(refusal.value) for name in many)


def test_a_contradictory_or_unused_direction_is_refused(scores, gold):
    for directions, message in [
        (Directions(higher=["good"], lower=["good"]), "cannot be both higher and lower"),
        (Directions(higher=["nothing"]), "there is no metric or gold named 'nothing'"),
    ]:
        with pytest.raises(ScoresRefused, match=message):
            evaluate_files([scores], [f"da={gold}"], directions=directions)


def test_a_gold_argument_gives_kind_and_column():
    assert GoldFile.parse("gold.tsv") == GoldFile(Path("gold.tsv"))
    assert GoldFile.parse("hter=a=b.tsv::H") == GoldFile(Path("a=b.tsv"), "hter", "H")
    assert GoldFile.parse("x=gold.tsv") == GoldFile(Path("x=gold.tsv"))


def test_lower_hter_is_better_unless_declared_otherwise(scores, tmp_path):
    gold = write_table(tmp_path / "edits.tsv", {"hter": -gold_scores()})

    def correlations(*higher: str) -> list[float]:
        directions = Directions(higher=higher, lower=["TER"])
        result = evaluate_files([scores], [f"hter={gold}"], directions=directions).result
        return [row.pearson.estimate for row in result.golds[0].segment]

    assert correlations("good")[0] > 0.9
    assert correlations("good", "edits")[1] < 0


def test_two_golds_of_one_file_are_compared(scores, tmp_path):
    both = write_table(tmp_path / "both.tsv", {"one": gold_scores(), "two": -POOR})
    out = tmp_path / "report"
    printed = run(
        scores, "--gold", f"da={both}::one", "--gold", f"da={both}::two",
        "--higher", "good", "--lower", "TER", "--out", out,
    )  # fmt: skip
    assert "Between one and two, 0 of 2 metrics change their rank at segment level." in printed
    assert (out / "tables" / "compared-segment-one-two.tex").exists()
    assert (out / "figures" / "rank-changes-segment-one-two.svg").exists()


def test_texts_and_documents_break_the_results_down(scores, gold, tmp_path):
    texts, documents = tmp_path / "texts.txt", tmp_path / "docs.txt"
    texts.write_text("".join("word " * i + "\n" for i in range(1, 26)))
    documents.write_text("news\tone\n" * 12 + "news\ttwo\n" * 13)
    directions = Directions(higher=["good"], lower=["TER"])
    evaluated = evaluate_files(
        [scores], [f"da={gold}"], directions=directions, texts=texts, documents=documents
    )
    groups = {breakdown.by: breakdown.groups for breakdown in evaluated.result.golds[0].breakdowns}
    assert groups["document"] == ("one", "two") and len(groups["length"]) == 4
    texts.write_text("too few\n")
    with pytest.raises(ScoresRefused, match="texts.txt: has 1 lines for 25 segments"):
        evaluate_files([scores], [f"da={gold}"], directions=directions, texts=texts)


def test_every_file_of_a_folder_is_read(gold, tmp_path):
    folder = tmp_path / "scores"
    folder.mkdir()
    for name, scores in (("one", GOOD), ("two", POOR)):
        write_table(folder / f"{name}.tsv", {name: scores})
    evaluated = evaluate_files([folder], [f"da={gold}"], directions=Directions(otherwise=True))
    assert [row.metric for row in evaluated.result.golds[0].segment] == ["one", "two"]


def test_problems_of_all_files_are_reported_at_once(gold, tmp_path):
    paths = []
    for name in ("one", "two"):
        paths.append(write_table(tmp_path / f"{name}.tsv", {name: GOOD}))
        paths[-1].write_text(paths[-1].read_text() + "a\t1\tgood\n")
    with pytest.raises(ScoresRefused) as refusal:
        evaluate_files(paths, [f"da={gold}"])
    assert "one.tsv, line 102" in str(refusal.value) and "two.tsv, line 102" in str(refusal.value)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--alpha", "2"], "--alpha must be between 0 and 1"),
        (["--resamples", "0"], "--resamples"),
        (["--scatter", "nothing"], "no metric 'nothing'"),
        (["--without", "nobody"], "no system 'nobody'"),
    ],
)
def test_bad_options_are_refused_before_anything_is_written(
    scores, gold, tmp_path, option, message
):
    out = tmp_path / "report"
    with pytest.raises(CommandError, match=message):
        run(scores, "--gold", f"da={gold}", "--all-higher", "--out", out, *option)
    assert not out.exists()


def test_a_folder_in_use_is_left_alone_unless_forced(scores, gold, tmp_path):
    out = tmp_path / "report"
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    with pytest.raises(CommandError, match="is not empty"):
        run(scores, "--gold", f"da={gold}", "--all-higher", "--out", out)
    run(scores, "--gold", f"da={gold}", "--all-higher", "--out", out, "--force")
    assert (out / "thesis.tex").read_text() == "years of work" and (out / "index.html").exists()


def test_names_from_files_are_text_in_page_tables_and_paths(gold, tmp_path):
    name = '<script>alert(1)</script>_50%_../x&"'
    scores = write_table(tmp_path / "evil.tsv", {name: GOOD, "=cmd()": POOR})
    out = tmp_path / "report"
    run(scores, "--gold", f"da={gold}", "--all-higher", "--out", out)
    page = (out / "index.html").read_text()
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
    assert all(out in path.parents for path in out.rglob("*"))
    assert not [path for path in out.rglob("*") if re.search(r"[<>&%\"()]", path.name)]
    latex = (out / "tables" / "segment-gold.tex").read_text()
    assert r"\textless{}script\textgreater{}" in latex and r"50\%\_../x\&" in latex
    table = (out / "tables" / "segment-gold.csv").read_text()
    cells = [row[0] for row in csv.reader(StringIO(table))]
    assert "'=cmd()" in cells


class Loads(HTMLParser):
    """Collects what a page would fetch from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            is_load = tag in ("script", "link", "iframe") or name in ("src", "xlink:href")
            if is_load and not (value or "").startswith(("data:", "#")):
                self.addresses.append(f"{tag} {name}={value}")


def test_the_page_loads_nothing_and_describes_its_pictures(report):
    page = (report[0] / "index.html").read_text()
    loads = Loads()
    loads.feed(page)
    assert loads.addresses == []
    assert len(re.findall(r'<img [^>]*alt="[^"]{20,}"', page)) == page.count("<img ") > 0
    assert "<title>segment 1 by a: good" in page


def test_neither_a_database_nor_a_migration_is_needed(scores, gold, tmp_path):
    done = subprocess.run(
        [sys.executable, "manage.py", "evaluate", scores, "--gold", f"da={gold}", "--all-higher",
         "--out", tmp_path / "report"],
        cwd=ROOT,
        env=os.environ | {
            "DA_DEBUG": "1",
            "DJANGO_SETTINGS_MODULE": "da_platform.settings",
            "DATABASE_URL": "postgres://nobody:nothing@127.0.0.1:9/none",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Wrote" in done.stdout


def test_rankings_next_to_scores_are_left_out_by_default(tmp_path):
    lines = ["metric\tsegment\tscore\trank"]
    order = np.argsort(np.argsort(GOOD[:25])) + 1
    lines += [f"mine\t{i + 1}\t{float(GOOD[i])!r}\t{order[i]}" for i in range(25)]
    scores, gold = tmp_path / "s.tsv", tmp_path / "g.tsv"
    scores.write_text("\n".join(lines) + "\n")
    golds = [f"{i + 1}\t{float(gold_scores()[i])!r}" for i in range(25)]
    gold.write_text("\n".join(["segment\tscore", *golds]) + "\n")
    directions = Directions(higher=["mine"])

    def metrics(ranks: bool) -> list[str]:
        result = evaluate_files([scores], [f"da={gold}"], directions=directions, ranks=ranks).result
        return [row.metric for row in result.golds[0].segment]

    assert metrics(False) == ["mine"]
    assert sorted(metrics(True)) == ["mine", "mine (ranks)"]
