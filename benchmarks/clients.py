"""Scripted workers who never pause, all in one thread: what they cost is not taken from the servers.

Each worker has one connection, kept open, and sends the next request when the last one is answered.
Requests are bytes made beforehand, and of an answer only what must be seen is looked at.
"""

import selectors
import socket
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.concurrency.raters import Desk

# How often as many connections as needed are opened, until every process has its share.
MAX_DEALS = 50
PATIENCE_SECONDS = 60
END_OF_HEAD = b"\r\n\r\n"
LENGTH = b"content-length:"


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and what the answer must contain."""

    sent: bytes
    expected: bytes


@dataclass
class Timings:
    """What was measured in all turns of one kind."""

    seconds: list[float] = field(default_factory=list)
    seconds_measured: float = 0.0
    # The rate of each turn, for a median that one disturbed turn does not move.
    rates: list[float] = field(default_factory=list)
    # Processor seconds, by whose they are.
    used: dict[str, float] = field(default_factory=dict)

    @property
    def per_second(self) -> float:
        return statistics.median(self.rates)

    def quantile_ms(self, percent: int) -> float:
        return 1000 * statistics.quantiles(self.seconds, n=100)[percent - 1]

    def used_ms(self, who: str) -> float:
        """Processor time for one request."""
        return 1000 * self.used.get(who, 0.0) / len(self.seconds)


class Worker:
    """The requests of each kind that one worker has left to send, and a connection to send them by."""

    connection: socket.socket

    def __init__(self, requests: Mapping[str, Iterator[Request]]) -> None:
        self.requests = requests

    def send(self, kind: str) -> None:
        request = next(self.requests[kind], None)
        if request is None:
            raise RuntimeError(f"Nothing is left to send for {kind}: prepare more desks.")
        self.expected = request.expected
        self.received = b""
        self.sent_at = time.perf_counter()
        self.connection.sendall(request.sent)

    def receive(self) -> bool:
        """Take what has arrived; whether the answer is complete now."""
        arrived = self.connection.recv(65536)
        self.received += arrived
        head, found, body = self.received.partition(END_OF_HEAD)
        if found and len(body) == length_of(head):
            if not head.startswith(b"HTTP/1.1 200") or self.expected not in body:
                raise RuntimeError(f"Expected {self.expected!r}, not {self.received[:800]!r}")
            return True
        if not arrived:
            raise RuntimeError(f"The server hung up after {self.received[:200]!r}")
        return False


def length_of(head: bytes) -> int:
    _, found, rest = head.lower().partition(LENGTH)
    if not found:
        raise RuntimeError(f"An answer of unknown length: {head!r}")
    return int(rest.partition(b"\r\n")[0])


def take_turn(workers: Sequence[Worker], kind: str, seconds: float, timings: Timings) -> None:
    """Let all workers send requests of one kind for so long, and wait for the last answers."""
    with selectors.DefaultSelector() as arrivals:
        for worker in workers:
            arrivals.register(worker.connection, selectors.EVENT_READ, worker)
        start = time.perf_counter()
        for worker in workers:
            worker.send(kind)
        n_waiting, n_before = len(workers), len(timings.seconds)
        while n_waiting:
            ready = arrivals.select(PATIENCE_SECONDS)
            if not ready:
                raise RuntimeError(f"No answer within {PATIENCE_SECONDS} seconds.")
            for key, _ in ready:
                worker = key.data
                if worker.receive():
                    now = time.perf_counter()
                    timings.seconds.append(now - worker.sent_at)
                    if now < start + seconds:
                        worker.send(kind)
                    else:
                        n_waiting -= 1
    timings.seconds_measured += now - start
    timings.rates.append((len(timings.seconds) - n_before) / (now - start))


# What they send ------------------------------------------------------------------------------


def ratings_of(desks: Iterable[Mapping[str, Any]]) -> Iterator[Request]:
    """Rate the items of these HITs in their order."""
    for desk in desks:
        for position, body in enumerate(_bodies(desk), start=1):
            expected = b'"saved": %d,' % position
            yield Request(post(desk["url"], desk["cookies"], body), expected)


def same_bodies(url: str, desks: Iterable[Mapping[str, Any]]) -> Iterator[Request]:
    """Send the very same bodies and cookies to another view."""
    for desk in desks:
        for body in _bodies(desk):
            yield Request(post(url, desk["cookies"], body), b'"saved": 1,')


def _bodies(desk: Mapping[str, Any]) -> Iterator[str]:
    for position, item in enumerate(desk["items"], start=1):
        rating = {"position": position, "item": item, "score": position}
        yield urlencode(rating | {"elapsed_ms": 40, "active_ms": 30})


def post(url: str, cookies: str, body: str) -> bytes:
    headers = {"Host": "127.0.0.1", "Content-Length": len(body)} | Desk(url, cookies).headers
    lines = [f"POST {url} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", body]).encode()


# Who answers ---------------------------------------------------------------------------------


def connect_evenly(port: int, pids: Sequence[int], n: int) -> list[socket.socket]:
    """Open so many connections, the same number to each process of the server.

    The kernel deals them out at random; an uneven hand would be measured as a difference between
    servers that are alike.
    """
    hands: dict[int, list[socket.socket]] = {pid: [] for pid in pids}
    wanted = {pid: n // len(pids) + (i < n % len(pids)) for i, pid in enumerate(pids)}
    for _ in range(MAX_DEALS):
        for pid, dealt in _deal(port, pids, n).items():
            hands[pid] += dealt
        if all(len(hands[pid]) >= wanted[pid] for pid in pids):
            break
    else:
        raise RuntimeError("The connections could not be spread evenly.")
    for pid, hand in hands.items():
        for connection in hand[wanted[pid] :]:
            connection.close()
    return [connection for pid, hand in hands.items() for connection in hand[: wanted[pid]]]


def _deal(port: int, pids: Sequence[int], n: int) -> dict[int, list[socket.socket]]:
    """Open connections and find out which process has taken each."""
    opened = {}
    for _ in range(n):
        connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened[connection.getsockname()[1]] = connection
    hands: dict[int, list[socket.socket]] = {pid: [] for pid in pids}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while opened and time.monotonic() < deadline:
        ports = _ports_by_inode(port)
        for pid in pids:
            for inode in _sockets_of(pid) & ports.keys():
                if ports[inode] in opened:
                    hands[pid].append(opened.pop(ports[inode]))
        time.sleep(0.005)
    if opened:
        raise RuntimeError("Nobody accepted a connection.")
    return hands


def _ports_by_inode(port: int) -> dict[str, int]:
    """The server's ends of all connections to this port, with the clients' ports."""
    found = {}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, own, other, *fields = line.split()
        if own.endswith(f":{port:04X}"):
            found[fields[6]] = int(other.rpartition(":")[2], 16)
    return found


def _sockets_of(pid: int) -> set[str]:
    inodes = set()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        # Others close theirs meanwhile.
        with suppress(FileNotFoundError):
            inodes.add(str(path.readlink()).removeprefix("socket:[").removesuffix("]"))
    return inodes
