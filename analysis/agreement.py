"""How far a campaign's trusted workers agree, and how many ratings are enough."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hits.models import Campaign

from .gold import Progress, load_trust
from .loading import RatingArrays, load_ratings
from .plain import known, known_list
from .stats.agreement import (
    Agreement,
    Alpha,
    inter_annotator_agreement,
    intra_annotator_agreement,
    krippendorff_alpha,
)
from .stats.quality_control import make_pairs
from .stats.roles import Role
from .stats.sample_size import AgreementCurve, Collection, agreement_curve
from .stats.segments import average_repeats, counts_for_gold
from .stats.standardise import standardise_by_worker

# Random splits that a point of the curve is averaged over: enough for two digits.
N_DRAWS = 20
# Loaded, between workers, within workers, alpha, curve: what progress counts.
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
        """Return plain numbers; what could not be computed is None."""
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
    """Measure agreement from the ratings there are now.

    Parameters
    ----------
    campaign : Campaign
        Its seed draws the intervals and the splits: the same ratings give the same numbers.
    progress : callable, optional
        Called with the stages done and all there are.

    Returns
    -------
    CampaignAgreement
        Of trusted workers only; numbers that too few ratings allow are NaN.
    """
    told = progress or (lambda done, total: None)
    rng = np.random.default_rng(campaign.seed)
    own = _trusted(load_ratings(campaign), campaign)
    z = standardise_by_worker(own.score, own.worker).z
    told(1, N_STAGES)
    genuine = counts_for_gold(own.role)
    columns = (own.worker[genuine], own.translation[genuine])
    between = inter_annotator_agreement(z[genuine], *columns, rng=rng)
    told(2, N_STAGES)
    within = _within(own, z)
    told(3, N_STAGES)
    z_once, _, units = average_repeats(z[genuine], *columns)
    alpha = krippendorff_alpha(z_once, units, rng=rng)
    told(4, N_STAGES)
    curve = _curve(own, z, genuine, rng)
    told(5, N_STAGES)
    return CampaignAgreement(between, within, alpha, curve, len(np.unique(own.worker)))


def _trusted(ratings: RatingArrays, campaign: Campaign) -> RatingArrays:
    kept = np.isin(ratings.worker, load_trust(campaign).trusted)
    return RatingArrays(
        **{name: getattr(ratings, name)[kept] for name in RatingArrays.__dataclass_fields__}
    )


def _within(own: RatingArrays, z: NDArray[np.float64]) -> Agreement:
    pairs = make_pairs(own.assignment, own.item, own.partner, own.score)
    repeats = own.role[pairs.rows] == Role.REPEAT
    return intra_annotator_agreement(z[pairs.partner_rows[repeats]], z[pairs.rows[repeats]])


def _curve(
    own: RatingArrays,
    z: NDArray[np.float64],
    genuine: NDArray[np.bool_],
    rng: np.random.Generator,
) -> AgreementCurve:
    # A worker without a scale has no z, and then the raw score stays out as well.
    given = genuine & ~np.isnan(z)
    columns = (own.worker[given], own.translation[given])
    raw, _, units = average_repeats(own.score[given].astype(np.float64), *columns)
    z_once, _, _ = average_repeats(z[given], *columns)
    ratings = Collection(scores=raw, z=z_once, translations=units)
    return agreement_curve(ratings, rng=rng, n_draws=N_DRAWS)


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(fields, known_list(fields.values()), strict=True))
