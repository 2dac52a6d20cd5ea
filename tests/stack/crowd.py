"""Workers who go from consent to completion code over HTTP, whatever happens to servers and networks.

    python -m tests.stack.crowd orders.json answers.json

Each is a thread that retries after server and network errors, at another server if there is one, and notes
what the server acknowledged. Requests look as if they came from a proxy that terminates TLS.
"""

import json
import random
import re
import sys
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.rating_page import CSRF_TOKEN, items_on

# As on the rating page, each pause is twice as long as the last, but shorter here.
FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 0.1, 1.6
GIVE_UP_SECONDS = 900
# Between two requests of workers who linger, so that they do not keep the servers busy.
LINGER_SECONDS = 2.0


@dataclass
class Answer:
    status: int
    body: str
    location: str


@dataclass
class Note:
    """What the server acknowledged for an assignment: scores by position, and the completion code."""

    assignment: str
    scores: dict[int, int] = field(default_factory=dict)
    completion_code: str = ""


class Visitor:
    """A browser with cookies, a persistent connection and many retries."""

    def __init__(self, orders: dict[str, Any], number: int, rng: random.Random) -> None:
        self.ports, self.rng = orders["ports"], rng
        self.port = rng.choice(self.ports)
        self.proxy_headers = {
            "Host": orders["host"],
            "Origin": f"https://{orders['host']}",
            "X-Forwarded-Proto": "https",
            "X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}",
        }
        self.cookies = {"__Host-csrftoken": CSRF_TOKEN}
        self.connection: HTTPConnection | None = None
        self.n_failures = 0

    def ask(self, method: str, path: str, fields: Any = None, *, json: bool = False) -> Answer:
        """Retry until the answer is not a server error; `fields` may be a function, called for each try."""
        deadline = time.monotonic() + GIVE_UP_SECONDS
        pause = FIRST_RETRY_SECONDS
        while time.monotonic() < deadline:
            body = urlencode(fields() if callable(fields) else fields or {}) if fields else ""
            try:
                answer = self._try(method, path, body, json=json)
            except (OSError, HTTPException):
                answer = None
            if answer and answer.status < 500:
                return answer
            self._reconnect()
            time.sleep(pause * self.rng.uniform(0.5, 1.5))
            pause = min(2 * pause, LONGEST_RETRY_SECONDS)
        raise RuntimeError("no server answered in time")

    def _try(self, method: str, path: str, body: str, *, json: bool) -> Answer:
        if self.connection is None:
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = self.proxy_headers | {
            "Accept": "application/json" if json else "text/html",
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
            "X-CSRFToken": CSRF_TOKEN,
        }
        self.connection.request(method, path, body or None, headers)
        response = self.connection.getresponse()
        content = response.read().decode()
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return Answer(response.status, content, response.headers.get("Location", ""))

    def _reconnect(self) -> None:
        if self.connection:
            self.connection.close()
        self.connection = None
        self.n_failures += 1
        self.port = self.rng.choice(self.ports)


class CrowdWorker:
    """One worker's way through a campaign."""

    def __init__(self, orders: dict[str, Any], number: int) -> None:
        self.orders = orders
        self.rng = random.Random(f"{orders['seed']}-{number}")
        self.is_careless = number % orders["careless_every"] == orders["careless_every"] - 1
        self.lingers = number % orders["lingering_every"] == 0
        self.visitor = Visitor(orders, number, self.rng)
        self.notes: list[Note] = []

    def work(self) -> None:
        campaign = f"/work/{self.orders['campaign']}"
        self.visitor.ask("POST", f"{campaign}/", {"agree": 1})
        self.visitor.ask("POST", f"{campaign}/check/", {"answer": self.orders["right_answer"]})
        for n_more in reversed(range(self.orders["hits_per_worker"])):
            answer = self.visitor.ask("GET", f"{campaign}/next/")
            if not answer.location.startswith("/hit/"):
                return
            self.notes.append(Note(answer.location))
            self._do_hit(self.notes[-1], lingers=self.lingers and not n_more)

    def _do_hit(self, note: Note, *, lingers: bool) -> None:
        path = note.assignment
        items = items_on(self.visitor.ask("GET", path).body)
        while items:
            item = items.pop(min(items))
            if lingers and not items:
                self._linger(path)
            time.sleep(self.rng.uniform(0, 2 * self.orders["think_seconds"]))
            answer = self.visitor.ask("POST", path, lambda item=item: self._rating(item), json=True)
            if answer.status != 200:
                raise RuntimeError(f"{answer.status}: {answer.body[:300]}")
            stored = json.loads(answer.body)
            note.scores[stored["saved"]] = stored["score"]
            items |= {item["position"]: item for item in stored["items"]}
        self.visitor.ask("POST", f"{path}finish/", {"comment": ""})
        done = self.visitor.ask("GET", f"{path}done/").body
        match = re.search(r"<output[^>]*>\s*([0-9A-Z]+)\s*</output>", done)
        note.completion_code = match[1] if match else ""

    def _linger(self, path: str) -> None:
        """Reload the last item until all disasters are over, so that each of them affects someone."""
        while not Path(self.orders["all_clear"]).exists():
            self.visitor.ask("GET", path)
            time.sleep(self.rng.uniform(0, 2 * LINGER_SECONDS))

    def _rating(self, item: dict[str, Any]) -> dict[str, Any]:
        """Each try has a new score, so only the answer shows which one is stored."""
        quality = self.orders["qualities"][item["item"]]
        score = self.rng.uniform(0, 100) if self.is_careless else self.rng.gauss(quality, 8)
        return {
            "position": item["position"],
            "item": item["item"],
            "score": min(100, max(0, round(score))),
            "elapsed_ms": 40,
            "active_ms": 30,
        }


def main(orders_path: str, answers_path: str) -> None:
    orders = json.loads(Path(orders_path).read_text())
    workers = [CrowdWorker(orders, number) for number in orders["numbers"]]
    errors: list[str] = []

    def run(worker: CrowdWorker) -> None:
        try:
            worker.work()
        except Exception as error:
            errors.append(repr(error))

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    notes = [vars(note) for worker in workers for note in worker.notes]
    n_failures = sum(worker.visitor.n_failures for worker in workers)
    answers = {"notes": notes, "n_failures": n_failures, "errors": errors}
    Path(answers_path).write_text(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
