"""Systems rated in documents: tests and intervals are over documents, as ratings of one run are not independent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.gold.ranking import rank_systems
from analysis.gold.runs import build_gold
from analysis.stats.system_covariance import covariance_of_segment_scores, system_covariance
from analysis.stats.systems import compare_systems, system_scores
from hits.campaigns.behaviours import Behaviour
from tests.documents.campaigns import document_campaign
from tests.factories import make_hits
from tests.simulated_crowds import collect

N_DOCUMENTS, LENGTH, N_WORKERS, N_RATINGS = 40, 5, 30, 2
SEGMENTS = np.arange(N_DOCUMENTS * LENGTH)
DOCUMENTS = SEGMENTS // LENGTH


def in_runs(rng):
    """Ratings of two equal systems: the impression of a run adds to all of its ratings."""
    shape = (2, N_DOCUMENTS, LENGTH, N_RATINGS)
    system, document, place, _ = np.indices(shape)
    workers = rng.integers(N_WORKERS, size=(2, N_DOCUMENTS, 1, N_RATINGS)) + np.zeros(shape, int)
    quality = rng.normal(size=(1, N_DOCUMENTS, LENGTH, 1))
    whole = rng.normal(size=(2, N_DOCUMENTS, 1, 1))
    impression = rng.normal(size=(2, N_DOCUMENTS, 1, N_RATINGS))
    z = quality + whole + impression + rng.normal(size=shape)
    segment = document * LENGTH + place
    translation = system * len(SEGMENTS) + segment
    return z, workers, translation, segment, system, document


def rejections(n, seed):
    """How often equal systems differ: over documents, by their signed ranks, and over segments."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(n):
        z, workers, translation, segment, system, document = in_runs(rng)
        means = z.mean(axis=3).ravel()
        systems, segments = system[..., 0].ravel(), segment[..., 0].ravel()
        documents = document[..., 0].ravel()
        columns = [column.ravel() for column in (z, workers, translation)]
        produced = {"produced": translation[..., 0].ravel(), "systems": systems}
        everything = np.ones(z.size, dtype=bool)
        by_document, by_segment = (
            system_covariance(*columns, group.ravel(), everything, **produced, unit=unit)
            for group, unit in ((document, "documents"), (segment, "segments"))
        )
        clustered = compare_systems(
            means, systems, segments, covariance=by_document, documents=documents
        )
        apart = compare_systems(means, systems, segments, covariance=by_segment)
        first, second = np.argsort(clustered.systems)
        pair = (first, second)
        found.append(
            [
                clustered.pvalues[pair] < 0.05,
                clustered.paired_pvalues[pair] < 0.05,
                apart.pvalues[pair] < 0.05,
                clustered.low[pair] <= 0 <= clustered.high[pair],
                clustered.probability_low[pair] <= 0.5 <= clustered.probability_high[pair],
            ]
        )
    return np.mean(found, axis=0)


@pytest.mark.slow
def test_equal_systems_differ_in_one_campaign_of_twenty_over_documents():
    by_document, ranks, by_segment, difference, probability = rejections(1500, seed=1)
    assert 0.03 <= by_document <= 0.07 and 0.03 <= ranks <= 0.07
    # Over segments, too often.
    assert by_segment > 0.07
    assert 0.93 <= difference <= 0.97 and 0.93 <= probability <= 0.97


def test_equal_systems_in_a_short_simulation():
    by_document, ranks, by_segment, *_ = rejections(100, seed=2)
    assert max(by_document, ranks) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)
    assert by_segment > by_document


def test_documents_of_one_segment_change_nothing():
    rng = np.random.default_rng(3)
    z, systems = rng.normal(size=60), np.repeat(["A", "B", "C"], 20)
    segments = np.tile(np.arange(20), 3)
    plain = compare_systems(z, systems, segments)
    one = compare_systems(z, systems, segments, documents=segments + 100)
    for name in ("pvalues", "low", "high", "paired_pvalues", "rank_sum_pvalues"):
        assert_allclose(getattr(one, name), getattr(plain, name))
    for name in ("probability_low", "probability_high"):
        # n / (n - 1), as for all variances over groups.
        assert np.nanmax(abs(getattr(one, name) - getattr(plain, name))) < 0.02


def test_the_variance_over_documents_by_hand():
    # Deviations of system A: 1, 1, -1, -1, in documents of two: (2**2 + 2**2) / 4**2, times 2 / (2 - 1).
    covariance = covariance_of_segment_scores(
        [3, 3, 1, 1], np.repeat("A", 4), ["d", "d", "e", "e"], unit="documents"
    )
    assert covariance.by_segments.tolist() == [[1.0]] and covariance.n_segments == 2
    scores = system_scores([1] * 4, [3, 3, 1, 1], [1] * 4, np.repeat("A", 4), covariance=covariance)
    assert scores.z_se.tolist() == [1.0] and "documents" in scores.signature


def test_a_segment_in_two_documents_is_refused():
    with pytest.raises(ValueError, match="one document"):
        compare_systems([1, 2], ["A", "B"], [1, 1], documents=[1, 2])


@pytest.mark.django_db
def test_campaigns_in_documents_are_ranked_over_documents():
    campaign = document_campaign(n_segments=50, min_ratings=3, hit_size=100)
    collect(campaign, {Behaviour.HONEST: 6}, seed=2)
    run = build_gold(campaign=campaign, minimum=1)
    assert run.system_covariance["unit"] == "documents"
    assert run.system_covariance["n_segments"] == 10
    ranking = rank_systems(run)
    assert ranking.interval_over == "documents and workers"
    assert "greater,documents,workers" in ranking.signature
    assert "t,0.95,documents,workers" in ranking.signature
    paired = rank_systems(run, test="paired")
    assert "signed-rank,by-document" in paired.signature
    assert "over the documents that both systems have" in paired.test_in_words


@pytest.mark.django_db
def test_texts_shown_alone_are_ranked_over_segments():
    campaign = make_hits(n_segments=50, min_ratings=3, hit_size=100)
    campaign.segments.update(document="news")
    collect(campaign, {Behaviour.HONEST: 6}, seed=2)
    ranking = rank_systems(build_gold(campaign=campaign, minimum=1))
    assert ranking.interval_over == "segments and workers" and "documents" not in ranking.signature
