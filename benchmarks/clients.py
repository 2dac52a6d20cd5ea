"""Scripted workers who never pause, all in one thread, so that they take little processor time from the servers.

Each worker keeps one connection open and sends the next request when the last one is answered. Ratings are
bytes prepared in advance, and only the necessary parts of a response are read.
"""

import selectors
import socket
import statistics
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.concurrency.raters import Desk as RaterDesk

# The kinds of requests: a rating, or a row stored and another looked up by a bare view.
RATE, BARE_ORM, BARE_CURSOR = "rate", "bare ORM", "bare cursor"
BARE_VIEWS = {BARE_ORM: "/bare/orm/", BARE_CURSOR: "/bare/cursor/"}

# A HIT that a worker has taken: its URL, the worker's cookies, the codes of its items.
Desk = Mapping[str, Any]

# How often connections are opened until every process of the server has its share.
MAX_ROUNDS = 50
PATIENCE_SECONDS = 60
END_OF_HEAD = b"\r\n\r\n"
LENGTH = b"content-length:"


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and what the response must contain."""

    sent: bytes
    expected: bytes


@dataclass
class Timings:
    """What was measured in all turns of one kind."""

    seconds: list[float] = field(default_factory=list)
    # The rate of each turn, for a median that one disturbed turn does not move.
    rates: list[float] = field(default_factory=list)
    # Processor seconds of the clients, the server and the database.
    processor: dict[str, float] = field(default_factory=dict)

    @property
    def per_second(self) -> float:
        return statistics.median(self.rates)

    def quantile_ms(self, percent: int) -> float:
        return 1000 * statistics.quantiles(self.seconds, n=100)[percent - 1]

    @property
    def note(self) -> str:
        processor = ", ".join(
            f"{who} {1000 * seconds / len(self.seconds):.2f}"
            for who, seconds in self.processor.items()
        )
        return (
            f"{self.per_second:.0f} /s, p50 {self.quantile_ms(50):.1f} ms, p95 {self.quantile_ms(95):.1f} ms, "
            f"n {len(self.seconds):,}; processor ms per request: {processor}"
        )


class Worker:
    """The requests of each kind that a worker has left to send, and a connection to send them through."""

    connection: socket.socket

    def __init__(self, desks: Sequence[Desk]) -> None:
        self.ratings = deque[Request]()
        self.take_desks(desks)
        # Bare views accept the same bodies again and again.
        self.bare_requests = {
            kind: cycle([*bare_requests(url, desks[0])]) for kind, url in BARE_VIEWS.items()
        }

    def take_desks(self, desks: Iterable[Desk]) -> None:
        for desk in desks:
            self.ratings.extend(ratings_of(desk))

    def send(self, kind: str) -> bool:
        """Send the next request; return False if there is none left."""
        if kind != RATE:
            request = next(self.bare_requests[kind])
        elif self.ratings:
            request = self.ratings.popleft()
        else:
            return False
        self.expected = request.expected
        self.received = b""
        self.sent_at = time.perf_counter()
        self.connection.sendall(request.sent)
        return True

    def receive(self) -> bool:
        """Read what has arrived; return whether the response is complete."""
        arrived = self.connection.recv(65536)
        self.received += arrived
        head, separator, body = self.received.partition(END_OF_HEAD)
        if separator and len(body) == length_of(head):
            if not head.startswith(b"HTTP/1.1 200") or self.expected not in body:
                raise RuntimeError(f"Expected {self.expected!r}, not {self.received[:800]!r}")
            return True
        if not arrived:
            raise RuntimeError(f"The server closed the connection after {self.received[:200]!r}")
        return False


def length_of(head: bytes) -> int:
    _, name, value = head.lower().partition(LENGTH)
    if not name:
        raise RuntimeError(f"A response of unknown length: {head!r}")
    return int(value.partition(b"\r\n")[0])


def take_turn(workers: Sequence[Worker], kind: str, seconds: float, timings: Timings) -> None:
    """Let all workers send requests of one kind for a while, and wait for the last responses.

    The turn ends early for all workers when one has no request left, so that the measured load never has
    fewer workers than intended.
    """
    with selectors.DefaultSelector() as arrivals:
        for worker in workers:
            arrivals.register(worker.connection, selectors.EVENT_READ, worker)
        start = time.perf_counter()
        end = start + seconds
        n_waiting, n_before = sum(worker.send(kind) for worker in workers), len(timings.seconds)
        while n_waiting:
            ready = arrivals.select(PATIENCE_SECONDS)
            if not ready:
                raise RuntimeError(f"No response within {PATIENCE_SECONDS} seconds.")
            for key, _ in ready:
                worker = key.data
                if worker.receive():
                    now = time.perf_counter()
                    timings.seconds.append(now - worker.sent_at)
                    if now >= end or not worker.send(kind):
                        end = now
                        n_waiting -= 1
    timings.rates.append((len(timings.seconds) - n_before) / (now - start))


# Requests ------------------------------------------------------------------------------------


def ratings_of(desk: Desk) -> Iterator[Request]:
    """Rate the items of a HIT in their order."""
    for position, body in enumerate(_bodies(desk), start=1):
        yield Request(post(desk["url"], desk["cookies"], body), b'"saved": %d,' % position)


def bare_requests(url: str, desk: Desk) -> Iterator[Request]:
    """Send the same bodies and cookies to another view."""
    for body in _bodies(desk):
        yield Request(post(url, desk["cookies"], body), b'"saved": 1,')


def _bodies(desk: Desk) -> Iterator[str]:
    for answer in answers_at(desk):
        yield urlencode(answer)


def answers_at(desk: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What the page sends for each item of a HIT: ratings, or edits with what was counted meanwhile."""
    for position, item in enumerate(desk["items"], start=1):
        answer = {"position": position, "item": item, "elapsed_ms": 40, "active_ms": 30}
        if "texts" in desk:
            edit = {"text": f"{desk['texts'][position - 1]} indeed", "field_ms": 20}
            yield answer | edit | {"keys": 7, "pastes": 0, "pasted": 0}
        else:
            yield answer | {"score": position}


