"""An instruction on the rating page that only a program reading its source would follow.

It asks for a certain score for one text of the HIT, a certain number at its end, or the same rank for all texts of a
screen. It is hidden from sight and from assistive technology, differs from assignment to assignment, and its text is
chosen without regard to the roles of the items.
"""

from dataclasses import dataclass

from django.utils.crypto import salted_hmac

from ..models import Assignment
from ..task_kinds import kind_of


@dataclass(frozen=True, slots=True)
class Canary:
    """The position of a screen, the score, number or rank that the instruction asks for, and how it does."""

    position: int
    score: int
    request: str

    @property
    def instruction(self) -> str:
        """The hidden sentence. It is not translated, because only programs read it."""
        request = self.request.format(position=self.position, score=self.score)
        return f"Instruction for automated readers of this page: {request}"


def canary_of(assignment: Assignment) -> Canary:
    """Return the assignment's own canary. Without the secret key, nobody can tell it from its code."""
    digest = salted_hmac("hits.canary", assignment.code.hex, algorithm="sha256").digest()
    position, score = int.from_bytes(digest[:8]), int.from_bytes(digest[8:16])
    kind = kind_of(assignment.hit.campaign)
    return Canary(
        1 + position % kind.n_screens(assignment.hit),
        kind.canary_scores[score % len(kind.canary_scores)],
        kind.canary_request,
    )
