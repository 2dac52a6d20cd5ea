"""Import a campaign and build its HITs: items per second and peak memory.

    python -m benchmarks.import_and_build [FOLDER] [--from cs --to en]

Each step runs in a process of its own, on a fresh SQLite database, so that its peak memory is its own.
Without a folder, the published cs-en test set is used if it is there (tests/replication/README.md), and
otherwise a campaign of the same size made of random words. The baseline is the same number of rows of the same
texts written by the bare database driver, without Django, checks or constraints, in the same run.
"""

import argparse
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.replication.locating import data_folder

PUBLISHED = data_folder() / "newstest2016-csen"
N_SEGMENTS, N_SYSTEMS = 2_999, 5

# What the platform is held to, on an ordinary machine.
MIN_ITEMS_PER_SECOND = 7_000
MAX_MEMORY_MB = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--from", dest="source", default="cs")
    parser.add_argument("--to", dest="target", default="en")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        STEPS[options.step](options)
        return
    with tempfile.TemporaryDirectory() as scratch:
        options.folder = options.folder or _default_folder(Path(scratch))
        print(f"Campaign: {options.folder.name}, SQLite, {os.cpu_count()} cores")
        environment = os.environ | {"DA_DEBUG": "1", "DA_DATA_DIR": scratch}
        environment.pop("DATABASE_URL", None)
        _run("migrate", options, environment)
        for step in ("import", "build", "baseline"):
            _run(step, options, environment)


def _default_folder(scratch: Path) -> Path:
    return PUBLISHED if PUBLISHED.is_dir() else _random_campaign(scratch / "random-words")


def _random_campaign(folder: Path) -> Path:
    rng = random.Random(1)
    words = [
        "".join(rng.choices("abcdefghijklmnoprstuvwyz", k=rng.randint(2, 9))) for _ in range(5_000)
    ]
    (folder / "systems").mkdir(parents=True)
    names = ["sources.txt", "references.txt", *(f"systems/s{i}.txt" for i in range(N_SYSTEMS))]
    for name in names:
        lines = (" ".join(rng.choices(words, k=rng.randint(4, 34))) for _ in range(N_SEGMENTS))
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def _run(step: str, options: argparse.Namespace, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "benchmarks.import_and_build", str(options.folder)]
    command += ["--from", options.source, "--to", options.target, "--step", step]
    subprocess.run(command, env=environment, check=True)


def _report(title: str, n_items: int, seconds: float) -> float:
    rate = n_items / seconds
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{title:<28} {n_items:>7,} items  {seconds:6.2f} s  {rate:>8,.0f} items/s"
        f"  peak memory {memory:4.0f} MB",
        flush=True,
    )
    return rate


def _bars(rate: float) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{'':<28} {rate / MIN_ITEMS_PER_SECOND:.1f} times the bar of {MIN_ITEMS_PER_SECOND:,} items/s,"
        f" {memory / MAX_MEMORY_MB:.2f} of the {MAX_MEMORY_MB} MB allowed",
        flush=True,
    )


def _with_django() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "da_platform.settings"
    import django
    from django.conf import settings

    django.setup()
    # Debug would keep every query in memory.
    settings.DEBUG = False


def _migrate(options: argparse.Namespace) -> None:
    _with_django()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def _import(options: argparse.Namespace) -> None:
    _with_django()
    from hits.importing import import_campaign

    started = time.perf_counter()
    summary = import_campaign(
        path=options.folder,
        name="benchmark",
        source_language=options.source,
        target_language=options.target,
        seed=1,
    )
    _bars(_report("import (translations)", summary.n_outputs, time.perf_counter() - started))
    print(f"{'':<28} {summary.n_translations:,} of them differ; equal ones are rated once")


def _build(options: argparse.Namespace) -> None:
    _with_django()
    from hits.building import build_hits
    from hits.models import Campaign

    campaign = Campaign.objects.get()
    started = time.perf_counter()
    summary = build_hits(campaign=campaign)
    rate = _report(f"build ({summary.n_hits} HITs)", summary.n_items, time.perf_counter() - started)
    _bars(rate)


def _baseline(options: argparse.Namespace) -> None:
    """Write the built items' texts again with the driver alone."""
    path = Path(os.environ["DA_DATA_DIR"])
    source = sqlite3.connect(path / "db.sqlite3")
    rows = source.execute(
        "SELECT hit_id, code, position, role, translation_id, text, partner_id FROM hits_item"
    ).fetchall()
    target = sqlite3.connect(path / "baseline.sqlite3")
    target.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, a, b, c, d, e, f, g)")
    started = time.perf_counter()
    with target:
        target.executemany("INSERT INTO item (a, b, c, d, e, f, g) VALUES (?,?,?,?,?,?,?)", rows)
    _report("baseline: bare driver", len(rows), time.perf_counter() - started)


STEPS: dict[str, Callable[[argparse.Namespace], None]] = {
    "migrate": _migrate,
    "import": _import,
    "build": _build,
    "baseline": _baseline,
}

if __name__ == "__main__":
    main()
