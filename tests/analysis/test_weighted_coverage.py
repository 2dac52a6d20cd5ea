"""Intervals of weighted gold contain what they should, with weights estimated from a crowd of which a third is careless."""

from dataclasses import dataclass

import numpy as np
import pytest

from analysis.stats.segments import CONFIDENCE, SegmentScores
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.system_covariance import SystemCovariance, reach
from analysis.stats.weighted_scores import segment_scores_weighted, system_scores_weighted
from analysis.stats.worker_weights import worker_weights

N_SYSTEMS, N_WORKERS, PER_WORKER, N_HIDDEN = 4, 40, 60, 10
SYSTEMS = np.array([0.0, 0.0, 0.15, 0.3])
CARELESS, NOISE, DROP = 1 / 3, 0.9, 1.6


@dataclass(frozen=True)
class Weighed:
    translations: SegmentScores
    systems: SystemCovariance


def weighed(rng: np.random.Generator, truth: np.ndarray) -> Weighed:
    """Have translations (segments x systems) rated, weigh the workers by what they did, and score."""
    n_systems = truth.shape[1]
    chosen = np.array([rng.permutation(truth.size)[:PER_WORKER] for _ in range(N_WORKERS)])
    is_careless = rng.random(N_WORKERS) < CARELESS
    reads = np.where(is_careless, 0, rng.uniform(0.4, 1, N_WORKERS))[:, None]

    def rate(quality: np.ndarray) -> np.ndarray:
        read = quality + NOISE * rng.normal(size=quality.shape)
        unread = np.sqrt(1 + NOISE**2) * rng.normal(size=quality.shape)
        return np.where(rng.random(quality.shape) < reads, read, unread)

    quality = truth.ravel()[chosen]
    hidden = quality[:, :N_HIDDEN]
    degraded = hidden - DROP - rng.exponential(0.8, hidden.shape)
    scores = np.hstack([rate(quality), rate(hidden), rate(degraded)])
    rows = np.repeat(np.arange(N_WORKERS), scores.shape[1])
    z = standardise_by_worker(scores.ravel(), rows).z.reshape(scores.shape)
    genuine, repeats, lowered = np.split(z, [PER_WORKER, PER_WORKER + N_HIDDEN], axis=1)
    scored = np.hstack([genuine, repeats])
    translations = np.hstack([chosen, chosen[:, :N_HIDDEN]]).ravel()
    workers, owners = (np.repeat(np.arange(N_WORKERS), part.shape[1]) for part in (scored, lowered))
    weights = worker_weights(
        np.arange(N_WORKERS),
        drops=(genuine[:, :N_HIDDEN] - lowered).ravel(),
        drop_workers=owners,
        changes=(repeats - genuine[:, :N_HIDDEN]).ravel(),
        change_workers=owners,
        ratings=(scored.ravel(), workers, translations),
    ).of(workers)
    return Weighed(
        segment_scores_weighted(
            scored.ravel(), scored.ravel(), workers, translations, weights, minimum=1
        ),
        system_scores_weighted(
            scored.ravel(), workers, translations % n_systems, translations // n_systems, weights
        ),
    )


def qualities(rng: np.random.Generator, n_segments: int) -> np.ndarray:
    segments = rng.normal(0, 0.6, (n_segments, 1))
    return SYSTEMS + segments + rng.normal(0, 0.8, (n_segments, N_SYSTEMS))


@pytest.mark.slow
def test_intervals_of_translations_contain_the_expected_score():
    """The expected score is that of the same translations over many crowds."""
    rng = np.random.default_rng(5)
    truth = qualities(rng, 30)
    n = truth.size
    z, low, high = (np.full((400, n), np.nan) for _ in range(3))
    for row in range(len(z)):
        scores = weighed(rng, truth).translations
        z[row, scores.translations] = scores.z
        low[row, scores.translations], high[row, scores.translations] = scores.z_low, scores.z_high
    expected = np.nanmean(z, axis=0)
    known = ~np.isnan(low)
    covered = ((low <= expected) & (expected <= high))[known].mean()
    assert CONFIDENCE - 0.02 <= covered <= CONFIDENCE + 0.02


@pytest.mark.slow
def test_intervals_of_systems_contain_the_expected_scores_and_differences():
    """All systems and all pairs, over other segments and other workers."""
    rng = np.random.default_rng(6)
    campaigns = [weighed(rng, qualities(rng, 60)).systems for _ in range(600)]
    scores = np.array([each.scores for each in campaigns])
    differences = scores[:, :, None] - scores[:, None, :]
    pairs = np.triu_indices(N_SYSTEMS, 1)
    for values, errors in (
        (scores, [each.score_errors() for each in campaigns]),
        (
            differences[:, *pairs],
            [[part[pairs] for part in each.difference_errors()] for each in campaigns],
        ),
    ):
        se, df = (np.array([each[part] for each in errors]) for part in (0, 1))
        covered = np.abs(values - values.mean(axis=0)) <= reach(df, CONFIDENCE) * se
        assert CONFIDENCE - 0.02 <= covered.mean() <= CONFIDENCE + 0.02
