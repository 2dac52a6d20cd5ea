"""The people that a run pays by hand: one row per person, with what is needed to recognise them."""

import csv
import io
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Min, QuerySet

from da_platform.files.cells import defuse

from ..models import Assignment, Campaign, Payment
from .owing import NOTHING, Plan

COLUMNS = ("worker", "invite", "completion_codes", "n_payments", "amount", "currency", "states")


@dataclass(slots=True)
class Person:
    """A worker and the sum of some payments, with the label of their invite link and their completion codes."""

    worker: str
    invite: str
    codes: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    n_payments: int = 0
    amount: Decimal = NOTHING

    def add(self, amount: Decimal, code: str = "", state: str = "") -> None:
        self.n_payments += 1
        self.amount += amount
        if code and code not in self.codes:
            self.codes.append(code)
        if state and state not in self.states:
            self.states.append(state)


def workers_paid(payments: QuerySet[Payment]) -> QuerySet[Payment, int]:
    """The keys of the workers, in the order of their first payments."""
    rows = payments.order_by().values("assignment__worker").annotate(first=Min("pk"))
    return rows.order_by("first").values_list("assignment__worker", flat=True)


def people_paid(campaign: Campaign, payments: QuerySet[Payment]) -> list[Person]:
    """Sum up payments of a campaign by person, in the order of their first payments."""
    rows = list(
        payments.order_by("pk").values_list(
            "assignment__worker",
            "assignment__worker__external_id",
            "amount",
            "assignment__completion_code",
            "state",
        )
    )
    people: dict[int, Person] = {}
    labels = _labels_of(campaign, {row[0] for row in rows})
    states = {state.value: state.label.lower() for state in Payment.State}
    for pk, worker, amount, code, state in rows:
        person = people.get(pk)
        if person is None:
            person = people[pk] = Person(worker, labels.get(pk, ""))
        person.add(amount, code, states[state])
    return list(people.values())


def people_owed(plan: Plan, *, most: int) -> tuple[list[Person], int]:
    """Sum up a plan for the first people in it; return how many there are, too."""
    workers = list(dict.fromkeys(due.work.worker_id for due in plan.dues))
    people: dict[int, Person] = {}
    listed = set(workers[:most])
    labels = _labels_of(plan.campaign, listed)
    dues = [due for due in plan.dues if due.work.worker_id in listed]
    codes = dict(
        Assignment.objects.filter(hit__campaign=plan.campaign, worker__in=listed).values_list(
            "pk", "completion_code"
        )
    )
    for due in dues:
        pk = due.work.worker_id
        person = people.setdefault(pk, Person(due.work.worker_external_id, labels.get(pk, "")))
        person.add(due.amount, codes.get(due.work.pk) or "")
    return list(people.values()), len(workers)


# Fewer are named in the query; of more, it is quicker to read all.
MOST_NAMED = 1_000


def _labels_of(campaign: Campaign, workers: Collection[int]) -> dict[int, str]:
    """The labels of the links that these workers came by: personal ones, and shared ones since those are kept."""
    personal = campaign.invites.filter(worker__isnull=False).exclude(label="")
    by_link = campaign.participations.filter(invite__isnull=False)
    if len(workers) <= MOST_NAMED:
        personal = personal.filter(worker__in=workers)
        by_link = by_link.filter(worker__in=workers)
    came_by = list(by_link.values_list("worker", "invite"))
    names = dict(campaign.invites.values_list("pk", "label")) if came_by else {}
    labels: dict[int, dict[str, None]] = {}
    for worker, label in personal.order_by("pk").values_list("worker", "label"):
        labels.setdefault(worker, {})[label] = None
    for worker, invite in came_by:
        if names[invite]:
            labels.setdefault(worker, {})[names[invite]] = None
    return {worker: ", ".join(found) for worker, found in labels.items()}


def people_csv(people: Iterable[Person], currency: str) -> str:
    """One row per person, with a header and escaped cells."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for person in people:
        cells = (
            person.worker,
            person.invite,
            " ".join(person.codes),
            str(person.n_payments),
            f"{person.amount:.2f}",
            currency,
            ", ".join(person.states),
        )
        writer.writerow([defuse(cell) for cell in cells])
    return file.getvalue()
