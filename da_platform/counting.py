"""What web processes count for Prometheus. The numbers that the database knows are asked of it instead.

Gunicorn's processes share a folder (`gunicorn.conf.py` names it) in which each keeps its own counts, so
whichever of them is asked can add up all. Counting costs a write to memory, no query and no lock.
"""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter, Histogram

# new: stored. repeated: the same item again, by a retry or a second tab. refused: out of turn or
# out of bounds.
RATINGS = Counter("da_ratings", "Ratings that browsers sent, by what became of them", ["outcome"])
# conflict: another worker took the last place of a HIT between the look and the claim.
CLAIMS = Counter("da_claims", "Attempts to take a place on a HIT", ["outcome"])
MESSAGES_LOST = Counter("da_messages_lost", "Messages that no broker took; the schedule resends")
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
    """A middleware, the outermost one: it sees what the browser gets."""

    def middleware(request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = get_response(request)
        SECONDS.observe(time.perf_counter() - started)
        _BY_CLASS[response.status_code // 100].inc()
        return response

    return middleware
