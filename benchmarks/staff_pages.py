"""How long the server takes for pages of staff, with thousands of workers and a million ratings.

    python -m benchmarks.staff_pages [--ratings 1000000] [--workers 2000] [--database sqlite|postgres|both]

A fresh database is filled past the platform, evidence after every HIT included. Each page is then asked for
in-process, through all middleware, by an admin who is logged in: the time is the server's, without the network.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from analysis.stats.flags import AssignmentColumns, RatingColumns, flag_workers
from analysis.stats.quality_control import quality_control
from benchmarks.gold_from_ratings import HIT_ITEMS, SEED, Columns, make_ratings
from benchmarks.gold_in_database import fill_database, fresh, settle_statistics, with_django

# What the pages that admins live in are held to; the others are reported.
MAX_MS = 200.0
N_REQUESTS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2_000)
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(STEPS[options.step](options)))
        return
    names = ["sqlite", "postgres"] if options.database == "both" else [options.database]
    within = [benchmark(name, options) for name in names]
    if not all(within):
        raise SystemExit(1)


def benchmark(database: str, options: argparse.Namespace) -> bool:
    """Measure on one kind of database, print, and return whether all bars were kept."""
    with tempfile.TemporaryDirectory() as scratch, fresh(database, Path(scratch)) as environment:

        def run(step: str) -> dict[str, Any]:
            command = [sys.executable, "-m", "benchmarks.staff_pages", "--step", step]
            command += ["--ratings", str(options.ratings), "--workers", str(options.workers)]
            done = subprocess.run(
                command, env=environment, check=True, stdout=subprocess.PIPE, text=True
            )
            return dict(json.loads(done.stdout))

        filled = run("fill")
        print(
            f"\n{database}: {filled['n_workers']:,} workers, {filled['n_ratings']:,} ratings, "
            f"{filled['n_evidence']:,} pieces of evidence"
        )
        within = True
        pages = run("measure")
        if taken := pages.pop("counting"):
            print(f"  large enough for its numbers to be kept; counting them took {taken:.0f} ms")
        for page, facts in pages.items():
            bar = f"; bar {MAX_MS:g}" if facts["has_bar"] else ""
            print(
                f"  {page:<32} {facts['median']:7.1f} ms median, {facts['worst']:7.1f} at worst, "
                f"{facts['busy']:7.1f} of processor time, {facts['n_queries']:>2} queries{bar}"
            )
            within &= facts["median"] < MAX_MS or not facts["has_bar"]
    return within


# Steps, each in a process of its own ------------------------------------------------------------


def _fill(options: argparse.Namespace) -> dict[str, Any]:
    with_django()
    ratings = make_ratings(options.ratings, np.random.default_rng(SEED))
    spread_over(ratings, options.workers)
    fill_database(ratings)
    n_evidence = _fill_evidence(ratings)
    settle_statistics()
    n_workers = len(np.unique(ratings["workers"]))
    return {"n_workers": n_workers, "n_ratings": len(ratings["scores"]), "n_evidence": n_evidence}


def spread_over(ratings: Columns, n_workers: int) -> None:
    """Split workers until there are so many: each goes on as several who share the HITs."""
    n_now = len(np.unique(ratings["workers"]))
    n_each = max(1, n_workers // n_now)
    ratings["workers"] = ratings["workers"] * n_each + ratings["assignments"] % n_each


def _fill_evidence(ratings: Columns) -> int:
    """Store what the ratings say of each worker, once for each HIT, as if nothing had changed meanwhile."""
    from hits.models import Assignment, Evidence, Participation
    from hits.trust import evidence_fields

    names = ("scores", "workers", "roles", "assignments", "items", "partners")
    qc = quality_control(*(ratings[name] for name in names), submitted=ratings["assignments"])
    first = slice(None, None, HIT_ITEMS)
    started = 60.0 * ratings["assignments"][first]
    positions = np.arange(len(ratings["scores"])) % HIT_ITEMS
    flags = flag_workers(
        RatingColumns(*(ratings[name] for name in names[:4]), positions),
        AssignmentColumns(
            ratings["workers"][first], started, started + 900, np.zeros(len(started), dtype=bool)
        ),
    )
    fields = {
        int(worker) + 1: evidence_fields(qc, flags, place)
        for place, worker in enumerate(qc.workers)
    }
    people = dict(Participation.objects.values_list("worker", "pk"))
    rows = Assignment.objects.order_by("pk").values_list("pk", "worker")
    evidence = [
        Evidence(participation_id=people[worker], assignment_id=pk, **fields[worker])
        for pk, worker in rows
    ]
    Evidence.objects.bulk_create(evidence, batch_size=500)
    return len(evidence)


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    with_django()
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client
    from django.urls import reverse

    from hits.campaigns.keeping import keep_counts
    from hits.models import Campaign, Participation

    # As the schedule does every minute, whoever looks.
    started = time.perf_counter()
    n_counted = keep_counts()
    counting = 1000 * (time.perf_counter() - started) if n_counted else None
    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    campaign = Campaign.objects.get()
    people = list(Participation.objects.select_related("worker").order_by("pk")[:50])

    def path(name: str, *args: object) -> str:
        return reverse(name, args=[campaign.code, *args])

    def deciding(n: int) -> str:
        chosen = "&".join(f"worker={one.worker.code}" for one in people[:n])
        return f"{path('decide_workers')}?choice=exclude&{chosen}"

    table, worker = path("campaign_workers"), people[0].worker.code
    pages = {
        "campaign overview": (path("campaign_overview"), True),
        "workers": (table, True),
        "workers, by p": (f"{table}?sort=p", True),
        "workers, flagged, by flags": (f"{table}?flag=scrs&sort=-flags", True),
        "workers, found by id, page 2": (f"{table}?search=1&page=2", True),
        "one worker": (path("campaign_worker", worker), True),
        "one picture, SVG": (path("worker_picture", worker, "scores-over-time", "svg"), False),
        "preview, one worker": (deciding(1), False),
        "preview, fifty workers": (deciding(50), False),
    }
    timed = {
        page: _timed(lambda url=url: client.get(url)) | {"has_bar": has_bar}  # type: ignore[misc]
        for page, (url, has_bar) in pages.items()
    }
    return {"counting": counting, **timed}


def _timed(ask: Callable[[], Any]) -> dict[str, float]:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    # The first request also loads modules and templates, which a server does once.
    with CaptureQueriesContext(connection) as queries:
        assert ask().status_code == 200
    n_queries = len(queries)
    milliseconds, busy = [], time.process_time()
    for _ in range(N_REQUESTS):
        started = time.perf_counter()
        ask()
        milliseconds.append(1000 * (time.perf_counter() - started))
    return {
        "median": statistics.median(milliseconds),
        "worst": max(milliseconds),
        "busy": 1000 * (time.process_time() - busy) / N_REQUESTS,
        "n_queries": n_queries,
    }


STEPS = {"fill": _fill, "measure": _measure}

if __name__ == "__main__":
    main()
