"""How often the official rankings of WMT15 come out, over seeds: scores, order and clusters of ten language pairs.

python -m benchmarks.official_rankings --seeds 20
"""

from argparse import ArgumentParser
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

import numpy as np

from analysis.stats.judgements import collapse, complete_tasks, expand
from analysis.stats.kappa import Between, kappa
from analysis.stats.published_lookup import expand_as_published
from analysis.stats.trueskill import LOOKUPS, RUNS, Lookup, trueskill
from tests.replication.locating import data_folder
from tests.replication.wmt15 import Official, collected_rankings, official_ranking

TOLERANCE = 0.02


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one seed's ranking of a pair differs from the official one."""

    pair: str
    lookup: str
    seed: int
    apart: float
    swapped: int
    # Systems of which the cluster differs.
    elsewhere: tuple[str, ...]


def compare(pair: str, lookup: Lookup, seed: int) -> Outcome:
    folder = data_folder() / "wmt15-rankings"
    rows = collected_rankings(folder / "wmt15.xml.gz")[pair].rankings()
    is_published = lookup == "published"
    judgements = expand_as_published(rows) if is_published else expand(complete_tasks(rows))
    result = trueskill(judgements, rng=np.random.default_rng(seed), runs=RUNS, lookup=lookup)
    official = official_ranking(folder, pair)
    lines = [official[system] for system in result.systems.tolist()]
    return Outcome(
        pair,
        lookup,
        seed,
        max(abs(line.score - score) for line, score in zip(lines, result.scores, strict=True)),
        len(swapped(lines)),
        tuple(
            str(system)
            for system, line, cluster in zip(
                result.systems, lines, result.ranges.clusters, strict=True
            )
            if line.cluster != cluster
        ),
    )


def swapped(lines: list[Official]) -> list[tuple[Official, Official]]:
    """Return pairs of systems in our order that are the other way round officially, with ranges that do not overlap."""
    return [
        (above, below)
        for above, below in combinations(lines, 2)
        if above.score < below.score and above.best > below.worst
    ]


def print_kappa() -> None:
    """Print kappa as published and as we count it, of the outputs shown."""
    print("| pair | inter, published | inter, strict | intra, published | intra, strict |")
    print("|---|---|---|---|---|")
    for pair, own in sorted(
        collected_rankings(data_folder() / "wmt15-rankings" / "wmt15.xml.gz").items()
    ):
        judgements = expand(collapse(own.rankings()))
        cells = [
            f"{result.kappa:.3f} ({result.n_comparable:,})"
            for between in get_args(Between)
            for counting in ("published", "strict")
            for result in [kappa(judgements, between, counting=counting)]
        ]
        print(f"| {pair} | {' | '.join(cells)} |")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--lookup", choices=LOOKUPS, action="append")
    parser.add_argument("--kappa", action="store_true", help="print agreement instead, as a table")
    options = parser.parse_args()
    if options.kappa:
        print_kappa()
        return
    lookups = options.lookup or LOOKUPS
    pairs = sorted(collected_rankings(data_folder() / "wmt15-rankings" / "wmt15.xml.gz"))
    work = [
        (pair, lookup, seed)
        for lookup in lookups
        for seed in range(1, options.seeds + 1)
        for pair in pairs
    ]
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(compare, *zip(*work, strict=True)))
    for lookup in lookups:
        own = [outcome for outcome in found if outcome.lookup == lookup]
        print(
            f"{lookup}: scores within {max(each.apart for each in own):.4f}, {sum(each.swapped for each in own)} swapped"
        )
        for pair in pairs:
            of_pair = [each for each in own if each.pair == pair]
            same = sum(not each.elsewhere for each in of_pair)
            others = Counter(system for each in of_pair for system in each.elsewhere)
            print(
                f"  {pair}: within {max(each.apart for each in of_pair):.4f}; same clusters with {same} of "
                f"{len(of_pair)} seeds; elsewhere: {dict(others.most_common(4))}"
            )
        per_seed = Counter(
            sum(not each.elsewhere for each in own if each.seed == seed)
            for seed in range(1, options.seeds + 1)
        )
        print(
            f"  pairs with the official clusters, by number of seeds: {dict(sorted(per_seed.items()))}"
        )


if __name__ == "__main__":
    main()
