"""Rating in documents: one translation after another, with the earlier ones of its document in view."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from ..documents.saving import SavedInDocument, save_in_document
from ..documents.screens import earlier_in_run
from ..hit_sizes import n_ahead_in_documents
from ..models import Assignment, Campaign
from ..rating.forms import read_answer, read_document_score
from ..task_kinds import Sent, ShownItem, TextCounts, Words
from .rating import RatingKind

if TYPE_CHECKING:
    from ..campaigns.planning import HITPlan


class DocumentKind(RatingKind):
    presentation = Campaign.Presentation.DOCUMENT.value
    template = "hits/rate_in_document.html"
    # Reading on takes less time than starting again, but the score of the whole takes some.
    seconds_per_screen = 12

    def shown_how(self, campaign: Campaign) -> str:
        return f"in their documents, up to {campaign.run_length} segments by one system in a row, with the earlier ones in view"

    def words(self, campaign: Campaign) -> Words:
        return replace(
            super().words(campaign),
            presented=gettext(
                "The texts come from documents. The earlier texts of a document stay above: judge each text as part of its document."
            ),
        )

    def items_ahead(self, task: str, size: int) -> int:
        return n_ahead_in_documents(size)

    def page_context(self, assignment: Assignment, screen: ShownItem) -> dict[str, Any]:
        return {"earlier": earlier_in_run(assignment, screen)}

    def read(self, sent: Sent) -> dict[str, Any]:
        return read_answer(sent) | {"document_score": read_document_score(sent)}

    def save(self, *, assignment: Assignment, **answer: Any) -> SavedInDocument:  # type: ignore[override]
        return save_in_document(assignment=assignment, **answer)

    # What follows loads NumPy and SciPy, which web processes do not need.

    def plan_hits(
        self, campaign: Campaign, progress: Callable[[int], None] | None = None
    ) -> "HITPlan":
        from ..documents.planning import plan_documents

        return plan_documents(campaign, progress)

    def n_hits(self, campaign: Campaign, counts: TextCounts) -> int:
        from ..documents.planning import count_hits

        return count_hits(campaign, counts.n_translations)

    def simulate(
        self, assignment: Assignment, person: Any, qualities: Mapping[int, float], *, at: datetime
    ) -> datetime:
        from ..documents.simulation import rate_documents

        return rate_documents(assignment, person, qualities, at=at)


KIND = DocumentKind()
