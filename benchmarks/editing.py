"""Saving an edit next to saving a rating: eight workers who never pause, queries, response times.

    python -m benchmarks.editing [--database sqlite|postgres] [--seconds 10]

Two platforms on databases of one kind, one with a campaign of ratings and one of post-editing, both with HITs of 100
items. The same scripted workers send ratings to one and edits to the other, in turns. An edit is the text with a word
more, and what the page counts: keys, pastes, time in the field.
"""

from collections.abc import Iterator

from tests.concurrency.databases import DATABASES

from .clients import RATE
from .stage import Stage, prepare_database, serving, take_turns
from .table import Row, run

N_WORKERS = 8
# The platform's targets: queries of one edit, and how much longer it may take than a rating.
MAX_QUERIES = 6
MAX_RATIO = 1.3


def measure(database: str, *, seconds: int) -> Iterator[Row]:
    with DATABASES[database]() as make_database:
        rated, edited = make_database("rated"), make_database("edited")
        prepare_database(rated, 0)
        prepared = prepare_database(edited, 0, task="edit")
        with serving(rated) as rating_server, serving(edited) as editing_server:
            stages = {
                "rating": (Stage.of(rating_server, rated, N_WORKERS), RATE),
                "edit": (Stage.of(editing_server, edited, N_WORKERS), RATE),
            }
            timings = take_turns(stages, seconds)
    rating, edit = timings["rating"], timings["edit"]
    queries = prepared["n_queries"]
    yield Row(
        f"{database}: queries of an edit at item 99 against item 1",
        queries["99"],
        "",
        queries["1"],
        maximum=MAX_QUERIES,
        max_ratio=1,
    )
    yield Row(
        f"{database}: {N_WORKERS} workers, an edit against a rating, mean",
        1000 * N_WORKERS / edit.per_second,
        "ms",
        1000 * N_WORKERS / rating.per_second,
        max_ratio=MAX_RATIO,
        note=f"edits: {edit.note}\n  ratings: {rating.note}",
    )
    yield Row(
        f"{database}: {N_WORKERS} workers, an edit against a rating, p50",
        edit.quantile_ms(50),
        "ms",
        rating.quantile_ms(50),
        max_ratio=MAX_RATIO,
    )


if __name__ == "__main__":
    run(measure, __doc__, sizes={"seconds": (10, 1)}, databases=["sqlite", "postgres"])
