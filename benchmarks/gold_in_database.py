"""From ratings in the database to stored gold, and evidence after a submission: time, memory, growth.

    python -m benchmarks.gold_in_database [--ratings 1000000] [--database sqlite|postgres]

A new database is filled with synthetic ratings, a tenth of them and then all. Gold, plain and weighted, is built by
the platform's own service, each time in a new process, whose peak memory is reported (PostgreSQL's server not included).
Then a hundred submitted HITs are given their evidence, one by one.
"""

import statistics
import time
from collections.abc import Iterator
from typing import Any

import benchmarks.django_setup  # noqa: F401
from analysis.gold.runs import build_gold
from analysis.stats.segments import Method
from benchmarks.filling import N_PENDING, fill
from benchmarks.measuring import affordable, in_own_process, peak_megabytes
from benchmarks.table import Row, run
from hits.models import Assignment, Campaign
from hits.workers.trust import update_evidence
from tests.concurrency.databases import DATABASES, platform_environment

# The platform's targets on an ordinary machine.
MAX_MICROSECONDS_PER_RATING, MAX_MEGABYTES = 10.0, 1_000.0
MAX_WEIGHTED_MICROSECONDS = 15.0
MAX_EVIDENCE_MS = 50.0
# Ten times as many ratings may take this much longer per rating: linear, with some tolerance.
MAX_GROWTH = 1.3

# How often gold is built; the fastest run counts.
N_RUNS = 3
# The time for filling and building gold; a slower machine gets fewer ratings.
MAX_SECONDS = 600.0
MAX_EVIDENCE_SECONDS = 30.0


METHODS = (
    ("per_worker", "gold", MAX_MICROSECONDS_PER_RATING),
    ("weighted", "weighted gold", MAX_WEIGHTED_MICROSECONDS),
)


def measure(database: str, *, ratings: int) -> Iterator[Row]:
    with DATABASES[database]() as make_database:
        started = time.perf_counter()
        few = golds_of(make_database("tenth"), ratings // 10)
        took = time.perf_counter() - started
        n_ratings = affordable(ratings, measured=ratings // 10, took=took, seconds=MAX_SECONDS)
        url = make_database("whole")
        many = golds_of(url, n_ratings)
        for method, name, maximum in METHODS:
            yield from rows_of(f"{database}: {name}", many[method], few[method], maximum)
        evidence = in_own_process(give_evidence, environment=platform_environment(url))
        yield Row(
            f"{database}: evidence after a submission, median",
            evidence["median"],
            "ms",
            maximum=MAX_EVIDENCE_MS,
            note=f"p95 {evidence['p95']:.1f} ms, processor {evidence['processor']:.1f} ms, "
            f"n {evidence['n']}",
        )


def rows_of(name: str, gold: dict[str, Any], few: dict[str, Any], maximum: float) -> Iterator[Row]:
    """Yield the time per rating, next to that with a tenth of the ratings, and the memory."""
    title = f"{name} of {gold['n_ratings']:,} ratings"
    parts = ", ".join(f"{part} {gold[part]:.2f}" for part in ("loading", "computing", "storing"))
    yield Row(
        f"{title} against {few['n_ratings']:,}",
        gold["microseconds"],
        "µs/rating",
        few["microseconds"],
        maximum=maximum,
        max_ratio=MAX_GROWTH,
        note=f"{gold['seconds']:.2f} s ({parts}), {gold['processor']:.2f} s of processor time; "
        f"{gold['n_scored']:,} translations scored, {gold['n_incomplete']:,} incomplete",
    )
    yield Row(
        f"{title}, peak memory against before",
        gold["megabytes"],
        "MB",
        gold["megabytes_before"],
        maximum=MAX_MEGABYTES,
    )


def golds_of(url: str, n_ratings: int) -> dict[str, dict[str, Any]]:
    """Fill a database and build its gold several times by each method; return the figures of the fastest runs."""
    environment = platform_environment(url)
    counts = in_own_process(fill, environment=environment, n_ratings=n_ratings)
    figures = {}
    for method, _, _ in METHODS:
        runs = [
            in_own_process(time_gold, environment=environment, method=method) for _ in range(N_RUNS)
        ]
        fastest = min(runs, key=lambda each: each["seconds"])
        microseconds = 1e6 * fastest["seconds"] / counts["n_ratings"]
        figures[method] = counts | fastest | {"microseconds": microseconds}
    return figures


def time_gold(method: Method) -> dict[str, float]:
    campaign = Campaign.objects.get()
    before = peak_megabytes()
    moments, processor = [time.perf_counter()], time.process_time()
    gold_run = build_gold(
        campaign=campaign,
        method=method,
        progress=lambda done, total: moments.append(time.perf_counter()),
    )
    return {
        "loading": moments[1] - moments[0],
        "computing": moments[3] - moments[1],
        "storing": moments[4] - moments[3],
        "seconds": moments[4] - moments[0],
        "processor": time.process_time() - processor,
        "megabytes": peak_megabytes(),
        "megabytes_before": before,
        "n_scored": gold_run.n_scored,
        "n_incomplete": gold_run.n_incomplete,
    }


def give_evidence() -> dict[str, float]:
    pending = Assignment.objects.filter(evidence_at=None).order_by("pk")
    milliseconds: list[float] = []
    processor = time.process_time()
    for pk in pending.values_list("pk", flat=True)[:N_PENDING]:
        if sum(milliseconds) > 1000 * MAX_EVIDENCE_SECONDS:
            break
        assignment = Assignment.objects.select_related("hit__campaign").get(pk=pk)
        started = time.perf_counter()
        update_evidence(assignment=assignment)
        milliseconds.append(1000 * (time.perf_counter() - started))
    return {
        "median": statistics.median(milliseconds),
        "p95": statistics.quantiles(milliseconds, n=20)[-1],
        "processor": 1000 * (time.process_time() - processor) / len(milliseconds),
        "n": len(milliseconds),
    }


if __name__ == "__main__":
    run(
        measure,
        __doc__,
        sizes={"ratings": (1_000_000, 20_000)},
        databases=["sqlite", "postgres"],
    )
