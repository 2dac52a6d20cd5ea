"""Does a worker score by a formula? Correlation of scores with measures that need no understanding."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ._groups import divide, factorise, moments, sums
from ._pearson import pearson
from ._validation import Floats, Ints, Keys, as_keys, as_numbers, check_same_length

# A worker whose scores follow a formula this closely is flagged. Scripts that score by overlap reach
# medians of 0.82 to 0.96; the mean of many people's ratings reaches 0.22 to 0.52.
LIKENESS_R = 0.7
# With fewer items a person's scores may be this close to a formula by chance.
FEWEST_LIKENESS_ITEMS = 20


@dataclass(frozen=True, slots=True)
class Likeness:
    """The correlation of one worker's scores with each measure; NaN where either never varies.

    Scores that fall as a measure rises follow it just as well: `closest` and `is_flagged` look at the
    size of r, not its sign.
    """

    r: dict[str, float]
    n_items: int

    @property
    def closest(self) -> str | None:
        """The measure that the scores follow most, or None if there is none to compare with."""
        sizes = {name: abs(r) for name, r in self.r.items() if np.isfinite(r)}
        return max(sizes, key=lambda name: sizes[name]) if sizes else None

    @property
    def is_flagged(self) -> bool:
        """Whether the scores follow a measure more closely than a reader's would."""
        return (
            self.closest is not None
            and self.n_items >= FEWEST_LIKENESS_ITEMS
            and abs(self.r[self.closest]) >= LIKENESS_R
        )


def likeness_to_formulas(scores: ArrayLike, measures: Mapping[str, ArrayLike]) -> Likeness:
    """Correlate a worker's scores of genuine items with measures of the same items.

    Parameters
    ----------
    scores : array_like, shape (n,)
        The worker's scores.
    measures : mapping of str to array_like, shape (n,)
        What a program could compute from the texts, such as overlap with the gray text or length.

    Returns
    -------
    Likeness
        Pearson's r with each measure, in the order of `measures`; NaN with fewer than three items.
    """
    scores = as_numbers("scores", scores)
    columns = {name: as_numbers(name, values) for name, values in measures.items()}
    check_same_length(scores=scores, **columns)
    return Likeness(
        r={name: pearson(scores, column) for name, column in columns.items()},
        n_items=len(scores),
    )


@dataclass(frozen=True, slots=True)
class ModelLikeness:
    """Each worker's correlation with the scores of one model.

    `r` is NaN with fewer than `FEWEST_LIKENESS_ITEMS` items, or where scores never vary.
    """

    workers: Keys
    n_items: Ints
    r: Floats


def likeness_to_model(
    scores: ArrayLike, workers: ArrayLike, model_scores: ArrayLike
) -> ModelLikeness:
    """Correlate every worker's scores with those of a model, such as a metric or a QE system.

    Parameters
    ----------
    scores, workers : array_like, shape (n,)
        One row per rating of a genuine item.
    model_scores : array_like, shape (n,)
        The model's score of the same translation, higher being better; NaN where it has none.

    Returns
    -------
    ModelLikeness
        About every worker in `workers`. A high r alone proves nothing: a careful reader agrees with a
        good model. What counts is how far it lies beyond that of trusted workers.
    """
    scores, workers = as_numbers("scores", scores), as_keys("workers", workers)
    model_scores = as_numbers("model_scores", model_scores, missing=True)
    check_same_length(scores=scores, workers=workers, model_scores=model_scores)
    labels, codes = factorise(workers)
    known = np.isfinite(model_scores)
    x, y, codes = scores[known], model_scores[known], codes[known]
    x_groups, y_groups = moments(x, codes, len(labels)), moments(y, codes, len(labels))
    products = (x - x_groups.mean[codes]) * (y - y_groups.mean[codes])
    r = divide(sums(products, codes, len(labels)), np.sqrt(x_groups.ss * y_groups.ss))
    r[x_groups.n < FEWEST_LIKENESS_ITEMS] = np.nan
    return ModelLikeness(workers=labels, n_items=x_groups.n, r=np.clip(r, -1, 1))
