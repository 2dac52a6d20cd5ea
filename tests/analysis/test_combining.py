import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from analysis.stats.combining import Ratings, combine_keys, combine_ratings
from analysis.stats.segments import segment_scores
from analysis.stats.standardise import standardise_by_worker

campaign = st.lists(
    st.tuples(st.integers(0, 100), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=20
)


def ratings(rows):
    scores, workers, translations = (np.array(column) for column in zip(*rows, strict=True))
    return Ratings(scores, workers, translations, np.zeros(len(rows), dtype=int))


def test_equal_keys_of_two_campaigns_are_kept_apart():
    combined = combine_keys({"cs-en": ["alice", "bob", "alice"], "de-en": ["bob", "alice"]})
    assert_array_equal(combined.codes, [0, 1, 0, 3, 2])
    assert list(combined.campaigns) == ["cs-en", "cs-en", "de-en", "de-en"]
    assert list(combined.labels) == ["alice", "bob", "alice", "bob"]


def test_integer_and_string_keys_can_be_combined():
    combined = combine_keys({"cs-en": [7, 7], "de-en": ["x"]})
    assert list(combined.labels[combined.codes]) == ["7", "7", "x"]


@settings(deadline=None)
@given(campaign, campaign)
def test_z_is_within_worker_and_campaign(first, second):
    combined = combine_ratings({"a": ratings(first), "b": ratings(second)})
    together = standardise_by_worker(combined.scores, combined.workers.codes).z
    apart = [
        standardise_by_worker(part.scores, part.workers).z
        for part in (ratings(first), ratings(second))
    ]
    assert_allclose(together, np.concatenate(apart), atol=1e-9)


@settings(deadline=None)
@given(campaign, campaign)
def test_combined_scores_are_the_scores_of_the_parts(first, second):
    parts = {"a": ratings(first), "b": ratings(second)}
    combined = combine_ratings(parts)
    together = segment_scores(
        combined.scores,
        combined.scores,
        combined.workers.codes,
        combined.translations.codes,
        minimum=1,
    )
    apart = [
        segment_scores(part.scores, part.scores, part.workers, part.translations, minimum=1)
        for part in parts.values()
    ]
    assert_allclose(together.raw, np.concatenate([part.raw for part in apart]))
    assert list(combined.campaigns) == ["a"] * len(first) + ["b"] * len(second)


def test_the_signature_names_the_campaigns():
    combined = combine_ratings({"cs-en": ratings([(1, 1, 1)]), "de-en": ratings([(1, 1, 1)])})
    assert combined.signature.startswith("campaigns:cs-en,de-en|std:worker-and-campaign|version:")


def test_nothing_to_combine_is_refused():
    with pytest.raises(ValueError, match="`campaigns`"):
        combine_ratings({})
    with pytest.raises(ValueError, match="`parts`"):
        combine_keys({})


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="`workers` has 1"):
        combine_ratings({"a": Ratings([1, 2], [1], [1, 2], [0, 0])})
