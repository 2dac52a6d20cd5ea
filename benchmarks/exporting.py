"""Export ratings: processor time and peak memory for each format, against a plain `csv.writer`.

    python -m benchmarks.exporting [--ratings 300000] [--database sqlite|postgres]

Every measurement runs in a separate process. The baseline writes the same cells from tuples that are already in
memory, with no database, no pseudonyms and no escaping. `query alone` fetches the rows and drops them. A second,
smaller export shows whether memory grows. Processor time is reported because a busy machine affects it least; that
of PostgreSQL's server is not included.
"""

import csv
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import benchmarks.django_setup  # noqa: F401
from analysis.exporting import export
from analysis.exporting.batches import read_batches
from analysis.exporting.queries import ratings as ratings_table
from benchmarks.filling import fill
from benchmarks.measuring import affordable, best_of, in_own_process, peak_megabytes
from benchmarks.table import Row, run
from hits.models import Campaign
from tests.concurrency.databases import DATABASES, platform_environment

# CSV may take at most this many times as long as the plain writer.
MAX_RATIO = 6.0
FORMATS = ("csv", "tsv", "jsonl", "parquet")
NUMBERS = ("hit", "position", "score", "elapsed_ms", "active_ms")
# The time for filling the database; a slower machine gets fewer ratings.
MAX_SECONDS = 300.0

Figures = dict[str, float]


def measure(database: str, *, ratings: int) -> Iterator[Row]:
    with DATABASES[database]() as make_database, TemporaryDirectory() as folder:
        tenth, full = (platform_environment(make_database(name)) for name in ("tenth", "whole"))
        started = time.perf_counter()
        in_own_process(fill, environment=tenth, n_ratings=ratings // 10)
        took = time.perf_counter() - started
        n_ratings = affordable(ratings, measured=ratings // 10, took=took, seconds=MAX_SECONDS)
        n_ratings = in_own_process(fill, environment=full, n_ratings=n_ratings)["n_ratings"]
        few = in_own_process(export_ratings, environment=tenth, folder=folder, format="csv")
        figures = {
            format: in_own_process(export_ratings, environment=full, folder=folder, format=format)
            for format in FORMATS
        }
        figures["query alone"] = in_own_process(query_ratings, environment=full)
        plain = in_own_process(write_plainly, environment=full, folder=folder)
    title = f"{database}: export of {n_ratings:,} ratings"
    for name, own_figures in figures.items():
        seconds, n_bytes = own_figures["seconds"], own_figures["n_bytes"]
        yield Row(
            f"{title}, {name}",
            seconds,
            "s",
            plain["seconds"],
            max_ratio=MAX_RATIO if name == "csv" else None,
            note=f"{n_ratings / seconds:,.0f} rows/s, {n_bytes / seconds / 1e6:.1f} MB/s, "
            f"peak memory {own_figures['megabytes']:.0f} MB",
        )
    yield Row(
        f"{title}, csv, peak memory against a tenth",
        figures["csv"]["megabytes"],
        "MB",
        few["megabytes"],
    )


def export_ratings(folder: str, format: str) -> Figures:
    campaign = Campaign.objects.get()
    path = Path(folder) / f"ratings.{format}"
    seconds, summary = best_of(
        lambda: export(kind="ratings", campaign=campaign, path=path, format=format, force=True),
        max_runs=3,
        clock=time.process_time,
    )
    return {"seconds": seconds, "n_bytes": summary.n_bytes, "megabytes": peak_megabytes()}


def query_ratings() -> Figures:
    query = ratings_table(Campaign.objects.get())
    seconds, _ = best_of(
        lambda: sum(1 for _ in read_batches(query)), max_runs=3, clock=time.process_time
    )
    return {"seconds": seconds, "n_bytes": 0, "megabytes": peak_megabytes()}


def write_plainly(folder: str) -> Figures:
    """Write the cells of the exported CSV file again."""
    with Path(folder, "ratings.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    is_number = [name in NUMBERS for name in header]
    cells = [
        tuple(int(cell) if number else cell for cell, number in zip(row, is_number, strict=True))
        for row in rows
    ]

    def write() -> None:
        with Path(folder, "plain.csv").open("w", newline="") as file:
            csv.writer(file).writerows(cells)

    seconds, _ = best_of(write, max_runs=3, clock=time.process_time)
    return {"seconds": seconds}


if __name__ == "__main__":
    run(measure, __doc__, sizes={"ratings": (300_000, 20_000)}, databases=["sqlite", "postgres"])
