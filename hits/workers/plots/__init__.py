"""Plots about one worker, each with a description and its data."""

from analysis.stats.quality_control import Pairs, make_pairs
from da_platform.plots.rendering import Picture

from ...task_kinds import ScoreWords
from .edits import EditOrigins, origins_picture, repairs_picture
from .likeness import agreement_picture, likeness_picture
from .pairs import degraded_picture, drift_picture, repeats_picture
from .scores import distribution_picture, scores_picture
from .shown import BesideFormula, BesideOthers, HitTimes, WorkerRatings
from .times import claims_picture, seconds_picture

__all__ = [
    "BesideFormula",
    "BesideOthers",
    "EditOrigins",
    "HitTimes",
    "WorkerRatings",
    "worker_pictures",
]


def worker_pictures(
    ratings: WorkerRatings,
    *,
    beside_others: BesideOthers | None = None,
    beside_formula: BesideFormula | None = None,
    hit_times: HitTimes | None = None,
    pair_ratings: WorkerRatings | None = None,
    origins: EditOrigins | None = None,
    words: ScoreWords | None = None,
) -> list[Picture]:
    """Return the plots that have something to show, most important first.

    Parameters
    ----------
    ratings : WorkerRatings
    beside_others, beside_formula, hit_times : optional
        What the plots of agreement, likeness and claimed time show.
    pair_ratings : WorkerRatings, optional
        The same with other scores, where those of pairs mean something else: for editors, distances.
    origins : EditOrigins, optional
        How an editor's texts came about.
    words : ScoreWords, optional
        What scores are called, where they are no ratings.

    Returns
    -------
    list of Picture
        A plot is left out if there are no ratings, or none of the pairs it needs.
    """
    if not len(ratings):
        return []
    words = words or ScoreWords()
    pairs = _pairs_of(ratings)
    is_edited = pair_ratings is not None
    compared = ratings if pair_ratings is None else pair_ratings
    compared_pairs = _pairs_of(compared)
    pictures = [
        repairs_picture(compared, compared_pairs)
        if is_edited
        else degraded_picture(ratings, pairs),
        origins_picture(origins),
        repeats_picture(ratings, pairs),
        agreement_picture(beside_others),
        likeness_picture(beside_formula),
        drift_picture(compared, compared_pairs),
        distribution_picture(ratings, words),
        scores_picture(ratings, words),
        seconds_picture(ratings.seconds, ratings.hit_number),
        claims_picture(hit_times),
    ]
    return [picture for picture in pictures if picture is not None]


def _pairs_of(ratings: WorkerRatings) -> Pairs:
    return make_pairs(ratings.assignment, ratings.item, ratings.partner, ratings.score)
