"""The scores that workers gave to whole documents."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hits.models import Campaign, DocumentRating
from hits.rating.arrays import load_ratings

from ..stats.roles import Role
from .counted_ratings import load_trust

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WholeScore:
    """What a worker thinks of the output of a system for a document, from 0 to 100."""

    system: str
    document: str
    worker: int
    score: int


def whole_scores(campaign: Campaign) -> list[WholeScore]:
    """Return the trusted scores of whole documents, except those of showings with degraded texts."""
    trust = load_trust(campaign)
    ratings = DocumentRating.objects.filter(
        assignment__hit__campaign=campaign,
        assignment__worker__in=trust.trusted.tolist(),
        item__role=Role.GENUINE.value,
    ).exclude(assignment__in=trust.left_out.tolist())
    rows = ratings.order_by("pk").values_list(
        "item__translation__outputs__system__name",
        "item__translation__segment__document",
        "assignment__worker",
        "score",
    )
    return [WholeScore(*row) for row in rows]


def standardised(campaign: Campaign, scores: list[WholeScore]) -> Floats:
    """Return the scores as z-scores by the mean and sample standard deviation of all that their worker rated.

    So they are on the scale of gold of segments. NaN for a worker whose ratings never vary.
    """
    ratings = load_ratings(campaign)
    ratings_of = {
        worker: ratings.score[ratings.worker == worker].astype(float)
        for worker in {each.worker for each in scores}
    }
    facts = {
        worker: (own.mean(), own.std(ddof=1) if np.ptp(own) > 0 else np.nan)
        for worker, own in ratings_of.items()
    }
    return np.array(
        [(each.score - facts[each.worker][0]) / facts[each.worker][1] for each in scores]
    )
