"""Each kind of simulated worker behaves as its name says. Seeds are fixed."""

import numpy as np
import pytest
from django.db import transaction
from scipy import stats

from hits.campaigns.behaviours import HONEST_HITS_BEFORE_DRIFT
from hits.campaigns.composition import Role
from hits.campaigns.simulation import (
    TRUTH_MEAN,
    TRUTH_SD,
    Behaviour,
    SimulatedWorker,
    simulate_workers,
    true_qualities,
    word_f1,
)
from hits.models import Assignment, Campaign, Rating
from tests.factories import make_campaign, make_hits, make_translations

N = 4_000


def qualities(n: int = N) -> np.ndarray:
    return np.random.default_rng(1).normal(TRUTH_MEAN, TRUTH_SD, n)


def scores_of(
    behaviour: Behaviour,
    role: Role = Role.GENUINE,
    *,
    seed: int = 2,
    n_hits_done: int = 0,
    n: int = N,
) -> np.ndarray:
    person = SimulatedWorker(behaviour, np.random.default_rng(seed), n_hits_done=n_hits_done)
    return np.array([person.score(role, i, quality) for i, quality in enumerate(qualities(n))])


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a, b)[0, 1])


@pytest.mark.parametrize("behaviour", list(Behaviour))
def test_every_score_is_a_whole_number_on_the_scale(behaviour):
    # Few, because some compare each text with all earlier ones.
    scores = scores_of(behaviour, n=400)
    assert scores.dtype == int and scores.min() >= 0 and scores.max() <= 100


@pytest.mark.parametrize("behaviour", [kind for kind in Behaviour if kind.is_careful])
def test_careful_workers_rate_degraded_texts_lower_and_references_higher(behaviour):
    bad, genuine, reference = (
        scores_of(behaviour, role).mean()
        for role in (Role.BAD_REFERENCE, Role.GENUINE, Role.REFERENCE)
    )
    assert bad + 5 < genuine < reference - 5


def test_an_honest_worker_passes_the_paired_test_on_ten_pairs_and_a_random_one_rarely():
    def share_passing(behaviour: Behaviour) -> float:
        genuine = scores_of(behaviour).reshape(-1, 10)
        degraded = scores_of(behaviour, Role.BAD_REFERENCE, seed=3).reshape(-1, 10)
        return (stats.ttest_rel(degraded, genuine, axis=1, alternative="less").pvalue < 0.05).mean()

    assert share_passing(Behaviour.HONEST) > 0.9
    assert share_passing(Behaviour.RANDOM) < 0.1
    assert share_passing(Behaviour.ADVERSARIAL) < 0.01


def test_a_repeat_gets_the_scores_of_the_genuine_item():
    difference = scores_of(Behaviour.HONEST, Role.REPEAT, seed=3) - scores_of(Behaviour.HONEST)
    # Standard error of the mean difference: about 30 / sqrt(4000) = 0.5.
    assert abs(difference.mean()) < 1.5


def test_a_constant_worker_never_moves_the_slider():
    for role in Role:
        assert scores_of(Behaviour.CONSTANT, role).std() == 0


def test_a_random_worker_ignores_quality_and_uses_the_whole_scale():
    scores = scores_of(Behaviour.RANDOM)
    # Three standard errors of a zero correlation.
    assert abs(correlation(scores, qualities())) < 3 / np.sqrt(N)
    assert stats.kstest(scores / 100, "uniform").statistic < 0.03


def test_an_adversarial_worker_prefers_degraded_texts():
    assert scores_of(Behaviour.ADVERSARIAL, Role.BAD_REFERENCE).mean() > 80
    assert scores_of(Behaviour.ADVERSARIAL).mean() < 60


def test_a_drifting_worker_is_honest_first_and_random_afterwards():
    before = scores_of(Behaviour.DRIFTING, n_hits_done=HONEST_HITS_BEFORE_DRIFT - 1)
    after = scores_of(Behaviour.DRIFTING, n_hits_done=HONEST_HITS_BEFORE_DRIFT)
    assert correlation(before, qualities()) > 0.5
    assert abs(correlation(after, qualities())) < 3 / np.sqrt(N)


