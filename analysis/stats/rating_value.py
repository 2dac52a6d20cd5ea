"""What more ratings would buy: more precise scores of translations, and differences between systems."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .sample_size import spearman_brown
from .variance_components import VarianceComponents

# More ratings of each translation to look at.
MORE = (0, 1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class RatingValue:
    """What means of so many ratings of each translation are worth. NaN where it cannot be computed.

    Attributes
    ----------
    n_more, n_ratings : float
        Ratings more than now, and in all.
    reliability : float
        Correlation with the mean of as many ratings by others.
    ceiling : float
        Correlation with the true score: what a perfect metric could reach.
    difference_error : float
        Standard error of the difference between two system scores.
    error_on_segments : float
        The same, if the ratings go to more segments instead, with as many ratings of each as now.
    """

    n_more: float
    n_ratings: float
    reliability: float
    ceiling: float
    difference_error: float
    error_on_segments: float


def value_of_ratings(
    components: VarianceComponents,
    single: float,
    *,
    n_ratings: float,
    n_segments: float,
    n_workers: float,
    more: Sequence[float] = MORE,
) -> list[RatingValue]:
    """Predict what more ratings of each translation would be worth.

    Parameters
    ----------
    components : VarianceComponents
        How ratings vary, from the ratings there are.
    single : float
        Correlation of two single ratings of a translation, by different workers.
    n_ratings, n_segments, n_workers : float
        Ratings of a translation, rated segments of a system, and workers there are now. More
        ratings are assumed to bring more workers in proportion.
    more : sequence of float

    Returns
    -------
    list of RatingValue
        One for each number of `more`.
    """
    counts = {"n_ratings": n_ratings, "n_segments": n_segments, "n_workers": n_workers}
    for name, value in counts.items():
        if not value > 0:
            raise ValueError(f"`{name}` must be above 0, not {value!r}.")
    return [_value(components, single, n_ratings, n_segments, n_workers, each) for each in more]


def _value(
    components: VarianceComponents,
    single: float,
    n_ratings: float,
    n_segments: float,
    n_workers: float,
    n_more: float,
) -> RatingValue:
    n = n_ratings + n_more
    times = n / n_ratings
    reliability = float(spearman_brown(single, n))
    # Segments are shared by the systems, so what they have in common cancels out.
    shared = components.taste / (n_workers * times) + (components.worker + components.residual) / (
        n_segments * n
    )
    return RatingValue(
        n_more=n_more,
        n_ratings=n,
        reliability=reliability,
        ceiling=math.sqrt(reliability),
        difference_error=math.sqrt(2 * (components.translation / n_segments + shared)),
        error_on_segments=math.sqrt(2 * (components.translation / (n_segments * times) + shared)),
    )
