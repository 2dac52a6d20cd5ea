"""Ratings of screens as arrays: those of a worker, and what they say about which output is better."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.judgements import Rankings, rankings
from analysis.stats.roles import SCORED_ROLES

from ..models import Assignment, Campaign, Rating, SystemOutput
from ..rating.places import with_standing


def spread_over_screens(ratings: NDArray[Any]) -> NDArray[Any]:
    """Return the ratings, ordered by assignment and position, with times as if rated one after another.

    All outputs of a screen reach the server together. Each gets its share of the time since the screen before, so that
    gaps between ratings say how long a text took; those of the first screen keep theirs.
    """
    spread = ratings.copy()
    for assignment in np.unique(ratings["assignment"]):
        rows = np.flatnonzero(ratings["assignment"] == assignment)
        moments, place, sizes = np.unique(
            ratings["received"][rows], return_inverse=True, return_counts=True
        )
        gaps = np.diff(moments, prepend=moments[:1])
        # How many outputs of the same screen are still to come.
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        left = sizes[place] - 1 - (np.arange(len(rows)) - first[place])
        spread["received"][rows] -= left * (gaps / sizes)[place]
    return spread


def load_rankings(campaign: Campaign, *, trusted_only: bool = True) -> Rankings:
    """Return the counted screens as rankings: a row for each system behind an output, ranked by the worker's scores.

    Equal scores are a tie. What a worker's z-score is does not matter within a screen. Segments, judges and systems
    are primary keys. Degraded outputs are left out, and screens with a single output say nothing.
    """
    assignments = Assignment.objects.counted().filter(hit__campaign=campaign)
    if trusted_only:
        trusted = with_standing(assignments).filter(is_trusted=True)
        assignments = Assignment.objects.filter(pk__in=trusted.values("pk"))
    ratings = Rating.objects.filter(
        assignment__in=assignments, item__role__in=SCORED_ROLES, place__isnull=False
    ).order_by("assignment", "item__screen", "place")
    columns = ("assignment", "item__screen", "item__translation__segment", "assignment__worker")
    rows = np.array(
        list(ratings.values_list(*columns, "item__translation", "place", "score").iterator()),
        dtype=np.int64,
    ).reshape(-1, 7)
    screens = np.unique(rows[:, :2], axis=0, return_inverse=True)[1].ravel()
    ranks = _ranks_within(screens, rows[:, 6])
    outputs = SystemOutput.objects.filter(segment__campaign=campaign).order_by("system")
    produced = np.array(list(outputs.values_list("translation", "system")), dtype=np.int64)
    produced = produced.reshape(-1, 2)
    produced = produced[np.argsort(produced[:, 0], kind="stable")]
    # Of each row, the systems that share its output.
    first = np.searchsorted(produced[:, 0], rows[:, 4], side="left")
    n_systems = np.searchsorted(produced[:, 0], rows[:, 4], side="right") - first
    row = np.repeat(np.arange(len(rows)), n_systems)
    number = np.arange(len(row)) - np.repeat(np.cumsum(n_systems) - n_systems, n_systems)
    systems = produced[first[row] + number, 1]
    return rankings(screens[row], rows[row, 2], rows[row, 3], systems, rows[row, 5], ranks[row])


def _ranks_within(screens: NDArray[Any], scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank of each score on its screen: 1 is best, and equal scores share a rank."""
    pairs, place = np.unique(np.stack([screens, -scores], axis=1), axis=0, return_inverse=True)
    starts = np.searchsorted(pairs[:, 0], pairs[:, 0], side="left")
    ranks: NDArray[np.int64] = (np.arange(len(pairs)) - starts + 1)[place.ravel()]
    return ranks
