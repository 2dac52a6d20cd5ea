"""Counters of web processes for Prometheus. Numbers that are in the database are read from there instead.

Gunicorn's processes share a folder (see `gunicorn.conf.py`) in which each keeps its own counts, so any of them
can add them up. Counting costs a write to memory, no query and no lock.
"""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter, Histogram

# new: stored. repeated: the same item again, from a retry or a second tab. refused: out of order or
# out of range.
RATINGS = Counter("da_ratings", "Ratings that browsers sent, by outcome", ["outcome"])
# conflict: another worker took the last place of a HIT just before.
CLAIMS = Counter("da_claims", "Attempts to take a place on a HIT", ["outcome"])
MESSAGES_LOST = Counter("da_messages_lost", "Messages that no broker accepted; they are resent")
RESPONSES = Counter("da_responses", "Responses by class of status", ["status"])
SECONDS = Histogram(
    "da_response_seconds",
    "Time from request to response",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
_BY_CLASS = {number: RESPONSES.labels(f"{number}xx") for number in range(1, 6)}


def count_responses(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """The outermost middleware, so that it sees what the browser gets."""

    def middleware(request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = get_response(request)
        SECONDS.observe(time.perf_counter() - started)
        _BY_CLASS[response.status_code // 100].inc()
        return response

    return middleware
