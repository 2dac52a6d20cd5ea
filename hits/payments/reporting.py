"""What was paid and what is open, as totals and as CSV."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, QuerySet, Sum

from da_platform.files.cells import defuse

from ..models import Campaign, Payment
from .owing import Owed, Plan

State = Payment.State
NOTHING = Decimal("0.00")

COLUMNS = (
    "payment",
    "worker",
    "assignment",
    "kind",
    "amount",
    "currency",
    "state",
    "message",
    "reference",
    "settled_at",
    "problem",
    "completion_code",
)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a campaign's money is. `open` is confirmed but not finished; `unknown` needs a person to decide."""

    owed: Decimal
    open: Decimal
    paid: Decimal
    failed: Decimal
    unknown: Decimal
    n_open: int
    n_paid: int
    n_failed: int
    n_unknown: int
    n_rejected: int
    spending_cap: Decimal | None

    @property
    def committed(self) -> Decimal:
        """Everything paid, possibly paid, or owed. `places.amount_owed` also counts HITs in progress."""
        return self.owed + self.open + self.paid + self.unknown

    @property
    def left(self) -> Decimal | None:
        """What remains under the cap, negative if it is exceeded. None without a cap."""
        return None if self.spending_cap is None else self.spending_cap - self.committed


def standing(campaign: Campaign, owed: Iterable[Owed | Plan]) -> Standing:
    amounts, counts = dict.fromkeys(State, NOTHING), dict.fromkeys(State, 0)
    n_rejected = 0
    rows = Payment.objects.filter(run__campaign=campaign).order_by().values("kind", "state")
    for row in rows.annotate(n=Count("pk"), amount=Sum("amount")):
        state = State(row["state"])
        if row["kind"] == "reject" and state == State.SENT:
            n_rejected = row["n"]
            continue
        amounts[state] += row["amount"]
        counts[state] += row["n"]
    return Standing(
        owed=sum((part.total for part in owed), NOTHING),
        open=amounts[State.PLANNED] + amounts[State.SENDING],
        paid=amounts[State.SENT],
        failed=amounts[State.FAILED],
        unknown=amounts[State.UNKNOWN],
        n_open=counts[State.PLANNED] + counts[State.SENDING],
        n_paid=counts[State.SENT],
        n_failed=counts[State.FAILED],
        n_unknown=counts[State.UNKNOWN],
        n_rejected=n_rejected,
        spending_cap=campaign.spending_cap,
    )


def payments_csv(payments: QuerySet[Payment]) -> str:
    """One row per payment, with a header. Cells that a spreadsheet would run as formulas are escaped."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for payment in payments.select_related("assignment__worker").order_by("pk"):
        settled_at = payment.settled_at
        cells = (
            str(payment.code),
            payment.assignment.worker.external_id,
            str(payment.assignment.code),
            payment.kind,
            f"{payment.amount:.2f}",
            payment.currency,
            payment.state,
            payment.message,
            payment.reference,
            settled_at.isoformat(timespec="seconds") if settled_at else "",
            payment.problem,
            payment.assignment.completion_code,
        )
        writer.writerow([defuse(cell) for cell in cells])
    return file.getvalue()
