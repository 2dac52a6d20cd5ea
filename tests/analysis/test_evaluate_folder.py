"""`evaluate --folder` takes a test set of mt-metrics-eval as it is."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.evaluation import Directions, Options, evaluate_folder
from analysis.evaluation.from_folders import find_test_set
from analysis.scores.errors import ScoresRefused

SYSTEMS = ("alder", "birch", "cedar", "refA", "synthetic_ref")
N_SEGMENTS = 12


def write(path: Path, rows: list[tuple[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{name}\t{value}\n" for name, value in rows))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two metrics and two golds, one of them only for the systems that people rated."""
    root, rng = tmp_path / "wmt", np.random.default_rng(1)
    gold = {name: rng.normal(size=N_SEGMENTS) for name in SYSTEMS}
    for metric, noise in (("good-refA", 0.2), ("poor-src", 2.0)):
        noisy = {
            name: scores + noise * rng.normal(size=N_SEGMENTS) for name, scores in gold.items()
        }
        rows = [(name, f"{score:.6f}") for name in SYSTEMS for score in noisy[name]]
        write(root / "metric-scores" / "zh-en" / f"{metric}.seg.score", rows)
        means = [(name, f"{noisy[name].mean():.6f}") for name in SYSTEMS]
        write(root / "metric-scores" / "zh-en" / f"{metric}.sys.score", means)
        write(root / "metric-scores" / "zh-en" / f"{metric}.domain.score", [("news\talder", 1)])
    for name, systems in (("mqm", SYSTEMS[:4]), ("da-sqm", SYSTEMS[:3])):
        rows = [(system, f"{score:.6f}") for system in systems for score in gold[system]]
        write(root / "human-scores" / f"zh-en.{name}.seg.score", rows)
    write(root / "human-scores" / "zh-en.mqm.domain.score", [("news\talder", 1)])
    lines = [f"news\tdoc{number // 4}\n" for number in range(N_SEGMENTS)]
    for part, name, text in (
        ("documents", "zh-en.docs", lines),
        ("sources", "zh-en.txt", ["一二三\n"] * N_SEGMENTS),
        ("references", "zh-en.refA.txt", ["one two\n"] * N_SEGMENTS),
    ):
        (root / part).mkdir()
        (root / part / name).write_text("".join(text))
    return root


def test_the_whole_folder_is_evaluated_by_one_command(folder, tmp_path):
    out = StringIO()
    arguments = ["--out", str(tmp_path / "report"), "--resamples", "20"]
    call_command("evaluate", "--folder", str(folder), *arguments, stdout=out)
    printed = out.getvalue()
    assert "refA is left out: it is a reference." in printed
    assert "synthetic_ref is left out: it is a synthetic reference." in printed
    assert "3 files are left out" in printed
    assert "Against mqm, good-refA has the highest r" in printed
    assert "Against da-sqm, good-refA has the highest r" in printed


def test_byte_order_marks_and_line_ends_of_a_folder_change_nothing(folder):
    options = Options(n_resamples=20)
    plain, _ = evaluate_folder(folder, options=options)
    for path in folder.rglob("*.*"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    marked, _ = evaluate_folder(folder, options=options)
    golds = [
        [row.pearson for row in gold.segment]
        for evaluated in (plain, marked)
        for gold in evaluated.result.golds
    ]
    assert golds[:2] == golds[2:]


def test_references_can_be_kept_and_golds_chosen_by_either_name(folder):
    options = Options(n_resamples=20)
    for name in ("mqm", "zh-en.mqm"):
        evaluated, sentences = evaluate_folder(folder, golds=[name], options=options, keep=["refA"])
        (gold,) = evaluated.result.golds
        assert gold.gold.name == "mqm" and gold.gold.higher_is_better
        assert gold.segment[0].pearson.n == 4 * N_SEGMENTS
        assert sentences[0] == "synthetic_ref is left out: it is a synthetic reference."


def test_a_direction_can_be_declared_by_the_short_name(folder):
    directions = Directions(lower=["mqm"])
    assert directions.of("zh-en.mqm") is False
    directions.check({"zh-en.mqm"})
    evaluated, _ = evaluate_folder(
        folder, golds=["mqm"], directions=directions, options=Options(n_resamples=20)
    )
    assert not evaluated.result.golds[0].gold.higher_is_better


def test_what_is_not_there_is_refused(folder, tmp_path):
    with pytest.raises(ScoresRefused, match="has no language pair 'en-de', only zh-en"):
        find_test_set(folder, pair="en-de")
    with pytest.raises(ScoresRefused, match="has no human scores 'esa'; there are: da-sqm, mqm"):
        find_test_set(folder, golds=["esa"])
    with pytest.raises(ScoresRefused, match="has no folder metric-scores"):
        find_test_set(tmp_path)
    (folder / "metric-scores" / "en-de").mkdir()
    with pytest.raises(ScoresRefused, match=r"choose one \(--pair\): en-de, zh-en"):
        find_test_set(folder)
    with pytest.raises(CommandError, match="--folder holds all files, so leave out: texts"):
        call_command("evaluate", "--folder", str(folder), "--texts", "x", "--out", "y")
    with pytest.raises(CommandError, match="Give score files and --gold FILE, or --folder FOLDER"):
        call_command("evaluate", "--out", "y")
