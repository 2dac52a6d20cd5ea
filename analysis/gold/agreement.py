"""The agreement of a campaign's trusted workers, and how many ratings are enough."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from da_platform.numbers import known, known_list
from hits.models import Campaign
from hits.rating.arrays import RatingArrays, load_ratings

from ..stats.agreement import (
    Agreement,
    Alpha,
    inter_annotator_agreement,
    intra_annotator_agreement,
    krippendorff_alpha,
)
from ..stats.quality_control import make_pairs
from ..stats.roles import Role
from ..stats.sample_size import AgreementCurve, Collection, agreement_curve
from ..stats.segments import average_repeats, counts_for_gold
from ..stats.standardise import standardise_by_worker
from .runs import Progress, load_trust

# Random splits averaged for each point of the curve; enough for two digits.
N_DRAWS = 20
# Steps of progress: loading, between workers, within workers, alpha, curve.
N_STAGES = 5


@dataclass(frozen=True, slots=True)
class CampaignAgreement:
    """Agreement among the trusted workers of a campaign, on z-scores."""

    between: Agreement
    within: Agreement
    alpha: Alpha
    curve: AgreementCurve
    n_workers: int

    def as_json(self) -> dict[str, Any]:
        """Return JSON types, with None for numbers that could not be computed."""
        curve = self.curve
        return {
            "between": _plain(asdict(self.between)),
            "within": _plain(asdict(self.within)),
            "alpha": _plain(asdict(self.alpha)),
            "n_workers": self.n_workers,
            "curve": {
                "sizes": curve.sizes.tolist(),
                "n_translations": curve.n_translations.tolist(),
                "single": known(curve.z.single),
                **{
                    name: known_list(getattr(curve.z, name))
                    for name in ("r", "low", "high", "predicted")
                },
                "signature": curve.signature,
            },
        }


def measure_agreement(campaign: Campaign, *, progress: Progress | None = None) -> CampaignAgreement:
    """Measure agreement from the current ratings.

    Parameters
    ----------
    campaign : Campaign
        Its seed determines the intervals and splits, so the same ratings give the same numbers.
    progress : callable, optional
        Called with the number of stages done and the total.

    Returns
    -------
    CampaignAgreement
        Of trusted workers only. Numbers that need more ratings are NaN.
    """
    report = progress or (lambda done, total: None)
    rng = np.random.default_rng(campaign.seed)
    ratings = _trusted(load_ratings(campaign), campaign)
    z = standardise_by_worker(ratings.score, ratings.worker).z
    report(1, N_STAGES)
    genuine = counts_for_gold(ratings.role)
    columns = (ratings.worker[genuine], ratings.translation[genuine])
    between = inter_annotator_agreement(z[genuine], *columns, rng=rng)
    report(2, N_STAGES)
    within = _within(ratings, z)
    report(3, N_STAGES)
    z_once, _, units = average_repeats(z[genuine], *columns)
    alpha = krippendorff_alpha(z_once, units, rng=rng)
    report(4, N_STAGES)
    curve = _curve(ratings, z, genuine, rng)
    report(5, N_STAGES)
    return CampaignAgreement(between, within, alpha, curve, len(np.unique(ratings.worker)))


def _trusted(ratings: RatingArrays, campaign: Campaign) -> RatingArrays:
    counts = load_trust(campaign).counts(ratings)
    return RatingArrays(
        **{name: getattr(ratings, name)[counts] for name in RatingArrays.__dataclass_fields__}
    )


def _within(ratings: RatingArrays, z: NDArray[np.float64]) -> Agreement:
    pairs = make_pairs(ratings.assignment, ratings.item, ratings.partner, ratings.score)
    repeats = ratings.role[pairs.rows] == Role.REPEAT
    return intra_annotator_agreement(z[pairs.partner_rows[repeats]], z[pairs.rows[repeats]])


def _curve(
    ratings: RatingArrays,
    z: NDArray[np.float64],
    genuine: NDArray[np.bool_],
    rng: np.random.Generator,
) -> AgreementCurve:
    # A worker whose scores do not vary has no z; their raw scores are left out as well.
    used = genuine & ~np.isnan(z)
    columns = (ratings.worker[used], ratings.translation[used])
    raw, _, units = average_repeats(ratings.score[used].astype(np.float64), *columns)
    z_once, _, _ = average_repeats(z[used], *columns)
    collection = Collection(scores=raw, z=z_once, translations=units)
    return agreement_curve(collection, rng=rng, n_draws=N_DRAWS)


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(fields, known_list(fields.values()), strict=True))
