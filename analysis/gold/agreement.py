"""The agreement of a campaign's trusted workers, how many ratings are enough, and how long they take."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from da_platform.exceptions import PlatformError
from da_platform.numbers import known, known_list
from hits.models import Campaign, Translation
from hits.rating.arrays import RatingArrays, load_assignments, load_ratings

from ..stats.agreement import (
    Agreement,
    Alpha,
    inter_annotator_agreement,
    intra_annotator_agreement,
    krippendorff_alpha,
)
from ..stats.quality_control import make_pairs, repeat_tests
from ..stats.roles import Role
from ..stats.sample_size import (
    AgreementCurve,
    Collection,
    Points,
    Scatter,
    agreement_curve,
    agreement_scatters,
)
from ..stats.segments import average_repeats, counts_for_gold
from ..stats.standardise import standardise_by_worker
from ..stats.thresholds import MINIMUM_PAIRS, RELIABLE_P
from ..stats.variance_components import VarianceComponents
from .components import measure_components
from .counted_ratings import load_trust
from .rating_value import measure_value
from .reliability import METHODS, Reliability, measure_reliability
from .runs import Progress

# Random splits averaged for each point of the curve; enough for two digits.
N_DRAWS = 20
# Steps of progress: loading, between workers, within workers, alpha, halves, curve.
N_STAGES = 6
# Points of a scatter that are kept; more would not be told apart.
MOST_POINTS = 400


class ReplicateRefused(PlatformError):
    """A second campaign that cannot serve as a replicate."""


@dataclass(frozen=True, slots=True)
class Depth:
    """Trusted ratings per translation, over the translations that have any. All are 0 without ratings."""

    least: int
    mean: float
    most: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """How many trusted workers scored repeats differently from their originals (two-sided paired t-test).

    Only workers with enough pairs count; `RELIABLE_P` of them would differ by chance.
    """

    n_workers: int
    n_differ: int


@dataclass(frozen=True, slots=True)
class Effort:
    """Working time per HIT, over all submitted HITs, and what a median HIT pays per hour. NaN if unknown."""

    n_hits: int
    median_seconds: float
    total_seconds: float
    pay_per_hour: float
    currency: str


@dataclass(frozen=True, slots=True)
class CampaignAgreement:
    """Agreement among the trusted workers of a campaign, on z-scores.

    `curve` and `scatters` take ratings at random, `in_order` takes them in the order they were given. All of
    them compare with `replicate`, another campaign's name, or with other ratings of the same campaign.
    """

    between: Agreement
    within: Agreement
    alpha: Alpha
    curve: AgreementCurve
    in_order: AgreementCurve
    scatters: tuple[Scatter, ...]
    replicate: str
    depth: Depth
    repeats: Repeats
    effort: Effort
    reliability: tuple[Reliability, ...]
    components: VarianceComponents | None
    value: dict[str, Any] | None
    n_workers: int

    def as_json(self) -> dict[str, Any]:
        """Return JSON types, with None for numbers that could not be computed."""
        curve = self.curve
        return {
            "between": _plain(asdict(self.between)),
            "within": _plain(asdict(self.within)),
            "alpha": _plain(asdict(self.alpha)),
            "components": asdict(self.components) if self.components else None,
            "value": self.value,
            "n_workers": self.n_workers,
            "curve": {
                "sizes": curve.sizes.tolist(),
                "n_translations": curve.n_translations.tolist(),
                **_points(curve.z),
                "raw": _points(curve.raw),
                "in_order": _points(self.in_order.z),
                "in_order_raw": _points(self.in_order.raw),
                "replicate": self.replicate,
                "signature": curve.signature,
            },
            "scatters": [_scatter(scatter) for scatter in self.scatters],
            "depth": _plain(asdict(self.depth)),
            "repeats": asdict(self.repeats),
            "effort": _plain(asdict(self.effort)),
            "reliability": [each.as_json() for each in self.reliability],
        }


def _points(points: Points) -> dict[str, Any]:
    columns = {
        name: known_list(getattr(points, name)) for name in ("r", "low", "high", "predicted")
    }
    return columns | {"single": known(points.single)}


def _scatter(scatter: Scatter) -> dict[str, Any]:
    """Return the points of a scatter; an evenly spaced sample of them if there are many."""
    n = len(scatter.means)
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(np.int64))
    return {
        "size": scatter.size,
        "r": known(scatter.r),
        "n": n,
        "means": scatter.means[rows].tolist(),
        "gold": scatter.gold[rows].tolist(),
    }


def measure_agreement(
    campaign: Campaign, *, replicate: Campaign | None = None, progress: Progress | None = None
) -> CampaignAgreement:
    """Measure agreement from the current ratings.

    Parameters
    ----------
    campaign : Campaign
        Its seed determines the splits, so the same ratings give the same numbers.
    replicate : Campaign, optional
        A campaign with other ratings of the same translations, to compare means of N ratings with; workers of
        both count in the first only. Without it, they are compared with means of N other ratings of the same campaign.
    progress : callable, optional
        Called with the number of stages done and the total.

    Returns
    -------
    CampaignAgreement
        Of trusted workers only. Numbers that need more ratings are NaN.

    Raises
    ------
    ReplicateRefused
        If the replicate has no rated translation in common.
    """
    report = progress or (lambda done, total: None)
    rng = np.random.default_rng(campaign.seed)
    all_ratings = load_ratings(campaign)
    ratings = _trusted(all_ratings, campaign)
    z = standardise_by_worker(ratings.score, ratings.worker).z
    segments = _segments(campaign, ratings.translation)
    report(1, N_STAGES)
    genuine = counts_for_gold(ratings.role)
    columns = (ratings.worker[genuine], ratings.translation[genuine])
    between = inter_annotator_agreement(z[genuine], *columns, segments=segments[genuine])
    report(2, N_STAGES)
    within, repeats = _within(ratings, z)
    report(3, N_STAGES)
    z_once, _, units = average_repeats(z[genuine], *columns)
    alpha = krippendorff_alpha(z_once, units, segments=_segments(campaign, units))
    report(4, N_STAGES)
    collection, moments = _collection(ratings, z)
    collection = replace(collection, segments=_segments(campaign, collection.translations))
    other = None if replicate is None else _replicate(campaign, replicate, ratings.worker)
    reliability = [
        measure_reliability(campaign, method=method, ratings=all_ratings) for method in METHODS
    ]
    report(5, N_STAGES)
    curve = agreement_curve(collection, replicate=other, rng=rng, n_draws=N_DRAWS)
    depth, components = _depth(units), measure_components(campaign, all_ratings)
    n_workers = len(np.unique(ratings.worker))
    agreement = CampaignAgreement(
        between=between,
        within=within,
        alpha=alpha,
        curve=curve,
        in_order=agreement_curve(collection, replicate=other, submitted=moments),
        scatters=agreement_scatters(collection, replicate=other, rng=rng),
        replicate="" if replicate is None else replicate.name,
        depth=depth,
        repeats=repeats,
        effort=_effort(campaign, all_ratings),
        reliability=tuple(each for each in reliability if each is not None),
        components=components,
        value=measure_value(
            campaign,
            components,
            single=curve.z.single,
            n_ratings=depth.mean,
            n_translations=len(np.unique(units)),
            n_workers=n_workers,
        ),
        n_workers=n_workers,
    )
    report(6, N_STAGES)
    return agreement


def _trusted(ratings: RatingArrays, campaign: Campaign) -> RatingArrays:
    counts = load_trust(campaign).counts(ratings)
    return RatingArrays(
        **{name: getattr(ratings, name)[counts] for name in RatingArrays.__dataclass_fields__}
    )


def _within(ratings: RatingArrays, z: NDArray[np.float64]) -> tuple[Agreement, Repeats]:
    pairs = make_pairs(ratings.assignment, ratings.item, ratings.partner, ratings.score)
    is_repeat = ratings.role[pairs.rows] == Role.REPEAT
    rows = pairs.rows[is_repeat]
    tests = repeat_tests(pairs.differences[is_repeat], ratings.worker[rows])
    has_enough = tests.n_pairs >= MINIMUM_PAIRS
    return (
        intra_annotator_agreement(
            z[pairs.partner_rows[is_repeat]], z[rows], workers=ratings.worker[rows]
        ),
        Repeats(
            n_workers=int(has_enough.sum()),
            n_differ=int((has_enough & (tests.pvalue < RELIABLE_P)).sum()),
        ),
    )


def _collection(
    ratings: RatingArrays, z: NDArray[np.float64]
) -> tuple[Collection, NDArray[np.float64]]:
    """Return one rating per worker and translation, and when it was given, in seconds."""
    # A worker whose scores do not vary has no z; their raw scores are left out as well.
    used = counts_for_gold(ratings.role) & ~np.isnan(z)
    columns = (ratings.worker[used], ratings.translation[used])
    raw, _, units = average_repeats(ratings.score[used].astype(np.float64), *columns)
    z_once, _, _ = average_repeats(z[used], *columns)
    seconds = ratings.received[used].astype("M8[ms]").astype(np.int64) / 1000
    moments, _, _ = average_repeats(seconds, *columns)
    return Collection(scores=raw, z=z_once, translations=units), moments


def _segments(campaign: Campaign, translations: ArrayLike) -> NDArray[np.int64]:
    """Return the segment of each translation: translations of one segment vary together."""
    rows = Translation.objects.filter(segment__campaign=campaign).order_by("pk")
    pairs = list(rows.values_list("pk", "segment_id").iterator(10_000))
    keys, segments = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return segments[np.searchsorted(keys, np.asarray(translations))]


def _replicate(campaign: Campaign, replicate: Campaign, workers: NDArray[np.int64]) -> Collection:
    """Return the ratings of another campaign for the texts that both have, under this campaign's keys.

    Those of the first campaign's `workers` are left out: a worker would agree with their own earlier ratings.
    """
    ratings = _trusted(load_ratings(replicate), replicate)
    z = standardise_by_worker(ratings.score, ratings.worker).z
    # Without z, a rating is not used.
    z = np.where(np.isin(ratings.worker, workers), np.nan, z)
    collection, _ = _collection(ratings, z)
    own = {(segment, text): pk for pk, segment, text in _texts(campaign)}
    keys = {pk: own.get((segment, text)) for pk, segment, text in _texts(replicate)}
    translations = [keys[pk] for pk in np.asarray(collection.translations).tolist()]
    is_shared = np.array([pk is not None for pk in translations], dtype=np.bool_)
    if not is_shared.any():
        raise ReplicateRefused(
            f"{replicate} has no trusted ratings of the translations of {campaign} by other workers. A replicate "
            f"needs segments of the same names with the same texts, and workers who did not rate {campaign}."
        )
    return Collection(
        scores=np.asarray(collection.scores)[is_shared],
        z=np.asarray(collection.z)[is_shared],
        translations=np.array([pk for pk in translations if pk is not None], dtype=np.int64),
    )


def _texts(campaign: Campaign) -> Iterable[tuple[int, str, str]]:
    rows = Translation.objects.filter(segment__campaign=campaign)
    return rows.values_list("pk", "segment__name", "text").iterator(10_000)


def _depth(translations: NDArray[Any]) -> Depth:
    _, n = np.unique(translations, return_counts=True)
    return Depth(int(n.min()), float(n.mean()), int(n.max())) if len(n) else Depth(0, 0.0, 0)


def _effort(campaign: Campaign, ratings: RatingArrays) -> Effort:
    """Measure the time in view that browsers reported; HITs without it took from start to submission."""
    assignments = load_assignments(campaign)
    codes = np.searchsorted(assignments.assignment, ratings.assignment)
    n = len(assignments)
    in_view = np.bincount(codes, weights=np.maximum(ratings.active_ms, 0), minlength=n) / 1000
    is_known = np.bincount(codes, weights=ratings.active_ms < 0, minlength=n) == 0
    passed = (assignments.submitted - assignments.started) / np.timedelta64(1, "s")
    seconds = np.where(is_known & (in_view > 0), in_view, passed)
    median = float(np.median(seconds)) if n else math.nan
    pay = float(campaign.pay_per_hit)
    return Effort(
        n_hits=n,
        median_seconds=median,
        total_seconds=float(seconds.sum()),
        pay_per_hour=pay * 3600 / median if n and median > 0 and pay else math.nan,
        currency=campaign.currency,
    )


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(fields, known_list(fields.values()), strict=True))
