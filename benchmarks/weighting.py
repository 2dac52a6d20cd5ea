"""Weighted gold of ratings in memory: time and memory per rating, against a tenth of the ratings.

    python -m benchmarks.weighting [--ratings 10000000]

Weights of workers, scores of translations and scores of systems, as `build_gold --method weighted` computes them. Each size
runs in a separate process, which records its peak memory before and after. Seconds are processor time.
"""

import time
from collections.abc import Iterator

import numpy as np

import benchmarks.django_setup  # noqa: F401
from analysis.gold.counted_ratings import CountedColumns, expand_ratings, weigh_workers
from analysis.stats.segments import counts_for_gold
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.weighted_scores import segment_scores_weighted, system_scores_weighted
from benchmarks.filling import N_SYSTEMS
from benchmarks.measuring import in_own_process, peak_megabytes
from benchmarks.synthetic_ratings import SEED, make_ratings
from benchmarks.table import Row, run
from hits.rating.arrays import OutputArrays

# Ten times as many ratings may take this much longer per rating: linear, with some tolerance.
MAX_GROWTH = 1.3
# Beyond the ratings themselves.
MAX_BYTES_PER_RATING = 400.0


def measure(*, ratings: int) -> Iterator[Row]:
    few, many = (in_own_process(weigh, n_ratings=n) for n in (ratings // 10, ratings))
    title = f"weighted gold in memory, {many['n_ratings']:,} ratings against {few['n_ratings']:,}"
    yield Row(
        title,
        1e6 * many["seconds"] / many["n_ratings"],
        "µs/rating",
        1e6 * few["seconds"] / few["n_ratings"],
        max_ratio=MAX_GROWTH,
        note=", ".join(
            f"{part} {many[part]:.2f} s" for part in ("weights", "translations", "systems")
        ),
    )
    yield Row(
        f"{title}, memory beyond the ratings",
        2**20 * many["megabytes"] / many["n_ratings"],
        "bytes/rating",
        2**20 * few["megabytes"] / few["n_ratings"],
        maximum=MAX_BYTES_PER_RATING,
        note=f"{many['megabytes']:.0f} MB",
    )


def weigh(n_ratings: int) -> dict[str, float]:
    """Time the steps of weighted gold."""
    made = make_ratings(n_ratings, np.random.default_rng(SEED))
    ratings = CountedColumns(
        translation=made["translations"],
        worker=made["workers"],
        role=made["roles"].astype(np.int16),
        score=made["scores"].astype(np.int16),
        assignment=made["assignments"],
        item=made["items"],
        partner=made["partners"],
    )
    del made
    translations = np.unique(ratings.translation)
    outputs = OutputArrays(
        translation=translations,
        system=np.array([f"system-{i}" for i in range(N_SYSTEMS)])[translations % N_SYSTEMS],
        segment=translations // N_SYSTEMS,
    )
    before, moments = peak_megabytes(), [time.process_time()]
    z = standardise_by_worker(ratings.score, ratings.worker).z
    weights = weigh_workers(ratings, z)
    moments.append(time.process_time())
    scored = np.flatnonzero(counts_for_gold(ratings.role))
    segment_scores_weighted(
        ratings.score[scored],
        z[scored],
        ratings.worker[scored],
        ratings.translation[scored],
        weights.of(ratings.worker[scored]),
        expected=translations,
    )
    moments.append(time.process_time())
    places, systems, segments = expand_ratings(
        ratings.translation[scored], outputs, np.ones(len(translations), dtype=np.bool_)
    )
    rows = scored[places]
    system_scores_weighted(
        z[rows], ratings.worker[rows], systems, segments, weights.of(ratings.worker[rows])
    )
    moments.append(time.process_time())
    steps = dict(
        zip(("weights", "translations", "systems"), np.diff(moments).tolist(), strict=True)
    )
    return steps | {
        "n_ratings": len(ratings.score),
        "seconds": moments[-1] - moments[0],
        "megabytes": peak_megabytes() - before,
    }


if __name__ == "__main__":
    run(measure, __doc__, sizes={"ratings": (10_000_000, 20_000)})
