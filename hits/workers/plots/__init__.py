"""Plots about one worker, each with a description and its data."""

from analysis.stats.quality_control import make_pairs
from da_platform.plots.rendering import Picture

from .likeness import agreement_picture, likeness_picture
from .pairs import degraded_picture, drift_picture, repeats_picture
from .scores import distribution_picture, scores_picture
from .shown import BesideFormula, BesideOthers, HitTimes, WorkerRatings
from .times import claims_picture, seconds_picture

__all__ = ["BesideFormula", "BesideOthers", "HitTimes", "WorkerRatings", "worker_pictures"]


def worker_pictures(
    ratings: WorkerRatings,
    *,
    beside_others: BesideOthers | None = None,
    beside_formula: BesideFormula | None = None,
    hit_times: HitTimes | None = None,
) -> list[Picture]:
    """Return the plots that have something to show, most important first.

    Parameters
    ----------
    ratings : WorkerRatings
    beside_others, beside_formula, hit_times : optional
        What the plots of agreement, likeness and claimed time show.

    Returns
    -------
    list of Picture
        A plot is left out if there are no ratings, or none of the pairs it needs.
    """
    if not len(ratings):
        return []
    pairs = make_pairs(ratings.assignment, ratings.item, ratings.partner, ratings.score)
    pictures = [
        degraded_picture(ratings, pairs),
        repeats_picture(ratings, pairs),
        agreement_picture(beside_others),
        likeness_picture(beside_formula),
        drift_picture(ratings, pairs),
        distribution_picture(ratings),
        scores_picture(ratings),
        seconds_picture(ratings.seconds, ratings.hit_number),
        claims_picture(hit_times),
    ]
    return [picture for picture in pictures if picture is not None]
