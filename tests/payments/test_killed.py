"""Kill the paying process at every step: nobody is paid twice, and everybody is paid."""

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from hits.payments.owing import Kind
from tests.paying import add_bonus, confirm, make_paid_campaign
from tests.simulators.mturk import MTurk, running_mturk
from tests.simulators.prolific import TOKEN, ProlificSimulator, Session
from tests.subprocesses import CHECKOUT, environment

pytestmark = pytest.mark.slow

# More steps than any run below takes.
MAX_STEPS = 200


class Payer:
    """The process of `payer.py`, which carries out each order in a child process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def pay(self, database: Path, run: str, *, kill_at: int | None = None) -> int:
        """Pay a run in a child process and return its exit code: 0, or minus the signal."""
        order = {"database": str(database), "run": run, "kill_at": kill_at}
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def running_payer(**variables: str) -> Iterator[Payer]:
    defaults = {
        "DA_DEBUG": "1",
        "DA_SECRET_KEY": "only-for-tests",
        "DA_LOG_LEVEL": "ERROR",
        "DJANGO_SETTINGS_MODULE": "da_platform.settings",
        "DA_PAYMENT_GRACE_SECONDS": "0",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "DA_PROLIFIC_API_TOKEN": TOKEN,
    }
    with subprocess.Popen(
        [sys.executable, "-m", "tests.payments.payer"],
        cwd=CHECKOUT,
        env=environment(**defaults | variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Payer(process)
        # Leaving the block closes its input, which ends the process.


@dataclass
class Scene:
    """A confirmed run in a database file, and how to reset the provider and the database."""

    payer: Payer
    start: Path
    run: str
    reset: Callable[[], None]
    money: Callable[[], Counter[Any]]

    def fresh_database(self) -> Path:
        self.reset()
        database = self.start.with_name("run.sqlite3")
        for leftover in self.start.parent.glob("run.sqlite3*"):
            leftover.unlink()
        shutil.copy(self.start, database)
        return database

    def pay(self, database: Path, **options: Any) -> int:
        return self.payer.pay(database, self.run, **options)


def states_in(database: Path) -> Counter[str]:
    with closing(sqlite3.connect(database)) as ledger:
        return Counter(state for (state,) in ledger.execute("SELECT state FROM hits_payment"))


def receipts_in(database: Path) -> int:
    query = "SELECT count(*) FROM hits_auditentry WHERE action = 'finish_payments'"
    with closing(sqlite3.connect(database)) as ledger:
        return int(ledger.execute(query).fetchone()[0])


def copy_database(path: Path) -> None:
    connection.ensure_connection()
    with closing(sqlite3.connect(path)) as copy:
        connection.connection.backup(copy)


def make_run(provider: str, kind: Kind) -> str:
    campaign = make_paid_campaign(provider)
    if kind == Kind.BONUS:
        add_bonus(campaign)
    return str(confirm(campaign, kind).code)


def reset_mturk(service: MTurk) -> None:
    service.assignments.clear()
    service.bonuses.clear()
    service.tokens.clear()
    service.payments.clear()
    service.submit("visitalice", "alice")
    service.submit("visitbob", "bob")


def reset_prolific(prolific: ProlificSimulator) -> None:
    prolific.prepared.clear()
    for name in ("alice", "bob"):
        session = Session(f"visit{name}", name, "study1", "AWAITING REVIEW")
        prolific.sessions[session.id] = session


def money_of(prolific: ProlificSimulator, kind: Kind) -> Counter[str]:
    """Count the payments of each session: its approval, or its bonuses."""
    sessions = prolific.sessions.values()
    if kind == Kind.APPROVE:
        return Counter({session.id: session.status == "APPROVED" for session in sessions})
    return Counter({session.id: len(session.bonuses) for session in sessions})


@pytest.fixture
def scene(
    request: pytest.FixtureRequest, tmp_path: Path, transactional_db: None
) -> Iterator[Scene]:
    provider, kind = request.param
    run = make_run(provider, kind)
    start = tmp_path / "start.sqlite3"
    copy_database(start)
    if provider == "mturk":
        with running_mturk() as service, running_payer(DA_MTURK_ENDPOINT=service.endpoint) as payer:
            yield Scene(payer, start, run, lambda: reset_mturk(service), lambda: service.payments)
    else:
        prolific = request.getfixturevalue("prolific")
        with running_payer(DA_PROLIFIC_API_URL=prolific.url) as payer:
            yield Scene(
                payer,
                start,
                run,
                lambda: reset_prolific(prolific),
                lambda: money_of(prolific, kind),
            )


CERTAIN = [("mturk", Kind.APPROVE), ("mturk", Kind.BONUS), ("prolific", Kind.APPROVE)]


@pytest.mark.parametrize("scene", CERTAIN, indirect=True, ids=lambda p: f"{p[0]}-{p[1]}")
def test_a_payer_killed_at_any_step_is_completed_by_the_next_one(scene):
    for step in range(1, MAX_STEPS):
        database = scene.fresh_database()
        ending = scene.pay(database, kill_at=step)
        if ending == 0:
            break
        assert ending == -signal.SIGKILL, step
        assert scene.pay(database) == 0, step
        assert list(scene.money().values()) == [1, 1], f"killed at step {step}"
        assert states_in(database) == {"sent": 2}, f"killed at step {step}"
        assert receipts_in(database) == 1, f"killed at step {step}"
    # Each payment is marked, sent, stored and logged; then comes the receipt.
    assert step > 20 and ending == 0


@pytest.mark.parametrize("scene", CERTAIN, indirect=True, ids=lambda p: f"{p[0]}-{p[1]}")
def test_payers_killed_one_after_another_still_pay_once(scene):
    rng = random.Random(7)
    for _ in range(6):
        database = scene.fresh_database()
        for _ in range(5):
            scene.pay(database, kill_at=rng.randrange(1, 25))
        assert scene.pay(database) == 0
        assert list(scene.money().values()) == [1, 1]
        assert states_in(database) == {"sent": 2}


@pytest.mark.parametrize("scene", [("prolific", Kind.BONUS)], indirect=True, ids=["prolific-bonus"])
def test_a_prolific_bonus_of_unknown_outcome_is_left_to_a_person(scene):
    n_unknown = 0
    for step in range(1, MAX_STEPS):
        database = scene.fresh_database()
        ending = scene.pay(database, kill_at=step)
        if ending == 0:
            break
        assert scene.pay(database) == 0, step
        states, money = states_in(database), scene.money()
        # Nobody is paid twice; a payment that may not have been made is stored as unknown.
        assert all(n <= 1 for n in money.values()), f"killed at step {step}"
        assert states["sent"] + states["unknown"] == 2, f"killed at step {step}"
        assert money.total() >= states["sent"]
        n_unknown += states["unknown"]
    assert step > 20 and n_unknown > 0
