"""A rating in its document, and the score of the whole, are stored exactly once."""

import pytest

from hits.documents.saving import save_in_document
from hits.exceptions import AnswerRefused
from hits.models import DocumentRating, Item, Rating
from hits.rating import desk

from .campaigns import document_campaign, last_of_runs, taken_by

pytestmark = pytest.mark.django_db


def save(assignment, position, score=50, **fields):
    # As the view does it: with the few fields that one query fetches.
    own = desk.own_desk(assignment.code, worker_code=assignment.worker.code, position=position)
    code = Item.objects.get(hit=assignment.hit, position=position).code
    return own.kind.save(
        assignment=own.assignment, position=position, item_code=code, score=score, **fields
    )


def save_up_to(assignment, position):
    last = last_of_runs(assignment) if assignment.hit.campaign.scores_documents else []
    for place in range(1, position):
        save(assignment, place, **({"document_score": 30} if place in last else {}))


def test_ratings_are_ordinary_ratings():
    assignment = taken_by(document_campaign())
    assert save(assignment, 1, 70).facts() == {"score": 70}
    assert Rating.objects.get().score == 70 and not DocumentRating.objects.exists()


def test_the_score_of_the_whole_is_stored_with_the_last_segment():
    assignment = taken_by(document_campaign(scores_documents=True))
    last = last_of_runs(assignment)[0]
    save_up_to(assignment, last)
    assert save(assignment, last, 60, document_score=80).facts() == {"score": 60, "document": 80}
    stored = DocumentRating.objects.get()
    assert (stored.item.position, stored.score) == (last, 80)


def test_a_second_answer_changes_neither_score():
    assignment = taken_by(document_campaign(scores_documents=True))
    last = last_of_runs(assignment)[0]
    save_up_to(assignment, last)
    save(assignment, last, 60, document_score=80)
    again = save(assignment, last, 10, document_score=20)
    assert not again.is_new and again.facts() == {"score": 60, "document": 80}
    assert DocumentRating.objects.get().score == 80


def test_the_score_of_the_whole_is_needed_where_it_is_asked_for_and_only_there():
    assignment = taken_by(document_campaign(scores_documents=True))
    last = last_of_runs(assignment)[0]
    with pytest.raises(AnswerRefused, match="asked for here"):
        save(assignment, 1, document_score=50)
    save_up_to(assignment, last)
    with pytest.raises(AnswerRefused, match="whole"):
        save(assignment, last)
    with pytest.raises(AnswerRefused, match="between"):
        save(assignment, last, document_score=101)
    assert Rating.objects.count() == last - 1


def test_nothing_is_stored_if_the_segment_is_not_the_next():
    assignment = taken_by(document_campaign(scores_documents=True))
    last = last_of_runs(assignment)[0]
    with pytest.raises(AnswerRefused, match="not the next"):
        save(assignment, last, document_score=50)
    assert not DocumentRating.objects.exists()


def test_a_campaign_without_such_scores_refuses_one():
    assignment = taken_by(document_campaign())
    with pytest.raises(AnswerRefused):
        save_in_document(
            assignment=assignment,
            position=1,
            item_code=Item.objects.get(hit=assignment.hit, position=1).code,
            score=1,
            document_score=1,
        )


@pytest.mark.parametrize("position", [1, 20])
def test_saving_takes_as_many_queries_as_alone(django_assert_num_queries, position):
    assignment = taken_by(document_campaign())
    save_up_to(assignment, position)
    with django_assert_num_queries(3):  # The desk, the item's code for this test, the rating.
        save(assignment, position)
