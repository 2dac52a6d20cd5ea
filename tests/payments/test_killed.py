"""Kill the process that pays at every step there is: nobody is paid twice, and nobody is forgotten."""

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
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from hits.payments.owing import Kind
from hits.payments.runs import add_rule
from tests.paying import confirm, make_admin, make_paid_campaign
from tests.simulators.mturk import MTurk, running_mturk
from tests.simulators.prolific import TOKEN, ProlificSimulator, Session
from tests.subprocesses import CHECKOUT, environment

pytestmark = pytest.mark.slow

# More steps than any of the runs below has.
MAX_STEPS = 200
BONUS = Decimal("0.25")


class Payer:
    """The process of `payer.py`: each order is carried out by a child of it."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def pay(self, database: Path, run: str, *, kill_at: int | None = None) -> int:
        """Pay a run in a process of its own and return how that ended: 0, or minus the signal."""
        order = {"database": str(database), "run": run, "kill_at": kill_at}
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def running_payer(**variables: str) -> Iterator[Payer]:
    own = {
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
        env=environment(**own | variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Payer(process)
        # It ends when there are no more orders, and leaving the block closes its input.


@dataclass
class Scene:
    """A confirmed run in a database file, and how to set provider and database back to its start."""

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
        add_rule(
            campaign=campaign,
            kind="flat",
            reason="Thank you",
            amount=BONUS,
            actor=make_admin(),
        )
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
    """How often each was paid: once by the approval, or by each bonus."""
    return Counter(
        {
            one.id: one.status == "APPROVED" if kind == Kind.APPROVE else len(one.bonuses)
            for one in prolific.sessions.values()
        }
    )


@pytest.fixture
def scene(
    request: pytest.FixtureRequest, tmp_path: Path, transactional_db: None
) -> Iterator[Scene]:
    provider, kind = request.param
    run = make_run(provider, kind)
    start = tmp_path / "start.sqlite3"
    copy_database(start)
    if provider == "mturk":
        with (
            running_mturk() as service,
            running_payer(DA_MTURK_ENDPOINT=service.endpoint) as payer,
        ):
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
def test_a_payer_killed_at_any_step_is_made_good_by_the_next(scene):
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
    # Of each payment: marked, sent, noted, logged; and the receipt.
    assert step > 20 and ending == 0


@pytest.mark.parametrize("scene", CERTAIN, indirect=True, ids=lambda p: f"{p[0]}-{p[1]}")
def test_payers_killed_one_after_the_other_still_pay_once(scene):
    rng = random.Random(7)
    for _ in range(6):
        database = scene.fresh_database()
        for _ in range(5):
            scene.pay(database, kill_at=rng.randrange(1, 25))
        assert scene.pay(database) == 0
        assert list(scene.money().values()) == [1, 1]
        assert states_in(database) == {"sent": 2}


@pytest.mark.parametrize("scene", [("prolific", Kind.BONUS)], indirect=True, ids=["prolific-bonus"])
def test_a_bonus_that_prolific_would_pay_again_is_left_to_a_person_when_in_doubt(scene):
    n_doubts = 0
    for step in range(1, MAX_STEPS):
        database = scene.fresh_database()
        ending = scene.pay(database, kill_at=step)
        if ending == 0:
            break
        assert scene.pay(database) == 0, step
        states, money = states_in(database), scene.money()
        # Never twice; and whoever is not known to be paid stands in the ledger as unknown.
        assert all(n <= 1 for n in money.values()), f"killed at step {step}"
        assert states["sent"] + states["unknown"] == 2, f"killed at step {step}"
        assert money.total() >= states["sent"]
        n_doubts += states["unknown"]
    assert step > 20 and n_doubts > 0
