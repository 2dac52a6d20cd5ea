"""How long the server takes for staff pages, with thousands of workers and a million ratings.

    python -m benchmarks.staff_pages [--ratings 1000000] [--workers 2000] [--database sqlite|postgres]

A new database is filled directly, including the evidence after every HIT. Each page is then requested in-process,
through all middleware, by a logged-in admin: the time is the server's, without the network. The baseline is the
login page, which goes through the same middleware and hardly queries the database.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

import benchmarks.django_setup  # noqa: F401
from analysis.stats.flags import AssignmentColumns, RatingColumns, flag_workers
from analysis.stats.quality_control import quality_control
from benchmarks.filling import QC_COLUMNS, analyse_tables, fill_database
from benchmarks.measuring import affordable, in_own_process
from benchmarks.synthetic_ratings import HIT_ITEMS, SEED, Columns, make_ratings
from benchmarks.table import Row, run
from hits.campaigns.kept_counts import keep_counts
from hits.models import Assignment, Campaign, Evidence, Participation
from hits.workers.weighing import evidence_fields
from tests.concurrency.databases import DATABASES, platform_environment
from tests.people import client_of

# The target for the pages that admins use all day; the others are only reported.
MAX_MS = 200.0
OFTEN_USED = ("campaign overview", "workers", "one worker")
N_REQUESTS = 15
# A page that has taken this long in total is not requested again.
MAX_SECONDS_PER_PAGE = 10.0
# The time for filling the database; a slower machine gets fewer ratings.
MAX_FILL_SECONDS = 600.0

BASELINE = "login"


def measure(database: str, *, ratings: int, workers: int) -> Iterator[Row]:
    with DATABASES[database]() as make_database:
        started = time.perf_counter()
        part = platform_environment(make_database("part"))
        in_own_process(fill, environment=part, n_ratings=ratings // 20, n_workers=workers // 20)
        took = time.perf_counter() - started
        n_ratings = affordable(ratings, measured=ratings // 20, took=took, seconds=MAX_FILL_SECONDS)
        environment = platform_environment(make_database("whole"))
        counts = in_own_process(
            fill, environment=environment, n_ratings=n_ratings, n_workers=workers
        )
        pages = in_own_process(time_staff_pages, environment=environment)
    size = f"{counts['n_workers']:,} workers, {counts['n_ratings']:,} ratings"
    if milliseconds := pages.pop("counting"):
        yield Row(f"{database}: counting for the overview, {size}", milliseconds, "ms")
    baseline = pages.pop(BASELINE)["median"]
    for page, figures in pages.items():
        yield Row(
            f"{database}: {page}, {size}",
            figures["median"],
            "ms",
            baseline,
            maximum=MAX_MS if page.startswith(OFTEN_USED) else None,
            note=f"slowest {figures['slowest']:.1f} ms, processor {figures['processor']:.1f} ms, "
            f"{figures['n_queries']} queries",
        )


def fill(n_ratings: int, n_workers: int) -> dict[str, int]:
    ratings = make_ratings(n_ratings, np.random.default_rng(SEED))
    split_workers(ratings, n_workers)
    fill_database(ratings)
    fill_evidence(ratings)
    analyse_tables()
    return {
        "n_workers": len(np.unique(ratings["workers"])),
        "n_ratings": len(ratings["scores"]),
    }


def split_workers(ratings: Columns, n_workers: int) -> None:
    """Split each worker into several who share the HITs, until there are enough workers."""
    n_each = max(1, n_workers // len(np.unique(ratings["workers"])))
    ratings["workers"] = ratings["workers"] * n_each + ratings["assignments"] % n_each


def fill_evidence(ratings: Columns) -> None:
    """Store the evidence from all ratings of each worker, once for each HIT, as if it had never changed."""
    columns = [ratings[name] for name in QC_COLUMNS]
    qc = quality_control(*columns, submitted=ratings["assignments"])
    first = slice(None, None, HIT_ITEMS)
    started = 60.0 * ratings["assignments"][first]
    flags = flag_workers(
        RatingColumns(*columns[:4], np.arange(len(ratings["scores"])) % HIT_ITEMS),
        AssignmentColumns(
            ratings["workers"][first], started, started + 900, np.zeros(len(started), dtype=bool)
        ),
    )
    fields = {
        int(worker) + 1: evidence_fields(qc, flags, place)
        for place, worker in enumerate(qc.workers)
    }
    participations = dict(Participation.objects.values_list("worker", "pk"))
    Evidence.objects.bulk_create(
        (
            Evidence(participation_id=participations[worker], assignment_id=pk, **fields[worker])
            for pk, worker in Assignment.objects.order_by("pk").values_list("pk", "worker")
        ),
        batch_size=500,
    )


def time_staff_pages() -> dict[str, Any]:
    return time_pages(urls_of)


def time_pages(urls_of: Callable[[Campaign], dict[str, str]]) -> dict[str, Any]:
    # As the schedule does every minute.
    started = time.perf_counter()
    n_counted = keep_counts()
    counting = 1000 * (time.perf_counter() - started) if n_counted else None
    settings.ALLOWED_HOSTS = ["testserver"]
    client = client_of("superuser")
    pages = {page: time_page(client, url) for page, url in urls_of(Campaign.objects.get()).items()}
    return {"counting": counting, BASELINE: time_page(Client(), reverse("login")), **pages}


def urls_of(campaign: Campaign) -> dict[str, str]:
    workers = [
        participation.worker.code
        for participation in Participation.objects.select_related("worker").order_by("pk")[:50]
    ]

    def url(name: str, *args: object) -> str:
        return reverse(name, args=[campaign.code, *args])

    def preview(n: int) -> str:
        chosen = "&".join(f"worker={code}" for code in workers[:n])
        return f"{url('decide_workers')}?choice=exclude&{chosen}"

    table = url("campaign_workers")
    return {
        "campaign overview": url("campaign_overview"),
        "workers": table,
        "workers, by p": f"{table}?sort=p",
        "workers, flagged, by flags": f"{table}?flag=scrs&sort=-flags",
        "workers, search by id, page 2": f"{table}?search=1&page=2",
        "one worker": url("campaign_worker", workers[0]),
        "picture of scores, SVG": url("worker_picture", workers[0], "scores-over-time", "svg"),
        "preview, one worker": preview(1),
        "preview, fifty workers": preview(50),
    }


def time_page(client: Client, url: str) -> dict[str, float]:
    # The first request also loads modules and templates, which a server does once.
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200, url
    n_queries = len(queries)
    milliseconds: list[float] = []
    processor = time.process_time()
    while len(milliseconds) < N_REQUESTS and sum(milliseconds) < 1000 * MAX_SECONDS_PER_PAGE:
        started = time.perf_counter()
        client.get(url)
        milliseconds.append(1000 * (time.perf_counter() - started))
    return {
        "median": statistics.median(milliseconds),
        "slowest": max(milliseconds),
        "processor": 1000 * (time.process_time() - processor) / len(milliseconds),
        "n_queries": n_queries,
    }


if __name__ == "__main__":
    run(
        measure,
        __doc__,
        sizes={"ratings": (1_000_000, 40_000), "workers": (2_000, 40)},
        databases=["sqlite", "postgres"],
    )
