"""Two scores of the same translations, of golds or of metrics, and the translations on which they contradict each other.

Both are standardised, with higher better. They contradict each other on a translation that is better than average by one
and worse by the other. With a reference made from the source on one side and a generic reference on the other, these
are the translations that suffer from reference bias.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from da_platform.exceptions import PlatformError

from ..scores.score_tables import Key
from ..stats._groups import is_constant
from ..stats.correlation import correlate
from ..stats.williams import MIN_SEGMENTS
from .aligned_rows import Rows
from .results import Contradiction, Contrast, Estimate, EvaluationResult

Floats = NDArray[np.float64]
# Loads the rows of a gold, by name, with a metric among them.
Load = Callable[[str, str], Rows]

# Contradictions kept in a result, the greatest first.
MOST_CONTRADICTIONS = 50


class ContrastRefused(PlatformError):
    """Two scores cannot be held against each other."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One of two scores, of a gold or a metric."""

    name: str
    keys: Sequence[Key]
    scores: Floats
    higher_is_better: bool

    @classmethod
    def gold_of(cls, rows: Rows) -> "Scored":
        keys, higher = rows.alignment.keys, rows.alignment.gold_is_better_higher
        return cls(rows.table.name, keys, rows.gold, higher)

    @classmethod
    def metric_of(cls, rows: Rows, name: str) -> "Scored":
        place = rows.metrics.index(name)
        return cls(name, rows.alignment.keys, rows.scores[place], rows.flags[place])


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two scores of the translations that have both: as they are, and standardised with higher better."""

    names: tuple[str, str]
    directions: tuple[bool, bool]
    keys: tuple[Key, ...]
    scores: tuple[Floats, Floats]
    z: tuple[Floats, Floats]


def paired(first: Scored, second: Scored) -> Pairs | None:
    """Pair two scores; None if too few translations have both, or all have the same.

    Parameters
    ----------
    first, second : Scored

    Returns
    -------
    Pairs or None
        In the order of the first. Means and standard deviations are those of the shared translations.
    """
    places = {key: place for place, key in enumerate(second.keys)}
    shared = [place for place, key in enumerate(first.keys) if key in places]
    keys = tuple(first.keys[place] for place in shared)
    if len(keys) < MIN_SEGMENTS:
        return None
    scores = first.scores[shared], second.scores[[places[key] for key in keys]]
    if any(is_constant(values) for values in scores):
        return None
    directions = first.higher_is_better, second.higher_is_better
    z = tuple(
        (values - values.mean()) / values.std(ddof=1) * (1 if higher else -1)
        for values, higher in zip(scores, directions, strict=True)
    )
    return Pairs((first.name, second.name), directions, keys, scores, (z[0], z[1]))


def names_offered(result: EvaluationResult) -> list[str]:
    """Return the golds and then the metrics that have segment scores, each once."""
    golds = [gold for gold in result.golds if gold.segment]
    metrics = [row.metric for gold in golds for row in gold.segment]
    return list(dict.fromkeys([gold.gold.name for gold in golds] + metrics))


def chosen_pairs(result: EvaluationResult, first: str, second: str, load: Load) -> Pairs:
    """Pair two scores of an evaluation, each a gold's or a metric's."""
    offered = names_offered(result)
    for name in (first, second):
        if name not in offered:
            listed = ", ".join(offered)
            raise ContrastRefused(
                f"There are no segment scores of {name!r}. Choose from: {listed}."
            )
    if first == second:
        raise ContrastRefused("Choose two different scores.")
    pairs = paired(_scored(result, first, second, load), _scored(result, second, first, load))
    if pairs is None:
        raise ContrastRefused(
            f"{first} and {second} have too few translations in common, or only one score for all."
        )
    return pairs


def _scored(result: EvaluationResult, name: str, other: str, load: Load) -> Scored:
    """Return the scores of a gold or a metric; a metric's next to the other score if that is a gold."""
    golds = {gold.gold.name: gold for gold in result.golds if gold.segment}
    if name in golds:
        return Scored.gold_of(load(name, golds[name].segment[0].metric))
    # Workers' scores belong to one gold.
    having = [
        gold for gold, each in golds.items() if any(row.metric == name for row in each.segment)
    ]
    return Scored.metric_of(load(other if other in having else having[0], name), name)


def contrast(pairs: Pairs, most: int = MOST_CONTRADICTIONS) -> Contrast:
    """Count the translations in each quadrant, and list the greatest contradictions.

    Parameters
    ----------
    pairs : Pairs
    most : int

    Returns
    -------
    Contrast
    """
    first, second = pairs.z
    is_good_by_first, is_good_by_second = first > 0, second > 0
    contradicts = np.flatnonzero(is_good_by_first != is_good_by_second)
    # Equal differences stay in the order of the translations.
    order = contradicts[np.argsort(-np.abs(first - second)[contradicts], kind="stable")]
    return Contrast(
        first=pairs.names[0],
        second=pairs.names[1],
        n=len(pairs.keys),
        r=Estimate.of(correlate(first, second)),
        n_good_by_both=int((is_good_by_first & is_good_by_second).sum()),
        n_good_by_first=int((is_good_by_first & ~is_good_by_second).sum()),
        n_good_by_second=int((~is_good_by_first & is_good_by_second).sum()),
        n_good_by_neither=int((~is_good_by_first & ~is_good_by_second).sum()),
        contradictions=tuple(
            Contradiction(
                system=pairs.keys[place][0],
                segment=pairs.keys[place][1],
                first=float(pairs.scores[0][place]),
                second=float(pairs.scores[1][place]),
                first_z=float(first[place]),
                second_z=float(second[place]),
            )
            for place in order[:most].tolist()
        ),
    )
