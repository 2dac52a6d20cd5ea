"""Scripts in the simulated crowd rate by what a browser shows, and nothing else."""

import numpy as np
import pytest
from sacrebleu.metrics import CHRF
from scipy import stats

from analysis.stats.roles import Role
from hits.campaigns.behaviours import (
    LOWERED,
    READERS,
    SCRIPTS,
    Behaviour,
    Memory,
    Shown,
    SimulatedWorker,
    chrf,
    word_f1,
)
from hits.campaigns.simulation import simulate_workers
from hits.models import Assignment, Rating
from tests.factories import make_hits

GRAY = "the old bridge over the river was closed until late spring"
TEXT = "the old bridge across the river was closed till late spring"
WORSE = "the old bridge across a table is green till late spring"


def person(behaviour: Behaviour, seed: int = 1) -> SimulatedWorker:
    return SimulatedWorker(behaviour, np.random.default_rng(seed))


def rate(worker: SimulatedWorker, text: str, gray: str = GRAY) -> int:
    return worker.score(Role.GENUINE, 1, 50.0, Shown(text, gray))


def test_every_kind_either_reads_or_is_a_script():
    assert not READERS.keys() & SCRIPTS.keys()
    assert READERS.keys() | SCRIPTS.keys() == set(Behaviour)


@pytest.mark.parametrize("behaviour", SCRIPTS)
def test_a_script_knows_neither_role_nor_quality(behaviour):
    texts = [TEXT, WORSE, "something else", TEXT, GRAY]
    worker, same_worker = person(behaviour), person(behaviour)
    scores = [worker.score(Role.GENUINE, 1, 90.0, Shown(text, GRAY)) for text in texts]
    assert scores == [
        same_worker.score(role, i, 10.0, Shown(text, GRAY))
        for i, (role, text) in enumerate(zip([*Role, Role.REPEAT], texts, strict=True))
    ]


@pytest.mark.parametrize(
    ("behaviour", "measure"),
    [
        (Behaviour.OVERLAP, word_f1),
        (Behaviour.CHRF, chrf),
        (Behaviour.FAST, word_f1),
        (Behaviour.SLOW_AT_THE_END, word_f1),
    ],
)
def test_an_overlap_script_gives_a_hundred_times_the_overlap(behaviour, measure):
    for text in (GRAY, TEXT, WORSE, "none"):
        assert rate(person(behaviour), text) == round(100 * measure(text, GRAY))


def test_an_overlap_script_without_gray_text_scores_by_length():
    assert rate(person(Behaviour.OVERLAP), "one two three four", gray="") == 10
    assert rate(person(Behaviour.OVERLAP), "word " * 99, gray="") == 100


@pytest.mark.parametrize("text", [TEXT, WORSE, GRAY, "the", "xyz", ""])
def test_chrf_is_that_of_sacrebleu(text):
    expected = CHRF().sentence_score(text, [GRAY]).score / 100
    assert chrf(text, GRAY) == pytest.approx(expected, abs=1e-12)


def test_memory_lowers_words_that_it_has_seen_with_another_segment():
    worker, fresh = person(Behaviour.MEMORY), person(Behaviour.MEMORY)
    rate(
        worker, "someone bought nine yellow ships yesterday", gray="a man bought nine yellow ships"
    )
    borrowed = "the old bridge bought nine yellow ships spring"
    assert rate(worker, borrowed) == pytest.approx(max(0, rate(fresh, borrowed) - LOWERED), abs=1)
    assert rate(worker, TEXT) == rate(fresh, TEXT)


def test_memory_lowers_a_text_that_it_has_seen_with_more_overlap():
    worker = person(Behaviour.MEMORY)
    better, worse = rate(worker, GRAY), rate(worker, TEXT)
    assert (better, worse) == (100, round(100 * word_f1(TEXT, GRAY) - LOWERED))
    assert rate(worker, GRAY) == 100


@pytest.mark.parametrize("behaviour", [Behaviour.PAIRS, Behaviour.PAIRS_CHRF])
def test_a_pairs_script_is_random_but_lowers_the_worse_of_two_similar_texts(behaviour):
    first, second, same = [], [], []
    for seed in range(40):
        worker = person(behaviour, seed)
        first.append(rate(worker, GRAY))
        second.append(rate(worker, TEXT))
        same.append(rate(worker, GRAY))
    assert stats.kstest(np.array(first) / 100, "uniform").pvalue > 0.01
    assert (np.array(second) == np.maximum(0, np.array(first) - LOWERED)).all()
    assert same == first


def test_memory_without_gray_texts_compares_similar_texts_only():
    memory = Memory()
    memory.add(Shown(TEXT), 80)
    assert memory.nearest(Shown(GRAY)).score == 80
    assert memory.nearest(Shown("a different text altogether")) is None
    assert memory.has_copied(Shown("who said the old bridge across town must fall now"))
    assert not memory.has_copied(Shown(GRAY))


def test_a_language_model_reads_with_less_noise_than_a_person_in_round_scores():
    qualities = np.random.default_rng(1).normal(55, 18, 2_000)

    def scores_of(behaviour: Behaviour, role: Role, seed: int = 1) -> np.ndarray:
        worker = person(behaviour, seed)
        return np.array([worker.score(role, i, q) for i, q in enumerate(qualities)])

    model, honest = (
        scores_of(kind, Role.GENUINE) for kind in (Behaviour.LANGUAGE_MODEL, Behaviour.HONEST)
    )
    assert np.corrcoef(model, qualities)[0, 1] > np.corrcoef(honest, qualities)[0, 1] + 0.1
    assert set(model % 5) == {0} and model.mean() > honest.mean() + 5
    assert scores_of(Behaviour.LANGUAGE_MODEL, Role.BAD_REFERENCE).mean() < model.mean() - 15
    # Two ids with the same model agree better with each other than with the truth.
    other = scores_of(Behaviour.LANGUAGE_MODEL, Role.GENUINE, seed=2)
    assert np.corrcoef(model, other)[0, 1] > np.corrcoef(model, qualities)[0, 1]


@pytest.mark.django_db
def test_scripts_in_a_campaign_compare_with_the_gray_text_and_rate_within_seconds():
    campaign = make_hits()
    crowd = {Behaviour.FAST: 1, Behaviour.SLOW_AT_THE_END: 1, Behaviour.OVERLAP: 1}
    simulate_workers(campaign=campaign, crowd=crowd, seed=1)
    ratings = Rating.objects.select_related("item__translation__segment")
    assert len(ratings) == 120
    for rating in ratings:
        reference = rating.item.translation.segment.reference
        assert rating.score == round(100 * word_f1(rating.item.text, reference))

    def minutes(kind: str) -> tuple[float, float]:
        """From the first to the last rating, and from then until it was submitted."""
        assignment = Assignment.objects.get(worker__external_id__startswith=f"{kind}-")
        times = assignment.ratings.order_by("item__position").values_list("received_at", flat=True)
        waited = assignment.submitted_at - times[39]
        return (times[39] - times[0]).total_seconds() / 60, waited.total_seconds() / 60

    assert minutes("fast") == (pytest.approx(0, abs=0.1), 0)
    assert minutes("slow_at_the_end") == (pytest.approx(0, abs=0.1), 5)
    assert minutes("overlap")[0] > 3
