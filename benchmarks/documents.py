"""Saving a rating in its document next to saving one alone: eight workers who never pause, queries, response times.

    python -m benchmarks.documents [--database sqlite|postgres] [--seconds 10]

Two platforms on databases of one kind, one with a campaign of documents and one
without, both with HITs of 100 items. The same scripted workers send ratings to both, in turns.
"""

from collections.abc import Iterator

from tests.concurrency.databases import DATABASES

from .clients import RATE
from .stage import Stage, prepare_database, serving, take_turns
from .table import Row, run

N_WORKERS = 8
# The platform's targets: queries of one rating, and how much longer it may take than one alone.
MAX_QUERIES = 4
MAX_RATIO = 1.2


def measure(database: str, *, seconds: int) -> Iterator[Row]:
    with DATABASES[database]() as make_database:
        alone, in_context = make_database("alone"), make_database("in_context")
        prepare_database(alone, 0)
        prepared = prepare_database(in_context, 0, presentation="document")
        with serving(alone) as alone_server, serving(in_context) as context_server:
            stages = {
                "alone": (Stage.of(alone_server, alone, N_WORKERS), RATE),
                "context": (Stage.of(context_server, in_context, N_WORKERS), RATE),
            }
            timings = take_turns(stages, seconds)
    without, within = timings["alone"], timings["context"]
    queries = prepared["n_queries"]
    yield Row(
        f"{database}: queries of a rating in its document at item 99 against item 1",
        queries["99"],
        "",
        queries["1"],
        maximum=MAX_QUERIES,
        max_ratio=1,
    )
    yield Row(
        f"{database}: {N_WORKERS} workers, a rating in its document against one alone, mean",
        1000 * N_WORKERS / within.per_second,
        "ms",
        1000 * N_WORKERS / without.per_second,
        max_ratio=MAX_RATIO,
        note=f"in documents: {within.note}\n  alone: {without.note}",
    )
    yield Row(
        f"{database}: {N_WORKERS} workers, a rating in its document against one alone, p50",
        within.quantile_ms(50),
        "ms",
        without.quantile_ms(50),
        max_ratio=MAX_RATIO,
    )


if __name__ == "__main__":
    run(measure, __doc__, sizes={"seconds": (10, 1)}, databases=["sqlite", "postgres"])