def test_lenient_and_harsh_workers_shift_the_scale_and_keep_the_order():
    lenient, honest, harsh = (
        scores_of(kind) for kind in (Behaviour.LENIENT, Behaviour.HONEST, Behaviour.HARSH)
    )
    assert harsh.mean() + 15 < honest.mean() < lenient.mean() - 15
    assert correlation(lenient, honest) > 0.95 and correlation(harsh, honest) > 0.95


def test_a_noisy_worker_follows_quality_less_than_an_honest_one():
    honest, noisy = (
        correlation(scores_of(kind), qualities()) for kind in (Behaviour.HONEST, Behaviour.NOISY)
    )
    assert 0.3 < noisy < honest - 0.1


def test_careless_workers_are_faster():
    def median_seconds(behaviour: Behaviour) -> float:
        person = SimulatedWorker(behaviour, np.random.default_rng(0))
        return float(np.median([person.seconds() for _ in range(500)]))

    assert median_seconds(Behaviour.RANDOM) < 3 < median_seconds(Behaviour.HONEST)


@pytest.mark.parametrize(
    ("text", "reference", "f1"),
    [("a b c", "a b c", 1), ("A b", "a B", 1), ("a b", "c d", 0), ("a a", "a b", 0.5), ("", "", 0)],
)
def test_similarity_is_the_f1_of_common_words(text, reference, f1):
    assert word_f1(text, reference) == f1


@pytest.mark.django_db
def test_true_qualities_have_the_right_mean_and_spread():
    campaign = make_campaign()
    translations = make_translations(campaign, n_segments=30)
    truth = true_qualities(campaign=campaign, seed=1)
    assert set(truth) == {translation.pk for translation in translations}
    values = np.array(list(truth.values()))
    np.testing.assert_allclose([values.mean(), values.std()], [TRUTH_MEAN, TRUTH_SD])
    assert truth == true_qualities(campaign=campaign, seed=1)
    assert truth != true_qualities(campaign=campaign, seed=2)


def stored_scores(campaign: Campaign) -> list[tuple]:
    return list(
        Rating.objects.filter(assignment__hit__campaign=campaign)
        .order_by("assignment__started_at", "item__position")
        .values_list("item__position", "score", "elapsed_ms")
    )


CROWD = {Behaviour.HONEST: 2, Behaviour.RANDOM: 1}


@pytest.mark.django_db
def test_simulated_assignments_are_complete():
    campaign = make_hits()
    summary = simulate_workers(campaign=campaign, crowd=CROWD, seed=4)
    assignments = Assignment.objects.filter(hit__campaign=campaign)
    assert (summary.n_workers, summary.n_assignments, summary.n_ratings) == (3, 3, 120)
    assert len(assignments) == len({each.completion_code for each in assignments}) == 3
    assert campaign.hits.get().places_left == campaign.min_ratings - 3
    for assignment in assignments:
        assert assignment.status == Assignment.Status.SUBMITTED
        assert assignment.started_at < assignment.submitted_at <= assignment.expires_at
        ratings = assignment.ratings.order_by("item__position")
        received = list(ratings.values_list("received_at", flat=True))
        assert len(received) == 40 and received == sorted(received)


@pytest.mark.django_db
def test_the_same_seed_gives_the_same_ratings_and_another_seed_different_ones():
    campaign = make_hits()

    def scores_with(seed: int) -> list[tuple]:
        with transaction.atomic():
            simulate_workers(campaign=campaign, crowd=CROWD, seed=seed)
            scores = stored_scores(campaign)
            transaction.set_rollback(True)
        return scores

    first = scores_with(4)
    assert len(first) == 120
    assert scores_with(4) == first
    assert scores_with(5) != first


@pytest.mark.django_db
def test_workers_stop_when_no_hit_is_left():
    campaign, crowd = make_hits(min_ratings=2), {Behaviour.HONEST: 4}
    steps: list[int] = []
    summary = simulate_workers(
        campaign=campaign, crowd=crowd, hits_per_worker=3, seed=1, progress=steps.append
    )
    assert (summary.n_assignments, steps) == (2, [40, 40])


@pytest.mark.django_db
def test_running_the_same_crowd_twice_adds_nothing_to_finished_hits():
    campaign = make_hits()
    simulate_workers(campaign=campaign, crowd=CROWD, seed=4)
    assert simulate_workers(campaign=campaign, crowd=CROWD, seed=4).n_assignments == 0
