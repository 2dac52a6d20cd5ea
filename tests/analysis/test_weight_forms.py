"""Candidate forms of the weight of a worker."""

import numpy as np
import pytest

from benchmarks.weight_forms import FORMS, SEED, first_guess, hidden_of
from benchmarks.weighted_gold import CARELESS, N_GENUINE, RATINGS, crowd
from tests.subprocesses import output_of, run_python


@pytest.mark.parametrize("name", [*FORMS, "first guess"])
def test_every_form_weighs_readers_above_careless_workers(name):
    people = crowd(np.random.default_rng(SEED), 4 * N_GENUINE, RATINGS, 0.6)
    form = {**FORMS, "first guess": first_guess}[name]
    weights = form(hidden_of(people), people.workers)
    # A third never reads, so the lowest third in agreement with the truth are nearly all careless.
    agreement = [
        np.corrcoef(scores, people.truth[translations])[0, 1]
        for scores, translations in zip(people.genuine, people.translations, strict=True)
    ]
    is_low = np.argsort(np.argsort(agreement)) < CARELESS * len(agreement)
    assert weights[~is_low].mean() > 2 * weights[is_low].mean()
    assert (weights >= 0).all()


def test_the_first_guess_by_hand():
    people = crowd(np.random.default_rng(SEED), 4 * N_GENUINE, 1, 0.6)
    hidden = hidden_of(people)
    drops, changes = (
        each.reshape(len(people.workers), -1) for each in (hidden.drops, hidden.changes)
    )
    n = drops.shape[1]
    drop = (drops.sum(axis=1) + 5 * drops.mean()) / (n + 5)
    squares = changes**2 / 2
    noise = (squares.sum(axis=1) + 5 * squares.mean()) / (n + 5)
    expected = np.maximum(drop, 0.05) / (0.5 + noise)
    np.testing.assert_allclose(first_guess(hidden, people.workers), expected)


@pytest.mark.slow
def test_without_the_replication_data_simulated_crowds_are_compared(tmp_path):
    output = output_of(
        run_python("-m", "benchmarks.weight_forms", "--quick", DA_REPLICATION_DATA=str(tmp_path))
    )
    assert "simulated crowds only" in output and "WMT21" not in output
    assert "15 ratings: hierarchical" in output
