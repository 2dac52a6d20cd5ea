"""Import a campaign and build its HITs: items per second and peak memory.

    python -m benchmarks.import_and_build

Each step runs in a separate process, on a new SQLite database. The campaign is the published cs-en test set if it
is available (tests/replication/README.md), and otherwise one of the same size made of random words. The baseline is
the bare database driver writing the same items, without Django, checks or constraints.
"""

import random
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import benchmarks.django_setup  # noqa: F401
from benchmarks.measuring import best_of, in_own_process, peak_megabytes
from benchmarks.table import Row, run
from hits.campaigns.building import build_hits
from hits.campaigns.importing import import_campaign
from hits.models import Campaign
from tests.concurrency.databases import platform_environment, sqlite_databases
from tests.replication.locating import data_folder

PUBLISHED = data_folder() / "newstest2016-csen"
N_SEGMENTS, N_SYSTEMS = 2_999, 5

# The platform's targets on an ordinary machine.
MIN_ITEMS_PER_SECOND = 7_000
MAX_MEGABYTES = 300

ITEMS = "SELECT hit_id, code, position, role, translation_id, text, partner_id FROM hits_item"

Figures = dict[str, float]


def measure(*, segments: int) -> Iterator[Row]:
    with sqlite_databases() as make_database, TemporaryDirectory() as scratch:
        folder = PUBLISHED
        if segments != N_SEGMENTS or not PUBLISHED.is_dir():
            folder = random_campaign(Path(scratch) / "random-words", segments)
        url = make_database("benchmark")
        environment = platform_environment(url)
        imported = in_own_process(import_folder, environment=environment, folder=folder)
        built = in_own_process(build, environment=environment)
        baseline = in_own_process(write_with_driver, path=url.removeprefix("sqlite:///"))
    for title, figures, minimum in (
        (
            f"import {imported['n_items']:,} translations ({folder.name})",
            imported,
            MIN_ITEMS_PER_SECOND,
        ),
        (
            f"build {built['n_hits']:,} HITs of {built['n_items']:,} items",
            built,
            MIN_ITEMS_PER_SECOND,
        ),
    ):
        yield Row(
            f"{title}, against the bare driver",
            figures["n_items"] / figures["seconds"],
            "items/s",
            baseline["n_items"] / baseline["seconds"],
            minimum=minimum,
        )
        yield Row(f"{title}, peak memory", figures["megabytes"], "MB", maximum=MAX_MEGABYTES)


def random_campaign(folder: Path, n_segments: int) -> Path:
    rng = random.Random(1)
    words = [
        "".join(rng.choices("abcdefghijklmnoprstuvwyz", k=rng.randint(2, 9))) for _ in range(5_000)
    ]
    (folder / "systems").mkdir(parents=True)
    names = ["sources.txt", "references.txt", *(f"systems/s{i}.txt" for i in range(N_SYSTEMS))]
    for name in names:
        lines = (" ".join(rng.choices(words, k=rng.randint(4, 34))) for _ in range(n_segments))
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def import_folder(folder: str, presentation: str = "alone") -> Figures:
    started = time.perf_counter()
    summary = import_campaign(
        path=Path(folder),
        name="benchmark",
        source_language="cs",
        target_language="en",
        seed=1,
        presentation=presentation,
        # Balanced texts take longer to make, as benchmarks.degradation shows.
        degradation=Campaign.Degradation.PUBLISHED,
    )
    seconds = time.perf_counter() - started
    return {"n_items": summary.n_outputs, "seconds": seconds, "megabytes": peak_megabytes()}


def build() -> Figures:
    campaign = Campaign.objects.get()
    started = time.perf_counter()
    summary = build_hits(campaign=campaign)
    seconds = time.perf_counter() - started
    return {
        "n_items": summary.n_items,
        "n_hits": summary.n_hits,
        "seconds": seconds,
        "megabytes": peak_megabytes(),
    }


def write_with_driver(path: str) -> Figures:
    rows = sqlite3.connect(path).execute(ITEMS).fetchall()
    target = sqlite3.connect(f"{path}.baseline")

    def write() -> None:
        target.execute("DROP TABLE IF EXISTS item")
        target.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, a, b, c, d, e, f, g)")
        with target:
            target.executemany(
                "INSERT INTO item (a, b, c, d, e, f, g) VALUES (?,?,?,?,?,?,?)", rows
            )

    seconds, _ = best_of(write)
    return {"n_items": len(rows), "seconds": seconds}


if __name__ == "__main__":
    run(measure, __doc__, sizes={"segments": (N_SEGMENTS, 200)})
