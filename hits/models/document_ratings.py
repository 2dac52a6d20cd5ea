"""What workers think of whole documents."""

from django.db import models
from django.db.models import Q

from .assignments import SCORE_MAX, SCORE_MIN, Answer


class DocumentRating(Answer):
    """One worker's score for a run of segments, given with its last item.

    It is no rating of that item's translation, so it has a table of its own.
    """

    score = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="document_rating_is_0_to_100",
                condition=Q(score__gte=SCORE_MIN, score__lte=SCORE_MAX),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}/{self.item_id}: {self.score}"
