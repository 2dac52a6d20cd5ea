"""Scripted workers who rate over HTTP like the rating page, on one connection and without pauses."""

import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlencode

from tests.rating_page import CSRF_TOKEN, items_on

RETRY_SECONDS = 0.02


@dataclass(frozen=True)
class Desk:
    """The rating page of a worker, and the cookies to open it."""

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
    """Rates one item after another and counts failed requests."""

    port: int
    rng: random.Random
    n_failures: int = 0
    seconds: list[float] = field(default_factory=list)
    connection: HTTPConnection | None = None

    def rate_hit(
        self, desk: Desk, *, is_over: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[int, Any]]:
        """Rate a HIT to its end or until `is_over`; yield each position and score that the server confirms."""
        if is_over():
            return
        items = items_on(self._retry(desk, "GET", lambda: "").decode())
        while items and not is_over():
            item = items.pop(min(items))
            answer = json.loads(self._retry(desk, "POST", partial(self._rating, item)))
            yield answer["saved"], self._stored(answer)
            items |= {item["position"]: item for item in answer["items"]}

    def _rating(self, item: dict[str, Any]) -> str:
        # Each attempt has a new score, so only the answer shows which one was stored.
        return urlencode(
            {
                "position": item["position"],
                "item": item["item"],
                "elapsed_ms": 40,
                "active_ms": 30,
                **self._answer(item),
            }
        )

    def _answer(self, item: dict[str, Any]) -> dict[str, Any]:
        return {"score": self.rng.randint(0, 100)}

    def _stored(self, answer: dict[str, Any]) -> Any:
        """What the server says is stored."""
        return answer["score"]

    def _retry(self, desk: Desk, method: str, make_body: Callable[[], str]) -> bytes:
        while True:
            try:
                response = self._request(desk, method, make_body())
                content = response.read()
            except (OSError, HTTPException):
                self._hang_up()
                continue
            if response.status == 200:
                return content
            # Like the page, try again only after server errors.
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


class EditingRater(Rater):
    """Edits one text after another, in other words with each attempt."""

    def _answer(self, item: dict[str, Any]) -> dict[str, Any]:
        counts = {"field_ms": 20, "keys": 9, "pastes": 0, "pasted": 0}
        return {"text": f"{item['text']} {self.rng.random()}", **counts}

    def _stored(self, answer: dict[str, Any]) -> Any:
        return answer["text"]


def as_text(ranks: dict[str, int]) -> str:
    """Return the ranks of a screen as a text that can be compared."""
    return json.dumps(ranks, sort_keys=True)


class RankingRater(Rater):
    """Ranks one screen after another, otherwise with each attempt."""

    def _answer(self, item: dict[str, Any]) -> dict[str, Any]:
        ranks = {output["code"]: self.rng.randint(1, 5) for output in item["outputs"]}
        return {f"rank-{code}": rank for code, rank in ranks.items()}

    def _stored(self, answer: dict[str, Any]) -> Any:
        return as_text(answer["ranks"])
