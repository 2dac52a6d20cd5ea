import pytest
from django.db import IntegrityError, transaction

from hits.exceptions import AnswerRefused, NotFinished
from hits.models import Assignment, Rating
from hits.rating.assignments import submit_assignment, take_assignment
from tests.factories import make_hits, make_worker, rate, rate_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def assignment() -> Assignment:
    return take_assignment(campaign=make_hits(), worker=make_worker())


def item_at(assignment: Assignment, position: int):
    return assignment.hit.items.get(position=position)


def test_a_rating_is_stored_with_the_times_of_server_and_browser(assignment):
    rate(assignment, item_at(assignment, 1), score=73, elapsed_ms=5_000, active_ms=4_000)
    rating = Rating.objects.get()
    assert (rating.score, rating.elapsed_ms, rating.active_ms) == (73, 5_000, 4_000)
    assert rating.received_at >= assignment.started_at


def test_a_second_score_for_an_item_returns_the_first(assignment):
    item = item_at(assignment, 1)
    rate(assignment, item, score=73)
    assert rate(assignment, item, score=10).score == 73
    assert Rating.objects.count() == 1


@pytest.mark.parametrize("score", [0, 100])
def test_both_ends_of_the_scale_are_accepted(assignment, score):
    assert rate(assignment, item_at(assignment, 1), score=score).score == score


@pytest.mark.parametrize("score", [-1, 101, 50.0, "50", None, True])
def test_only_whole_numbers_from_0_to_100_are_scores(assignment, score):
    with pytest.raises(AnswerRefused, match="score"):
        rate(assignment, item_at(assignment, 1), score=score)


@pytest.mark.parametrize("score", [-1, 101])
def test_the_database_refuses_a_score_outside_the_scale(assignment, score):
    with pytest.raises(IntegrityError), transaction.atomic():
        Rating.objects.create(assignment=assignment, item=item_at(assignment, 1), score=score)


def test_skipping_an_item_is_refused(assignment):
    rate(assignment, item_at(assignment, 1), score=50)
    with pytest.raises(AnswerRefused, match="order"):
        rate(assignment, item_at(assignment, 3), score=50)


def test_an_item_of_another_hit_is_refused(assignment):
    foreign = make_hits().hits.get().items.get(position=1)
    with pytest.raises(AnswerRefused, match="not the next item"):
        rate(assignment, foreign, score=50)


def test_an_unfinished_assignment_cannot_be_submitted(assignment):
    rate_items(assignment, n_items=39)
    with pytest.raises(NotFinished, match="1 of 40"):
        submit_assignment(assignment=assignment)
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.IN_PROGRESS and not assignment.completion_code


def test_submitting_freezes_the_ratings_and_gives_a_permanent_code(assignment):
    rate_items(assignment)
    first = submit_assignment(assignment=assignment, comment="fine")
    code, submitted_at = first.completion_code, first.submitted_at
    again = submit_assignment(assignment=assignment, comment="changed my mind")
    assert len(code) == 12 and not again.is_late
    assert (again.completion_code, again.submitted_at) == (code, submitted_at)
    assert again.comment == "fine"
    rate(assignment, item_at(assignment, 40), score=99)
    assert assignment.ratings.get(item__position=40).score == 40


def test_a_returned_assignment_accepts_no_rating(assignment):
    rate_items(assignment, n_items=39)
    Assignment.objects.filter(pk=assignment.pk).update(status=Assignment.Status.RETURNED)
    assignment.refresh_from_db()
    with pytest.raises(AnswerRefused, match="returned"):
        rate(assignment, item_at(assignment, 40), score=50)


def test_saving_takes_one_query(assignment, django_assert_num_queries):
    rate_items(assignment, n_items=38)
    item = item_at(assignment, 39)
    with django_assert_num_queries(1):
        rate(assignment, item, score=50)