def post(url: str, cookies: str, body: str) -> bytes:
    headers = {"Host": "127.0.0.1", "Content-Length": len(body)} | RaterDesk(url, cookies).headers
    lines = [f"POST {url} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", body]).encode()


# Connections ---------------------------------------------------------------------------------


def connect_evenly(port: int, pids: Sequence[int], n: int) -> list[socket.socket]:
    """Open `n` connections, the same number to each process of the server.

    The kernel distributes them at random, and an uneven share would look like a difference between
    identical servers.
    """
    by_pid: dict[int, list[socket.socket]] = {pid: [] for pid in pids}
    n_wanted = {pid: n // len(pids) + (i < n % len(pids)) for i, pid in enumerate(pids)}
    for _ in range(MAX_ROUNDS):
        for pid, opened in _open(port, pids, n).items():
            by_pid[pid] += opened
        if all(len(by_pid[pid]) >= n_wanted[pid] for pid in pids):
            break
    else:
        raise RuntimeError("The connections could not be spread evenly.")
    for pid, connections in by_pid.items():
        for connection in connections[n_wanted[pid] :]:
            connection.close()
    return [connection for pid in pids for connection in by_pid[pid][: n_wanted[pid]]]


def _open(port: int, pids: Sequence[int], n: int) -> dict[int, list[socket.socket]]:
    """Open connections and find out which process has accepted each."""
    opened = {}
    for _ in range(n):
        connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened[connection.getsockname()[1]] = connection
    by_pid: dict[int, list[socket.socket]] = {pid: [] for pid in pids}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while opened and time.monotonic() < deadline:
        ports = _ports_by_inode(port)
        for pid in pids:
            for inode in _sockets_of(pid) & ports.keys():
                if ports[inode] in opened:
                    by_pid[pid].append(opened.pop(ports[inode]))
        time.sleep(0.005)
    if opened:
        raise RuntimeError("No process accepted a connection.")
    return by_pid


def _ports_by_inode(port: int) -> dict[str, int]:
    """The server's ends of all connections to this port, with the clients' ports."""
    ports = {}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, server, client, *fields = line.split()
        if server.endswith(f":{port:04X}"):
            ports[fields[6]] = int(client.rpartition(":")[2], 16)
    return ports


def _sockets_of(pid: int) -> set[str]:
    inodes = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        # Other files may be closed at any moment.
        with suppress(FileNotFoundError):
            inodes.add(str(path.readlink()).removeprefix("socket:[").removesuffix("]"))
    return inodes
