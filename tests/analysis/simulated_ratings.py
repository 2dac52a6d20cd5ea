"""Ratings with known effects, for checking how often tests reject and intervals cover."""

from dataclasses import dataclass

import numpy as np

from analysis.stats.standardise import standardise_by_worker
from analysis.stats.system_covariance import SystemCovariance, system_covariance


@dataclass(frozen=True)
class Crowd:
    """Sizes and standard deviations. All systems are equally good.

    `preference` is how much workers differ in which systems they like, `leniency` how much in their mean
    score. `is_uneven`: a few workers do most of the work. `is_coarse`: only a few different scores are given.
    """

    n_systems: int = 3
    n_segments: int = 60
    n_workers: int = 20
    n_ratings: int = 5
    segment: float = 0.5
    translation: float = 0.4
    preference: float = 0.0
    leniency: float = 0.5
    noise: float = 1.0
    is_uneven: bool = False
    is_coarse: bool = False


@dataclass(frozen=True)
class SimulatedRatings:
    """Ratings one by one; translation = system * n_segments + segment."""

    crowd: Crowd
    scores: np.ndarray
    z: np.ndarray
    workers: np.ndarray
    translations: np.ndarray

    @property
    def segments(self) -> np.ndarray:
        return self.translations % self.crowd.n_segments

    def system_of(self, translations: np.ndarray) -> np.ndarray:
        return translations // self.crowd.n_segments

    def means(self) -> np.ndarray:
        """Return the mean z of each translation, by system and segment."""
        shape = (self.crowd.n_systems, self.crowd.n_segments)
        size = shape[0] * shape[1]
        totals = np.bincount(self.translations, self.z, minlength=size)
        return (totals / np.bincount(self.translations, minlength=size)).reshape(shape)

    def covariance(self) -> SystemCovariance:
        produced = np.unique(self.translations)
        return system_covariance(
            self.z,
            self.workers,
            self.translations,
            self.segments,
            np.ones(len(self.z), dtype=bool),
            produced=produced,
            systems=self.system_of(produced),
        )


def simulate_ratings(rng: np.random.Generator, crowd: Crowd) -> SimulatedRatings:
    """Let random workers rate each translation, and standardise their scores."""
    shape = (crowd.n_systems, crowd.n_segments, crowd.n_workers)
    activity = rng.normal(0, 1, crowd.n_workers) if crowd.is_uneven else np.zeros(crowd.n_workers)
    # The workers with the largest keys rate a translation (weighted sampling without replacement).
    keys = activity + rng.gumbel(size=shape)
    chosen = np.argpartition(-keys, crowd.n_ratings - 1, axis=2)[:, :, : crowd.n_ratings]
    systems, segments, _ = np.indices(chosen.shape)
    scores = (
        rng.normal(0, crowd.segment, crowd.n_segments)[segments]
        + rng.normal(0, crowd.translation, shape[:2])[systems, segments]
        + rng.normal(0, crowd.preference, (crowd.n_workers, crowd.n_systems))[chosen, systems]
        + rng.normal(0, crowd.leniency, crowd.n_workers)[chosen]
        + rng.normal(0, crowd.noise, chosen.shape) * rng.uniform(0.5, 1.5, crowd.n_workers)[chosen]
    )
    if crowd.is_coarse:
        scores = np.rint(scores)
    workers, translations = chosen.ravel(), (systems * crowd.n_segments + segments).ravel()
    z = standardise_by_worker(scores.ravel(), workers).z
    # A worker with a single rating, or whose scores never vary, has no z-scores.
    has_z = ~np.isnan(z)
    return SimulatedRatings(
        crowd, scores.ravel()[has_z], z[has_z], workers[has_z], translations[has_z]
    )
