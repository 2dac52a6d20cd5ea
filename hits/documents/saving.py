"""Saving a rating in its document: with the last segment of a run comes the score of the whole."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from ..exceptions import AnswerRefused
from ..models import SCORE_MAX, SCORE_MIN, Assignment, DocumentRating, Item
from ..rating.saving import SavedRating, save_rating


@dataclass(frozen=True, slots=True)
class SavedInDocument:
    """What the database holds for an item, and for its document if its score was given with it."""

    rating: SavedRating
    document_score: int | None = None

    @property
    def is_new(self) -> bool:
        return self.rating.is_new

    def facts(self) -> dict[str, Any]:
        facts = self.rating.facts()
        return facts if self.document_score is None else facts | {"document": self.document_score}


def save_in_document(
    *,
    assignment: Assignment,
    position: int,
    item_code: UUID,
    document_score: int | None = None,
    at: datetime | None = None,
    **answer: Any,
) -> SavedInDocument:
    """Store the score of the next item, and of its document if it is the last of several segments.

    Either both are stored or none; scores that came first stay. The score of the whole is refused where the
    campaign does not ask for it, and must be there where it does.
    """
    last = _last_of_run(assignment, position)
    if (last is not None) != (document_score is not None):
        raise AnswerRefused(
            "No score of a document was asked for here." if last is None else "Score the whole too."
        )
    answer |= {"assignment": assignment, "position": position, "item_code": item_code, "at": at}
    if last is None or document_score is None:
        return SavedInDocument(save_rating(**answer))
    if not SCORE_MIN <= document_score <= SCORE_MAX:
        raise AnswerRefused(f"A score must be between {SCORE_MIN} and {SCORE_MAX}.")
    with transaction.atomic():
        rating = save_rating(**answer)
        if rating.is_new:
            DocumentRating.objects.create(
                assignment=assignment,
                item_id=last,
                score=document_score,
                received_at=at or timezone.now(),
            )
            return SavedInDocument(rating, document_score)
    stored = DocumentRating.objects.get(assignment=assignment, item=last)
    return SavedInDocument(rating, stored.score)


def _last_of_run(assignment: Assignment, position: int) -> int | None:
    """Return the item at this position if its document is scored now: it is the last of several segments."""
    if not assignment.hit.campaign.scores_documents:
        return None
    near = Item.objects.filter(
        hit=assignment.hit_id, position__gte=position - 1, position__lte=position + 1
    )
    runs = {place: (pk, run) for place, pk, run in near.values_list("position", "pk", "run")}
    pk, run = runs.get(position, (None, None))
    is_last = position + 1 not in runs or runs[position + 1][1] != run
    has_earlier = position - 1 in runs and runs[position - 1][1] == run
    return pk if is_last and has_earlier else None
