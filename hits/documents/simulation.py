"""How simulated workers rate documents: each segment as if it stood alone, and the whole by their mean."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..campaigns.behaviours import SimulatedWorker
from ..campaigns.simulation import rate_items
from ..models import Assignment
from .saving import SavedInDocument, save_in_document


def rate_documents(
    assignment: Assignment,
    person: SimulatedWorker,
    qualities: Mapping[int, float],
    *,
    at: datetime,
) -> datetime:
    """Rate every item of a HIT, from this time on; return when the last one was rated."""
    runs = dict(assignment.hit.items.values_list("position", "run"))
    asks = assignment.hit.campaign.scores_documents
    scores: dict[int | None, list[int]] = defaultdict(list)

    def save(*, position: int, score: int, **answer: Any) -> SavedInDocument:
        own = scores[runs[position]]
        own.append(score)
        is_last = runs.get(position + 1) != runs[position] and len(own) > 1
        whole = round(sum(own) / len(own)) if asks and is_last else None
        return save_in_document(position=position, score=score, document_score=whole, **answer)

    return rate_items(assignment, person, qualities, at=at, save=save)
