"""Calls about money: what is owed, runs, rejections, rules, the ledger. Amounts are exact decimals in text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .connection import Connection
from .models import Due, Job, Money, Payment, Plan, Rule, Run


class PaymentCalls(Connection):
    def payments(self, code: str) -> Money:
        """Where a campaign's money is, with the plans of what could be paid now."""
        return Money.of(self._get(f"/campaigns/{code}/payments"))

    def plan(self, code: str, kind: str = "approve", way: str = "provider") -> Plan:
        """What a run would pay: `approve` or `bonus`, through the `provider` or by `hand`."""
        return Plan.of(self._get(f"/campaigns/{code}/payments/plan/{kind}/{way}"))

    def dues(self, code: str, kind: str = "approve", way: str = "provider") -> Iterator[Due]:
        """The plan line by line: who would get how much for what."""
        for row in self._pages(f"/campaigns/{code}/payments/plan/{kind}/{way}/dues"):
            yield Due.of(row)

    def confirm(self, code: str, plan: Plan) -> Run:
        """Confirm a plan that was looked at. Asked again, it is still paid once."""
        body = {
            "kind": plan.kind,
            "way": plan.way,
            "digest": plan.digest,
            "total": plan.total,
        }
        return Run.of(self._post(f"/campaigns/{code}/payments/runs", body))

    def runs(self, code: str) -> Iterator[Run]:
        for row in self._pages(f"/campaigns/{code}/payments/runs"):
            yield Run.of(row)

    def run(self, code: str, run: str) -> Run:
        """A run with what of it was paid."""
        return Run.of(self._get(f"/campaigns/{code}/payments/runs/{run}"))

    def mark_as_paid(self, code: str, run: Run, *, reference: str) -> Run:
        body = {"total": run.total, "reference": reference}
        return Run.of(self._post(f"/campaigns/{code}/payments/runs/{run.code}/paid", body))

    def go_on(self, code: str, run: Run) -> Job:
        """Go on with a run that stopped on its way. Nothing in it is paid twice."""
        return Job.of(self._post(f"/campaigns/{code}/payments/runs/{run.code}/go-on"))

    def cancel_run(self, code: str, run: Run) -> Run:
        return Run.of(self._post(f"/campaigns/{code}/payments/runs/{run.code}/cancel"))

    def reject(self, code: str, assignment: str, *, message: str, category: str = "") -> Run:
        """Refuse payment for work handed in; the worker reads the message."""
        path = f"/campaigns/{code}/payments/assignments/{assignment}/reject"
        return Run.of(self._post(path, {"message": message, "category": category}))

    def withdraw_rejection(self, code: str, assignment: str, *, reason: str) -> Payment:
        """Take a rejection back: the work is owed again."""
        path = f"/campaigns/{code}/payments/assignments/{assignment}/withdraw-rejection"
        return Payment.of(self._post(path, {"reason": reason}))

    def rules(self, code: str) -> Iterator[Rule]:
        """What was promised beside the pay per HIT, newest first."""
        for row in self._pages(f"/campaigns/{code}/payments/rules"):
            yield Rule.of(row)

    def add_rule(self, code: str, kind: str, *, reason: str, **options: Any) -> Rule:
        """Promise a `flat` bonus, an `adjustment` or a `partial` share; `amount`, `assignment`."""
        body = {"kind": kind, "reason": reason, **options}
        return Rule.of(self._post(f"/campaigns/{code}/payments/rules", body))

    def withdraw_rule(self, code: str, rule: str) -> Rule:
        return Rule.of(self._post(f"/campaigns/{code}/payments/rules/{rule}/withdraw"))

    def ledger(self, code: str, **filters: Any) -> Iterator[Payment]:
        """Every payment; by `state` and `run`."""
        for row in self._pages(f"/campaigns/{code}/payments/ledger", **filters):
            yield Payment.of(row)

    def settle(self, code: str, payment: str, answer: str, *, reason: str = "") -> Payment:
        """Say what became of a payment that is unknown: `paid`, `not_paid`, or `ask` the provider.

        One that failed can be written off, `write_off`: it is owed no more.
        """
        body = {"answer": answer, "reason": reason}
        return Payment.of(self._post(f"/campaigns/{code}/payments/ledger/{payment}/settle", body))

    def download_ledger(self, code: str, path: Path | str) -> Path:
        return self._download(f"/campaigns/{code}/payments/ledger.csv", path)
