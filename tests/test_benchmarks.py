"""Benchmarks run at tiny sizes, and print their rows in one table."""

import socket
from threading import Thread

import pytest

from benchmarks.clients import RATE, Timings, Worker, take_turn
from benchmarks.measuring import affordable
from benchmarks.table import Row
from tests.subprocesses import output_of, run_python


def test_all_benchmarks_share_one_table():
    names = ("builtin_metrics", "import_and_build")
    output = output_of(run_python("-m", "benchmarks", *names, "--quick"))
    header, *lines = output.partition("All benchmarks\n")[2].splitlines()
    assert header.split() == ["work", "ours", "baseline", "ratio", "bar", "verdict"]
    assert lines[0].startswith("BLEU, 50 segments")
    assert lines[-1].startswith("build 15 HITs of 1,500 items, peak memory")


def test_a_turn_ends_early_when_a_worker_has_rated_everything():
    worker = Worker([{"url": "/rate/", "cookies": "", "items": ["a", "b"]}])
    worker.connection, server = socket.socketpair()
    with worker.connection, server:
        Thread(target=answer_ratings, args=[server]).start()
        timings = Timings()
        take_turn([worker], RATE, 600, timings)
    assert len(timings.seconds) == 2


def answer_ratings(server: socket.socket) -> None:
    for position in (1, 2):
        server.recv(65536)
        body = b'{"saved": %d, "items": []}' % position
        server.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def test_a_slow_machine_gets_less_work():
    assert affordable(1_000, measured=10, took=0.1, seconds=60) == 1_000
    assert affordable(1_000, measured=10, took=3.0, seconds=60) == 200


@pytest.mark.parametrize(
    ("row", "is_missed"),
    [
        (Row("no bar", 5, "s"), False),
        (Row("fast enough", 5, "s", maximum=5), False),
        (Row("too slow", 5, "s", maximum=4), True),
        (Row("too few", 5, "/s", minimum=6), True),
        (Row("ratio 2.5", 5, "s", 2, max_ratio=2), True),
        (Row("ratio 0.5, one of two bars", 5, "/s", 10, minimum=1, min_ratio=0.7), True),
    ],
    ids=lambda value: value.work if isinstance(value, Row) else "",
)
def test_a_bar_applies_to_the_value_or_the_ratio(row, is_missed):
    assert row.is_missed is is_missed


def test_the_cost_of_a_trusted_rating_depends_on_the_crowd(monkeypatch):
    # Benchmarks choose a development setting for their own process.
    monkeypatch.setenv("DA_DEBUG", "1")
    from benchmarks.trust import Behaviour, cost, tally

    def outcomes(kind: Behaviour, n: int, *, n_trusted: int) -> list[dict]:
        after = [n_trusted > 0] * 3
        return [{"kind": kind, "after": after, "n_paid": 100, "n_trusted": n_trusted}] * n

    tallies = tally(
        [
            *outcomes(Behaviour.HONEST, 3, n_trusted=80),
            *outcomes(Behaviour.HONEST, 1, n_trusted=0),
            *outcomes(Behaviour.PAIRS, 5, n_trusted=40),
        ]
    )
    assert tallies[Behaviour.HONEST].percent == [75, 75, 75]
    # Of 300 items paid, 2 x 60 ratings by honest workers are trusted, and 40 by a script.
    crowd = {Behaviour.HONEST: 2, Behaviour.PAIRS: 1}
    assert cost(tallies, crowd) == pytest.approx(300 / 160)
    assert cost(tallies, crowd, of=[Behaviour.HONEST]) == pytest.approx(300 / 120)
