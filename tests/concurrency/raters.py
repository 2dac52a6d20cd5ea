"""Scripted workers who rate over HTTP as the page's script does: one connection kept open, no pauses."""

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlencode

from tests.rating_page import CSRF_TOKEN, items_on

RETRY_SECONDS = 0.02


@dataclass(frozen=True)
class Desk:
    """Where a worker rates, and the cookies that open it."""

    url: str
    cookies: str

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": self.cookies,
            "X-CSRFToken": CSRF_TOKEN,
        }


@dataclass
class Rater:
    """Rates one item after another and remembers what the server said about each."""

    port: int
    rng: random.Random
    n_failures: int = 0
    seconds: list[float] = field(default_factory=list)
    connection: HTTPConnection | None = None

    def rate_hit(
        self, desk: Desk, *, is_over: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, int]]:
        """Rate the items of a HIT until it is done or over; yield position and score as told."""
        if is_over():
            return
        items = items_on(self._until_it_answers(desk, "GET", "").decode())
        while items and not is_over():
            item = items.pop(min(items))
            answer = self._send_until_it_is_stored(desk, item)
            yield answer["saved"], answer["score"]
            items |= {item["position"]: item for item in answer["items"]}

    def _send_until_it_is_stored(self, desk: Desk, item: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(
            self._until_it_answers(desk, "POST", lambda: self._rating(item))
        )
        return answer

    def _rating(self, item: dict[str, Any]) -> str:
        # A new score at every try: only what the server says tells which one was stored.
        return urlencode(
            {
                "position": item["position"],
                "item": item["item"],
                "score": self.rng.randint(0, 100),
                "elapsed_ms": 40,
                "active_ms": 30,
            }
        )

    def _until_it_answers(self, desk: Desk, method: str, body: str | Callable[[], str]) -> bytes:
        while True:
            sent = body() if callable(body) else body
            try:
                response = self._request(desk, method, sent)
                content = response.read()
            except (OSError, HTTPException):
                self._hang_up()
                continue
            if response.status == 200:
                return content
            # The page's script, too, asks again only when the server is at fault.
            if response.status < 500:
                raise RuntimeError(f"{response.status}: {content[:500]!r}")
            self._hang_up()

    def _request(self, desk: Desk, method: str, body: str) -> HTTPResponse:
        if self.connection is None:
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        started = time.perf_counter()
        self.connection.request(method, desk.url, body or None, desk.headers)
        response = self.connection.getresponse()
        if method == "POST":
            self.seconds.append(time.perf_counter() - started)
        return response

    def _hang_up(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None
        self.n_failures += 1
        time.sleep(RETRY_SECONDS)
