"""From one worker's rows to the pictures of `analysis.plots.workers`."""

import numpy as np

from analysis.plots.rendering import Picture
from analysis.plots.workers import WorkerRatings, worker_pictures
from analysis.stats.quality_control import NO_PARTNER

from ..models import Assignment, Participation, Rating


def pictures_of(participation: Participation) -> list[Picture]:
    """Make the pictures that there is something to show in."""
    return worker_pictures(load_worker_ratings(participation))


def load_worker_ratings(participation: Participation) -> WorkerRatings:
    """Load all submitted ratings of the worker in this campaign, in the order they were given."""
    assignments = list(
        Assignment.objects.submitted()
        .of(participation)
        .order_by("submitted_at", "pk")
        .values_list("pk", "started_at", "submitted_at")
    )
    places = {pk: place for place, (pk, _, _) in enumerate(assignments)}
    rows = list(
        Rating.objects.filter(assignment__in=list(places)).values_list(
            "assignment_id",
            "item_id",
            "item__partner_id",
            "item__role",
            "score",
            "received_at",
            "item__position",
        )
    )
    rows.sort(key=lambda row: (places[row[0]], row[6]))
    received = np.array([row[5].timestamp() for row in rows], dtype=np.float64)
    number = np.array([places[row[0]] + 1 for row in rows], dtype=np.int64)
    started = np.array([start.timestamp() for _, start, _ in assignments], dtype=np.float64)
    ended = np.array([end.timestamp() for _, _, end in assignments if end], dtype=np.float64)
    return WorkerRatings(
        assignment=np.array([row[0] for row in rows], dtype=np.int64),
        item=np.array([row[1] for row in rows], dtype=np.int64),
        partner=np.array(
            [NO_PARTNER if row[2] is None else row[2] for row in rows], dtype=np.int64
        ),
        role=np.array([row[3] for row in rows], dtype=np.int64),
        score=np.array([row[4] for row in rows], dtype=np.float64),
        seconds=_seconds(received, number, started),
        submitted=ended[number - 1] if len(rows) else ended[:0],
        hit_number=number,
    )


def _seconds(received: np.ndarray, number: np.ndarray, started: np.ndarray) -> np.ndarray:
    """Time since the rating before in the same HIT, or since its start; NaN if clocks went back."""
    if not len(received):
        return received
    before = np.concatenate([[np.nan], received[:-1]])
    is_first = np.concatenate([[True], np.diff(number) > 0])
    before[is_first] = started[number[is_first] - 1]
    seconds = received - before
    seconds[seconds < 0] = np.nan
    return seconds
