"""Does a plan keep its promise? Power as the planner promises it, and as simulated campaigns have it.

    python -m benchmarks.planner [--campaigns 2000]

Each simulated campaign goes the whole way from ratings to the test of its systems.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from analysis.stats.planning import Design, level_of, power, smallest_difference
from analysis.stats.segments import segment_scores
from analysis.stats.system_covariance import system_covariance
from analysis.stats.systems import compare_systems
from analysis.stats.variance_components import VarianceComponents
from benchmarks.table import Row, run

Floats = NDArray[np.float64]

SEED = 22
# As measured on the two WMT21 pairs, on single ratings that agree as well as published ones (0.41), and in between.
COMPONENTS = {
    "as at WMT21": VarianceComponents(0.06, 0.01, 0.0, 0.03, 0.65),
    "r = 0.41": VarianceComponents(0.25, 0.16, 0.0, 0.0, 0.59),
    "tastes": VarianceComponents(0.15, 0.15, 0.0, 0.05, 0.65),
}
DESIGNS = (
    Design(2, 100, 3, hits_per_worker=1),
    Design(2, 250, 2, hits_per_worker=1),
    Design(2, 250, 5, hits_per_worker=2),
    Design(3, 200, 5, hits_per_worker=2),
    Design(2, 600, 1, hits_per_worker=1.5),
    Design(6, 175, 3, hits_per_worker=3),
)
WISHED = (0.5, 0.8)
# In points of power.
TOLERANCE = 0.03


def simulated_power(
    design: Design,
    components: VarianceComponents,
    difference: float,
    *,
    campaigns: int,
    rng: np.random.Generator,
) -> float:
    """Return how often the first system beats the second, if the others score like the second."""
    return float(
        np.mean([_is_found(design, components, difference, rng) for _ in range(campaigns)])
    )


def _is_found(
    design: Design, components: VarianceComponents, difference: float, rng: np.random.Generator
) -> bool:
    n, k = design.n_segments, design.n_systems
    translations, workers = assigned(design, rng)
    segments, systems = translations // k, translations % k
    means = np.zeros(k)
    means[0] = difference
    spread = {name: np.sqrt(getattr(components, name)) for name in components.__slots__}
    z = (
        means[systems]
        + spread["segment"] * rng.normal(size=n)[segments]
        + spread["translation"] * rng.normal(size=n * k)[translations]
        + spread["worker"] * rng.normal(size=design.n_workers)[workers]
        + spread["taste"] * rng.normal(size=(design.n_workers, k))[workers, systems]
        + spread["residual"] * rng.normal(size=len(workers))
    )
    return wins(z, workers, translations, segments, systems, n_systems=k)


def assigned(design: Design, rng: np.random.Generator) -> tuple[NDArray[np.int64], ...]:
    """Return translation and worker of every rating: HITs of random translations, workers in turn.

    The last HIT is filled up from the first translations, as on the platform.
    """
    size = design.n_hits * design.genuine_per_hit
    order = np.resize(rng.permutation(design.n_translations), size)
    rounds = np.arange(design.n_ratings)[:, None]
    turns = rounds * design.n_hits + np.arange(size) // design.genuine_per_hit
    # Shifted once they have all had as many turns, so that nobody does a HIT twice.
    shifts = turns // math.lcm(design.n_hits, design.n_workers)
    workers = (turns + shifts) % design.n_workers
    return np.tile(order, design.n_ratings), workers.ravel()


def wins(
    z: Floats,
    workers: NDArray[np.int64],
    translations: NDArray[np.int64],
    segments: NDArray[np.int64],
    systems: NDArray[np.int64],
    *,
    n_systems: int,
) -> bool:
    """Compare the systems as the platform does; return whether the first beats the second at once.

    Holm's later steps, after other pairs are decided, are a little easier.
    """
    scores = segment_scores(z, z, workers, translations, minimum=1)
    produced = scores.translations
    covariance = system_covariance(
        z,
        workers,
        translations,
        segments,
        np.ones(len(z), dtype=np.bool_),
        produced=produced,
        systems=produced % n_systems,
    )
    comparison = compare_systems(
        scores.z, produced % n_systems, produced // n_systems, covariance=covariance
    )
    first, second = (int(np.flatnonzero(comparison.systems == i)[0]) for i in (0, 1))
    return bool(comparison.pvalues[first, second] < level_of(n_systems))


def measure(campaigns: int) -> Iterator[Row]:
    for name, components in COMPONENTS.items():
        for design in DESIGNS:
            for wished in WISHED:
                difference = smallest_difference(design, components, wished)
                promised = power(design, components, difference)
                seen = simulated_power(
                    design,
                    components,
                    difference,
                    campaigns=campaigns,
                    rng=np.random.default_rng(SEED),
                )
                yield Row(
                    f"{name}: {design.n_systems} systems, {design.n_segments} segments, "
                    f"{design.n_ratings} ratings, {design.n_workers} workers",
                    100 * seen,
                    "%",
                    100 * promised,
                    minimum=100 * (promised - TOLERANCE),
                    maximum=100 * (promised + TOLERANCE),
                    note=f"difference {difference:.3f}",
                )


if __name__ == "__main__":
    run(measure, __doc__, sizes={"campaigns": (2_000, 20)})
