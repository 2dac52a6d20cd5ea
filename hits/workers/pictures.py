"""From one worker's rows to the plots of `hits.workers.plots`."""

import numpy as np

from da_platform.plots.rendering import Picture

from ..models import Participation
from ..rating.arrays import load_worker_assignments, load_worker_ratings
from .plots import WorkerRatings, worker_pictures


def pictures_of(participation: Participation) -> list[Picture]:
    """Draw the plots that have something to show."""
    # In this order, as in `hits.workers.trust.weigh`.
    ratings = load_worker_ratings(participation)
    assignments = load_worker_assignments(participation)
    # A HIT may have been put on hold in between.
    ratings = ratings[np.isin(ratings["assignment"], assignments["pk"])]
    # HITs are numbered from 1, in order of submission.
    hit_numbers = {pk: number for number, pk in enumerate(assignments["pk"], start=1)}
    number = np.array([hit_numbers[pk] for pk in ratings["assignment"]], dtype=np.int64)
    order = np.argsort(number, kind="stable")
    ratings, number = ratings[order], number[order]
    return worker_pictures(
        WorkerRatings(
            assignment=ratings["assignment"],
            item=ratings["item"],
            partner=ratings["partner"],
            role=ratings["role"],
            score=ratings["score"].astype(np.float64),
            seconds=_seconds(ratings["received"], number, assignments["started"]),
            submitted=assignments["submitted"][number - 1],
            hit_number=number,
        )
    )


def _seconds(received: np.ndarray, number: np.ndarray, started: np.ndarray) -> np.ndarray:
    """Time since the previous rating in the same HIT, or since its start. NaN if the clock went back."""
    if not len(received):
        return received
    before = np.concatenate([[np.nan], received[:-1]])
    is_first = np.concatenate([[True], np.diff(number) > 0])
    before[is_first] = started[number[is_first] - 1]
    seconds = received - before
    seconds[seconds < 0] = np.nan
    return seconds
