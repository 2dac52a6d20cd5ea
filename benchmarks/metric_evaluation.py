"""A whole evaluation at the size of a WMT metrics task, from files to a report with tables and plots.

    python -m benchmarks.metric_evaluation

44 metrics with 7,241 scores each against two golds: the files of WMT23 English to German if they are available
(tests/replication/README.md), otherwise synthetic ones of the same size and layout. Then 70 synthetic metrics with 17,655
scores each, the size of WMT23 Chinese to English, and a reference that is left out: all measures, all pairs of metrics, 1,000
resamples, both golds, the report with its figures and the data of every significance map. Memory is that of all processes together.
"""

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import benchmarks.django_setup  # noqa: F401
from analysis.evaluation import Directions, Options, evaluate, write_report
from analysis.evaluation.from_files import read_files
from benchmarks.measuring import PeakOfChildren, in_own_process
from benchmarks.table import Row, run
from tests.replication.locating import data_folder

PUBLISHED = data_folder() / "wmt23-mtme" / "wmt23"
N_METRICS, N_SYSTEMS, N_SEGMENTS = 44, 13, 557
MAX_SECONDS = 20.0


# 15 systems, next to a reference, and 1,177 segments.
MANY_METRICS, MANY_SYSTEMS, MANY_SEGMENTS = 70, 15, 1_177
MAX_MANY_SECONDS, MAX_MEGABYTES = 15.0, 500.0


def measure(*, metrics: int) -> Iterator[Row]:
    yield from measure_published_size(metrics)
    if metrics == N_METRICS:
        yield from measure_many()


def measure_many() -> Iterator[Row]:
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "synthetic"
        write_synthetic(folder, MANY_METRICS, MANY_SYSTEMS + 1, MANY_SEGMENTS)
        report = Path(scratch) / "report"
        with PeakOfChildren() as peak:
            started = time.perf_counter()
            facts = in_own_process(evaluate_all, folder=folder, report=report)
            total = time.perf_counter() - started
    size = f"{MANY_METRICS} metrics, {MANY_SYSTEMS * MANY_SEGMENTS:,} translations"
    note = ", ".join(f"{part} {value:.2f} s" for part, value in facts.items())
    yield Row(
        f"evaluation of {size}, two golds, from files to report",
        total,
        "s",
        maximum=MAX_MANY_SECONDS,
        note=note,
    )
    yield Row(
        f"evaluation of {size}, peak memory of all processes",
        peak.megabytes,
        "MB",
        maximum=MAX_MEGABYTES,
    )


def measure_published_size(metrics: int) -> Iterator[Row]:
    with TemporaryDirectory() as scratch:
        folder, name = PUBLISHED, "WMT23 en-de"
        if metrics != N_METRICS or not PUBLISHED.is_dir():
            folder, name = Path(scratch) / "synthetic", "synthetic scores"
            write_synthetic(folder, metrics)
        started = time.perf_counter()
        seconds = in_own_process(evaluate_all, folder=folder, report=Path(scratch) / "report")
        total = time.perf_counter() - started
    yield Row(
        f"evaluation of {metrics} metrics, two golds, from files to report, {name}",
        total,
        "s",
        maximum=MAX_SECONDS,
        note=", ".join(f"{part} {value:.2f} s" for part, value in seconds.items()),
    )


def evaluate_all(folder: str, report: str) -> dict[str, float]:
    """Go from files to a report; return how long each part took."""
    human_scores, metric_scores = Path(folder, "human-scores"), Path(folder, "metric-scores")
    golds = [
        f"{kind}={path}"
        for kind, name in (("mqm", "mqm"), ("da", "da-sqm"))
        for path in sorted(human_scores.glob(f"en-de.{name}.*.score"))
    ]
    moments = [time.perf_counter()]
    files = read_files(
        [metric_scores / "en-de"],
        golds,
        directions=Directions(higher=["en-de.mqm"], otherwise=True),
        texts=Path(folder, "sources", "en-de.txt"),
        documents=Path(folder, "documents", "en-de.docs"),
    )
    moments.append(time.perf_counter())
    systems = {system for table in files.tables for system, _ in table.keys}
    options = Options(without_systems=tuple(sorted(systems & {"refA", "synthetic_ref"})))
    evaluation = evaluate(
        files.tables, files.golds, options=options, texts=files.texts, processes=os.cpu_count() or 1
    )
    moments.append(time.perf_counter())
    write_report(evaluation, Path(report), processes=os.cpu_count() or 1)
    moments.append(time.perf_counter())
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "reading": moments[1] - moments[0],
        "evaluating": moments[2] - moments[1],
        "tables and pictures": moments[3] - moments[2],
        "processor, all processes": sum(usage.ru_utime + usage.ru_stime for usage in usages),
    }


def write_synthetic(
    folder: Path, n_metrics: int, n_systems: int = N_SYSTEMS, n_segments: int = N_SEGMENTS
) -> None:
    """Write metrics from good to poor and two golds in the layout of mt-metrics-eval."""
    rng = np.random.default_rng(1)
    systems = [f"system-{i}" for i in range(n_systems - 1)] + ["refA"]
    quality = rng.normal(size=(n_systems, 1)) * 0.3 + rng.normal(size=(n_systems, n_segments))

    def write(name: str, lines: list[str]) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")

    def write_scores(name: str, scores: np.ndarray, is_scored: np.ndarray) -> None:
        lines = [
            f"{system}\t{score if is_scored[place] else None}"
            for system, row in zip(systems, scores, strict=True)
            for place, score in enumerate(row.tolist())
        ]
        write(f"{name}.seg.score", lines)

    for i, noise in enumerate(np.linspace(0.5, 3, n_metrics)):
        scores = quality + noise * rng.normal(size=quality.shape)
        write_scores(f"metric-scores/en-de/metric-{i}", scores, np.ones(n_segments, dtype=bool))
    for name, share in (("mqm", 0.83), ("da-sqm", 0.98)):
        scores = np.round(4 * (quality + rng.normal(size=quality.shape)))
        write_scores(f"human-scores/en-de.{name}", scores, rng.random(n_segments) < share)
    lengths = rng.integers(3, 120, size=n_segments)
    write("sources/en-de.txt", [" ".join(["word"] * n) for n in lengths])
    write("documents/en-de.docs", [f"news\tdocument-{i // 8}" for i in range(n_segments)])


if __name__ == "__main__":
    run(measure, __doc__, sizes={"metrics": (N_METRICS, 3)})
