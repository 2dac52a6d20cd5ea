"""Eight workers who never pause: ratings per second, response times, queries.

    python -m benchmarks.rating [--database sqlite|postgres] [--seconds 10] [--stored 1000000]

Scripted workers, each with one open connection, send ratings to gunicorn with two processes and production
settings. In turns of a second or two they do the same with two bare views, which only store a row and look one
up: first on a server with plain Django, without middleware, and then behind the platform's middleware. They also
use a second platform whose database already holds a million ratings. So everything compared is measured in turns.
Workers get more HITs whenever they might run out, however fast the machine is.
"""

from collections.abc import Iterator, Mapping

from tests.concurrency.databases import DATABASES

from .clients import BARE_CURSOR, BARE_ORM, RATE, Timings
from .stage import Stage, prepare_database, serving, serving_bare, take_turns
from .table import Row, run

N_WORKERS = 8

# The platform's targets.
MAX_QUERIES = 6
# Relative to the bare views behind the same middleware: what a rating may cost in addition. Plain Django is a
# baseline without a target.
MIN_RATIO_BEHIND_MIDDLEWARE = 0.7
MAX_P50_RATIO = 1.2
# What a comparable tool without a database reaches under the same load.
MIN_PER_SECOND = {"postgres": 470}

ALONE, BEHIND = "plain Django", "bare view behind the middleware"
BARE_KINDS = {"ORM": BARE_ORM, "raw cursor": BARE_CURSOR}


def measure(database: str, *, seconds: int, stored: int) -> Iterator[Row]:
    with DATABASES[database]() as make_database:
        empty, grown = make_database("empty"), make_database("grown")
        prepared, n_stored = (
            prepare_database(empty, 0),
            prepare_database(grown, stored)["n_ratings"],
        )
        with (
            serving(empty) as server,
            serving(grown) as grown_server,
            serving_bare(empty) as bare_server,
        ):
            platform = Stage.of(server, empty, N_WORKERS)
            bare = Stage.of(bare_server, empty, N_WORKERS, platform.desks)
            grown_platform = Stage.of(grown_server, grown, N_WORKERS)
            timings = take_turns(kinds_of(platform, bare, grown_platform), seconds)
    yield Row(
        f"{database}: queries at item 99 against item 1",
        prepared["n_queries"]["99"],
        "",
        prepared["n_queries"]["1"],
        maximum=MAX_QUERIES,
        max_ratio=1,
    )
    yield from rows_of(
        f"{database}: {N_WORKERS} workers", timings, n_stored, MIN_PER_SECOND.get(database)
    )


def kinds_of(platform: Stage, bare: Stage, grown: Stage) -> dict[str, tuple[Stage, str]]:
    """The ratings and all that they are compared with, by title."""
    return {
        "rating": (platform, RATE),
        **{f"{ALONE}, {name}": (bare, kind) for name, kind in BARE_KINDS.items()},
        **{f"{BEHIND}, {name}": (platform, kind) for name, kind in BARE_KINDS.items()},
        "grown": (grown, RATE),
    }


def rows_of(
    title: str, timings: Mapping[str, Timings], n_stored: int, minimum: float | None = None
) -> Iterator[Row]:
    """Compare the rating with each baseline, and with itself on a database that has grown."""
    rating, grown = timings["rating"], timings["grown"]
    yield Row(f"{title}, ratings", rating.per_second, "/s", minimum=minimum, note=rating.note)
    for place, min_ratio in ((ALONE, None), (BEHIND, MIN_RATIO_BEHIND_MIDDLEWARE)):
        for name in BARE_KINDS:
            baseline = timings[f"{place}, {name}"]
            yield Row(
                f"{title}, ratings against {place}, {name}",
                rating.per_second,
                "/s",
                baseline.per_second,
                min_ratio=min_ratio,
                note=f"baseline: {baseline.note}",
            )
    yield Row(
        f"{title}, p50 with {n_stored:,} ratings stored against none",
        grown.quantile_ms(50),
        "ms",
        rating.quantile_ms(50),
        max_ratio=MAX_P50_RATIO,
        note=grown.note,
    )


if __name__ == "__main__":
    run(
        measure,
        __doc__,
        sizes={"seconds": (10, 1), "stored": (1_000_000, 2_000)},
        databases=["sqlite", "postgres"],
    )
