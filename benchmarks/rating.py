"""Eight workers who never pause: ratings per second, waiting times, queries.

    python -m benchmarks.rating [--database sqlite|postgres|both] [--seconds N]

Scripted workers, each with one connection kept open, rate against gunicorn with two worker processes and
the settings of production. In turns of a second or two they do the same with two bare Django views, which
have the same settings and middleware and only store a row and look one up, and with a second server whose
database holds a million ratings already. What is compared was thus measured side by side.
"""

import argparse

from tests.concurrency.databases import DATABASES

from .bars import fail_if_missed, print_bar
from .clients import Timings
from .stage import Stage, prepare, serving, take_turns

N_WORKERS = 8
N_STORED = 1_000_000
# More than these machines reach: a HIT of 100 items each.
DESKS_PER_SECOND = 20

# What the platform is held to.
MAX_QUERIES = 6
MIN_RATIO_TO_BARE = 0.7
MAX_P50_RATIO = 1.2
# What a peer without a database reaches, under the same load.
MIN_PER_SECOND = {"postgres": 470}


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
        with serving(empty) as server, serving(full) as crowded_server:
            here = Stage.of(server, empty, prepared["desks"], N_WORKERS)
            there = Stage.of(crowded_server, full, crowded["desks"], N_WORKERS)
            timings = take_turns({
                "rate": (here, "rate"),
                "bare orm": (here, "bare orm"),
                "bare cursor": (here, "bare cursor"),
                "crowded": (there, "rate"),
            }, seconds)  # fmt: skip
    report(name, timings, prepared["n_queries"], crowded["n_ratings"])


def report(
    name: str, timings: dict[str, Timings], n_queries: dict[str, int], n_stored: int
) -> None:
    titles = {
        "rate": "rating",
        "bare orm": "bare view, ORM",
        "bare cursor": "bare view, raw cursor",
        "crowded": f"rating, {n_stored:,} stored",
    }
    print(f"{name}: {N_WORKERS} workers without pauses, gunicorn with 2 processes")
    for kind, title in titles.items():
        print(line_of(title, timings[kind]))
    first, last = n_queries["1"], n_queries["99"]
    print_bar("queries at item 1 and 99", f"{first}, {last}", f"<= {MAX_QUERIES}, the same",
              is_met=first == last <= MAX_QUERIES)  # fmt: skip
    for kind in ("bare orm", "bare cursor"):
        ratio = timings["rate"].per_second / timings[kind].per_second
        print_bar(f"of the rate of the {titles[kind]}", f"{ratio:.2f}", f">= {MIN_RATIO_TO_BARE}",
                  is_met=ratio >= MIN_RATIO_TO_BARE)  # fmt: skip
    growth = timings["crowded"].quantile_ms(50) / timings["rate"].quantile_ms(50)
    print_bar(f"p50 with {n_stored:,} stored", f"{growth:.2f}", f"<= {MAX_P50_RATIO}",
              is_met=growth <= MAX_P50_RATIO)  # fmt: skip
    if bound := MIN_PER_SECOND.get(name):
        rate = timings["rate"].per_second
        print_bar("ratings a second", f"{rate:.0f}", f"> {bound}", is_met=rate > bound)


def line_of(title: str, measured: Timings) -> str:
    used = ", ".join(f"{who} {measured.used_ms(who):.2f}" for who in measured.used)
    return (
        f"  {title:<26} {measured.per_second:6.0f} /s   p50 {measured.quantile_ms(50):6.1f} ms"
        f"   p95 {measured.quantile_ms(95):6.1f} ms   n {len(measured.seconds):<7,}"
        f" processor ms: {used}"
    )


if __name__ == "__main__":
    main()
