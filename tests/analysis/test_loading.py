import numpy as np
import pytest

from analysis.stats.quality_control import NO_PARTNER
from hits.campaigns.simulation import Behaviour, simulate_workers
from hits.models import Assignment, Rating, SystemOutput, Translation
from hits.rating.arrays import load_assignments, load_outputs, load_ratings, load_translations
from hits.rating.assignments import submit_assignment, take_assignment
from tests.factories import make_hits, make_worker, rate_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign():
    campaign = make_hits(n_segments=28, hit_size=40)
    simulate_workers(campaign=campaign, crowd={Behaviour.HONEST: 3}, hits_per_worker=2, seed=5)
    return campaign


def microseconds(moment) -> np.datetime64:
    return np.datetime64(moment.replace(tzinfo=None), "us")


def test_every_rating_is_loaded_with_its_item_and_assignment(campaign):
    ratings = load_ratings(campaign)
    rows = list(
        Rating.objects.order_by("assignment_id", "item_id").select_related("assignment", "item")
    )
    assert len(ratings) == len(rows) == 6 * 40
    expected = {
        "assignment": [row.assignment_id for row in rows],
        "item": [row.item_id for row in rows],
        "score": [row.score for row in rows],
        "received": [microseconds(row.received_at) for row in rows],
        "elapsed_ms": [row.elapsed_ms for row in rows],
        "active_ms": [row.active_ms for row in rows],
        "partner": [row.item.partner_id or NO_PARTNER for row in rows],
        "role": [row.item.role for row in rows],
        "position": [row.item.position for row in rows],
        "translation": [row.item.translation_id for row in rows],
        "worker": [row.assignment.worker_id for row in rows],
        "submitted": [microseconds(row.assignment.submitted_at) for row in rows],
    }
    for name, values in expected.items():
        np.testing.assert_array_equal(getattr(ratings, name), values, err_msg=name)


def test_a_time_without_microseconds_can_be_read(campaign):
    moment = Rating.objects.first().received_at.replace(microsecond=0)
    Rating.objects.update(received_at=moment, elapsed_ms=None)
    ratings = load_ratings(campaign)
    assert (ratings.received == microseconds(moment)).all()
    assert (ratings.elapsed_ms == -1).all()


def test_only_submitted_assignments_of_this_campaign_count(campaign):
    simulate_workers(campaign=make_hits(), crowd={Behaviour.HONEST: 1}, seed=6)
    alice = take_assignment(campaign=campaign, worker=make_worker("alice"))
    rate_items(alice)
    assert len(load_ratings(campaign)) == 6 * 40
    submit_assignment(assignment=alice)
    ratings = load_ratings(campaign)
    assert len(ratings) == 7 * 40
    assert (ratings.worker == alice.worker_id).sum() == 40


def test_rows_are_loaded_in_the_same_order_however_they_are_stored(campaign):
    before = load_ratings(campaign)
    rows = list(Rating.objects.all())
    Rating.objects.all()._raw_delete("default")
    Rating.objects.bulk_create(sorted(rows, key=lambda row: (row.score, -row.item_id)))
    after = load_ratings(campaign)
    for name in before.__slots__:
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


def test_chunks_of_any_size_give_the_same_arrays(campaign, monkeypatch):
    at_once = load_ratings(campaign)
    for size in (1, 7, 239, 240, 241):
        monkeypatch.setattr("hits.rating.arrays.CHUNK_ROWS", size)
        np.testing.assert_array_equal(load_ratings(campaign).score, at_once.score)


def test_a_campaign_without_ratings_gives_empty_arrays():
    campaign = make_hits()
    ratings = load_ratings(campaign)
    assert len(ratings) == 0 and ratings.received.dtype == np.dtype("M8[us]")
    assert len(load_assignments(campaign)) == 0


def test_a_loaded_rating_takes_at_most_70_bytes(campaign):
    ratings = load_ratings(campaign)
    n_bytes = sum(getattr(ratings, name).itemsize for name in ratings.__slots__)
    assert n_bytes <= 70


def test_assignments_are_loaded_with_times_and_hits(campaign):
    Assignment.objects.filter(pk=Assignment.objects.first().pk).update(is_rejected=True)
    assignments = load_assignments(campaign)
    rows = list(Assignment.objects.order_by("pk"))
    assert assignments.assignment.tolist() == [row.pk for row in rows]
    assert assignments.is_rejected.tolist() == [True] + [False] * 5
    assert (assignments.started < assignments.submitted).all()
    assert assignments.hit.tolist() == [row.hit_id for row in rows]


def test_a_shared_translation_is_loaded_for_each_of_its_systems(campaign):
    shared, other = Translation.objects.order_by("segment__position", "pk")[:2]
    SystemOutput.objects.filter(translation=other).update(translation=shared)
    outputs = load_outputs(campaign)
    assert len(outputs) == len(load_translations(campaign)) == 56
    assert outputs.system[outputs.translation == shared.pk].tolist() == ["system-a", "system-b"]


def test_loading_takes_three_queries(campaign, django_assert_num_queries):
    with django_assert_num_queries(3):
        load_ratings(campaign)
