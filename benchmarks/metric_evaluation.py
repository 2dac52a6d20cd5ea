"""Times a whole evaluation at the size of a WMT metrics task: python -m benchmarks.metric_evaluation

44 metrics with 7,241 scores each against two golds, from files to a report with tables and pictures. The real
files of WMT23 English to German are used if they are there (tests/replication/README.md), else synthetic ones of
the same size and layout.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.replication.locating import data_folder

from .bars import fail_if_missed, verdict

N_METRICS, N_SYSTEMS, N_SEGMENTS = 44, 13, 557

Split = list[tuple[str, float]]


@contextmanager
def timed(name: str, split: Split) -> Iterator[None]:
    start = time.perf_counter()
    yield
    split.append((name, time.perf_counter() - start))


def real_folder() -> Path | None:
    folder = data_folder() / "wmt23-mtme" / "wmt23"
    return folder if folder.is_dir() else None


def write_synthetic(folder: Path, seed: int) -> None:
    """Write metrics from good to poor and two golds in the layout of mt-metrics-eval."""
    import numpy as np

    rng = np.random.default_rng(seed)
    systems = [f"system-{i}" for i in range(N_SYSTEMS - 1)] + ["refA"]
    quality = rng.normal(size=(N_SYSTEMS, 1)) * 0.3 + rng.normal(size=(N_SYSTEMS, N_SEGMENTS))
    (folder / "metric-scores" / "en-de").mkdir(parents=True)
    (folder / "human-scores").mkdir()
    (folder / "sources").mkdir()
    (folder / "documents").mkdir()

    def write(path: Path, scores: np.ndarray, has_gold: np.ndarray | None = None) -> None:
        lines = [
            f"{system}\t{score if has_gold is None or has_gold[place] else None}"
            for system, row in zip(systems, scores, strict=True)
            for place, score in enumerate(row.tolist())
        ]
        path.write_text("\n".join(lines) + "\n")

    for i, noise in enumerate(np.linspace(0.5, 3, N_METRICS)):
        own = quality + noise * rng.normal(size=quality.shape)
        write(folder / "metric-scores" / "en-de" / f"metric-{i}.seg.score", own)
    for name, share in (("mqm", 0.83), ("da-sqm", 0.98)):
        own = np.round(4 * (quality + rng.normal(size=quality.shape)))
        path = folder / "human-scores" / f"en-de.{name}.seg.score"
        write(path, own, rng.random(N_SEGMENTS) < share)
    lengths = rng.integers(3, 120, size=N_SEGMENTS)
    texts = [" ".join(["word"] * n) for n in lengths]
    (folder / "sources" / "en-de.txt").write_text("\n".join(texts) + "\n")
    documents = [f"news\tdocument-{i // 8}" for i in range(N_SEGMENTS)]
    (folder / "documents" / "en-de.docs").write_text("\n".join(documents) + "\n")


def evaluate_all(folder: Path, out: Path, processes: int) -> Split:
    """Go from files to a report and say how long each part took."""
    split: Split = []
    with timed("imports", split):
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "da_platform.settings")
        os.environ.setdefault("DA_DEBUG", "1")
        import django

        django.setup()
        from analysis.evaluating import Directions, Options, evaluate, write_report
        from analysis.evaluating.files import read_files
    golds = [
        f"{kind}={path}"
        for kind, name in (("mqm", "mqm"), ("da", "da-sqm"))
        for path in sorted((folder / "human-scores").glob(f"en-de.{name}.*.score"))
    ]
    with timed("reading", split):
        read = read_files(
            [folder / "metric-scores" / "en-de"],
            golds,
            directions=Directions(higher=["en-de.mqm"], otherwise=True),
            texts=folder / "sources" / "en-de.txt",
            documents=folder / "documents" / "en-de.docs",
        )
    known = {system for table in read.tables for system, _ in table.keys}
    without = tuple(sorted(known & {"refA", "synthetic_ref"}))
    with timed("evaluating", split):
        options = Options(without_systems=without)
        evaluated = evaluate(read.tables, read.golds, options=options, texts=read.texts)
    with timed(f"tables and pictures, {processes} processes", split):
        write_report(evaluated, out, processes=processes)
    return split


def main() -> None:
    parser = argparse.ArgumentParser(description="Time a whole evaluation of metrics.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bar", type=float, default=20, help="seconds it may take")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = real_folder()
        if folder is None:
            folder = Path(temporary) / "synthetic"
            write_synthetic(folder, options.seed)
        print(f"{'WMT23 en-de' if real_folder() else 'synthetic scores'}, two golds, all pairs")
        split = evaluate_all(folder, Path(temporary) / "report", options.processes)
    for name, seconds in split:
        print(f"{name:<40}{seconds:>8.2f} s")
    total = sum(seconds for _, seconds in split)
    word = verdict("all of it", is_met=total < options.bar)
    print(f"{'all of it':<40}{total:>8.2f} s   bar {options.bar:g} s: {word}")
    own, drawing = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    cpu = own.ru_utime + own.ru_stime + drawing.ru_utime + drawing.ru_stime
    print(f"{'processor time, all processes':<40}{cpu:>8.2f} s")
    load = os.getloadavg()[0]
    if load > len(os.sched_getaffinity(0)):
        print(f"The machine was busy with other things (load {load:.1f}).", file=sys.stderr)
    fail_if_missed()


if __name__ == "__main__":
    main()
