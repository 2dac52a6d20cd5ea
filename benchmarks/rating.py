"""Eight workers who never pause: ratings per second, waiting times, queries.

    python -m benchmarks.rating [--database sqlite|postgres|both] [--seconds N]

Scripted workers, each with one connection kept open, rate against gunicorn with two worker processes and
the settings of production. In turns of a second or two they do the same with two bare views, which only
store a row and look one up: in a server of Django alone, without middleware, and once more behind the
platform's middleware; and with a second platform whose database holds a million ratings already. What is
compared was thus measured side by side.
"""

import argparse
from collections.abc import Mapping

from tests.concurrency.databases import DATABASES

from .bars import fail_if_missed, print_bar, print_ratio
from .clients import Timings
from .stage import Stage, prepare, serving, serving_bare, take_turns

N_WORKERS = 8
N_STORED = 1_000_000
# More than these machines reach: a HIT of 100 items each.
DESKS_PER_SECOND = 20

# What the platform is held to.
MAX_QUERIES = 6
# Of the bare views behind the same middleware: what a rating may cost beyond it. Django alone is the plain
# baseline and has no bar.
MIN_RATIO_BEHIND_MIDDLEWARE = 0.7
MAX_P50_RATIO = 1.2
# What a peer without a database reaches, under the same load.
MIN_PER_SECOND = {"postgres": 470}

# The rating on a database that has grown.
GROWN = "rating, grown"
# Where a bare view is served, and how it speaks to the database.
ALONE = "bare view of Django alone"
BEHIND = "bare view behind the platform's middleware"
WAYS = {"ORM": "bare orm", "raw cursor": "bare cursor"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", choices=[*DATABASES, "both"], default="both")
    parser.add_argument("--seconds", type=float, default=10, help="of measuring, for each kind")
    parser.add_argument("--stored", type=int, default=N_STORED, help=argparse.SUPPRESS)
    options = parser.parse_args()
    chosen = ["sqlite", "postgres"] if options.database == "both" else [options.database]
    for name in chosen:
        measure(name, seconds=options.seconds, n_stored=options.stored)
    fail_if_missed()


def measure(name: str, *, seconds: float, n_stored: int) -> None:
    n_desks = 1 + N_WORKERS * round(3 + DESKS_PER_SECOND * seconds / N_WORKERS)
    with DATABASES[name]() as make_database:
        empty, full = make_database("empty"), make_database("full")
        prepared = prepare(empty, n_desks, 0)
        crowded = prepare(full, n_desks, n_stored)
        with (
            serving(empty) as server,
            serving(full) as crowded_server,
            serving_bare(empty) as bare_server,
        ):
            here = Stage.of(server, empty, prepared["desks"], N_WORKERS)
            there = Stage.of(crowded_server, full, crowded["desks"], N_WORKERS)
            bare = Stage.of(bare_server, empty, prepared["desks"], N_WORKERS)
            timings = take_turns(
                {"rating": (here, "rate"), **bare_kinds(here, bare), GROWN: (there, "rate")},
                seconds,
            )
    report(name, timings, prepared["n_queries"], crowded["n_ratings"])


def bare_kinds(platform: Stage, bare: Stage) -> dict[str, tuple[Stage, str]]:
    """The baselines: the same views in Django alone and in the platform, by the titles they are printed with."""
    places = {ALONE: bare, BEHIND: platform}
    return {
        f"{place}, {way}": (stage, request)
        for place, stage in places.items()
        for way, request in WAYS.items()
    }


def report(
    name: str, timings: dict[str, Timings], n_queries: dict[str, int], n_stored: int
) -> None:
    print(f"{name}: {N_WORKERS} workers without pauses, gunicorn with 2 processes")
    for title, measured in timings.items():
        print(line_of(title, measured))
    first, last = n_queries["1"], n_queries["99"]
    print_bar("queries at item 1 and 99", f"{first}, {last}", f"<= {MAX_QUERIES}, the same",
              is_met=first == last <= MAX_QUERIES)  # fmt: skip
    report_ratios(timings, n_stored)
    if bound := MIN_PER_SECOND.get(name):
        rate = timings["rating"].per_second
        print_bar("ratings a second", f"{rate:.0f}", f"> {bound}", is_met=rate > bound)


def report_ratios(timings: Mapping[str, Timings], n_stored: int) -> None:
    """Hold the rating against each baseline, and against itself on a database that has grown."""
    rating = timings["rating"]
    for way in WAYS:
        title = f"{ALONE}, {way}"
        print_ratio(f"of the {title}", f"{rating.per_second / timings[title].per_second:.2f}")
    for way in WAYS:
        title = f"{BEHIND}, {way}"
        ratio = rating.per_second / timings[title].per_second
        print_bar(f"of the {title}", f"{ratio:.2f}", f">= {MIN_RATIO_BEHIND_MIDDLEWARE}",
                  is_met=ratio >= MIN_RATIO_BEHIND_MIDDLEWARE)  # fmt: skip
    growth = timings[GROWN].quantile_ms(50) / rating.quantile_ms(50)
    print_bar(f"p50 with {n_stored:,} stored", f"{growth:.2f}", f"<= {MAX_P50_RATIO}",
              is_met=growth <= MAX_P50_RATIO)  # fmt: skip


def line_of(title: str, measured: Timings) -> str:
    used = ", ".join(f"{who} {measured.used_ms(who):.2f}" for who in measured.used)
    return (
        f"  {title:<54} {measured.per_second:6.0f} /s   p50 {measured.quantile_ms(50):6.1f} ms"
        f"   p95 {measured.quantile_ms(95):6.1f} ms   n {len(measured.seconds):<7,}"
        f" processor ms: {used}"
    )


if __name__ == "__main__":
    main()
