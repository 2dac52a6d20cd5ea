"""What admin pages show about workers: the table, one worker, and the numbers behind the flags."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce, NullIf
from django.shortcuts import get_object_or_404

from analysis.stats.flags import LOWEST_REFERENCE_MEAN

from ..campaigns.progress import worker_states
from ..models import Assignment, AuditEntry, Campaign, Evidence, Participation
from .sides import TrustedSigns, latest_evidence
from .wording import duration, likeness_in_words, run_in_words

WORKERS_PER_PAGE = 50

STATES: dict[str, str] = dict([*Participation.Trust.choices, *Participation.Decision.choices])

# The flags, named as in the published files, and the fields that hold them.
FLAGS = {
    "scrs": "has_scores_flag",
    "time": "has_time_flag",
    "seq": "has_sequence_flag",
    "rej": "has_rejection_flag",
    "like": "has_likeness_flag",
}
FLAG_LABELS = {
    "scrs": "Scores out of order",
    "time": "Very fast",
    "seq": "Equal scores in a row",
    "rej": "Work rejected before",
    "like": "Scores like a formula",
}
# Selects workers with HITs that wait for a decision, where a flag can be chosen too.
HELD = "held"

# Columns by which the table can be sorted. Those of the latest evidence are named by their field.
EVIDENCE_SORTS = {
    "hits": "n_hits",
    "pairs": "n_pairs",
    "p": "p",
    "difference": "mean_difference",
    "repeats": "repeat_mean_absolute_difference",
    "agreement": "agreement_r",
    "time": "fastest_hit_seconds",
    "like": "likeness_r",
}
# All orders, with the headings of their columns.
SORTS = {
    "worker": "Worker",
    "state": "State",
    "hits": "HITs",
    "pairs": "Pairs",
    "p": "p",
    "difference": "Degraded − genuine",
    "repeats": "Repeats apart",
    "agreement": "Agreement",
    "time": "Fastest HIT",
    "flags": "Flags",
    "active": "Last active",
    "like": "Likeness to a formula",
    "held": "HITs held",
}
# Orders without a column: the numbers are on the worker's page, and flags stand for them in the table.
WITHOUT_COLUMN = {"like", "held"}
DEFAULT_SORT = "-active"


# The table -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkerFilters:
    """Filters for the table of workers. Empty ones match all."""

    state: str = ""
    flag: str = ""
    decision: str = ""
    search: str = ""
    sort: str = DEFAULT_SORT


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A row of the table."""

    participation: Participation
    evidence: Evidence | None
    last_active: datetime | None
    n_held: int = 0

    @property
    def state(self) -> str:
        return self.participation.state

    @property
    def state_label(self) -> str:
        return STATES[self.state]

    @property
    def flags(self) -> list["FlagInWords"]:
        """The flags that are raised."""
        flags = flags_in_words(self.evidence) if self.evidence else []
        return [flag for flag in flags if flag.is_raised]

    @property
    def fastest(self) -> str:
        seconds = self.evidence.fastest_hit_seconds if self.evidence else None
        return "" if seconds is None else duration(seconds)


@dataclass(frozen=True, slots=True)
class WorkersPage:
    """One page of the table, and the number of workers in each state."""

    page: Page[Participation]
    rows: list[WorkerRow]
    states: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def n_workers(self) -> int:
        return sum(n for _, _, n in self.states)


def workers_page(
    campaign: Campaign, filters: WorkerFilters, number: str | int | None = 1
) -> WorkersPage:
    """Read one page of a campaign's workers. The number of queries does not depend on the number of workers."""
    # Only keys, because sorting 100,000 whole rows takes seconds.
    keys = found_workers(campaign, filters).values_list("pk", flat=True)
    page: Page[Any] = Paginator(keys, WORKERS_PER_PAGE).get_page(number)
    rows = campaign.participations.select_related("worker").in_bulk(list(page))
    page.object_list = [rows[pk] for pk in page if pk in rows]
    states = [(state, STATES[state], n) for state, n in worker_states(campaign).items()]
    return WorkersPage(page, worker_rows(campaign, list(page)), states)


def found_workers(campaign: Campaign, filters: WorkerFilters) -> QuerySet[Participation]:
    """The workers that match the filters, in order."""
    participations = campaign.participations.select_related("worker")
    if filters.search:
        participations = participations.filter(_named(filters.search, campaign))
    return _sorted(_filtered(participations, filters), filters)


def participation_of(campaign: Campaign, worker: UUID) -> Participation:
    """The worker with this code in the campaign, or a 404."""
    participations = campaign.participations.select_related("worker", "campaign")
    return get_object_or_404(participations, worker__code=worker)


def participations_of(campaign: Campaign, workers: Sequence[UUID]) -> list[Participation]:
    """The workers with these codes in the campaign. Codes of other workers are ignored."""
    participations = campaign.participations.select_related("worker").filter(
        worker__code__in=workers
    )
    return list(participations.order_by("pk"))


def worker_rows(campaign: Campaign, participations: Sequence[Participation]) -> list[WorkerRow]:
    """Add the latest evidence and the time of the last activity to each participation."""
    latest = latest_evidence(participations)
    workers = [participation.worker_id for participation in participations]
    work = {
        worker: (last, n_held)
        for worker, last, n_held in Assignment.objects.filter(
            hit__campaign=campaign, worker__in=workers
        )
        .order_by()
        .values_list("worker")
        .annotate(last=Max(_LAST_DEED), n_held=Count("pk", filter=_IS_HELD))
    }
    return [
        WorkerRow(
            participation,
            latest.get(participation.pk),
            *work.get(participation.worker_id, (None, 0)),
        )
        for participation in participations
    ]


# Not the latest rating: there are a hundred times fewer assignments, and hours are exact enough.
_LAST_DEED = Coalesce("submitted_at", "started_at")
_IS_HELD = Q(hold=Assignment.Hold.HELD)


def _filtered(
    participations: QuerySet[Participation], filters: WorkerFilters
) -> QuerySet[Participation]:
    if filters.state in Participation.Decision.values:
        participations = participations.filter(decision=filters.state)
    elif filters.state:
        participations = participations.filter(decision="", trust=filters.state)
    if filters.decision:
        by_person = ~Q(decision="")
        participations = participations.filter(
            by_person if filters.decision == "person" else ~by_person
        )
    if filters.flag == "none":
        participations = participations.annotate(
            **{name: _latest(column) for name, column in FLAGS.items()}
        ).filter(**dict.fromkeys(FLAGS, False))
    elif filters.flag == HELD:
        participations = participations.filter(Exists(_own_work().filter(_IS_HELD)))
    elif filters.flag:
        participations = participations.annotate(flag=_latest(FLAGS[filters.flag])).filter(
            flag=True
        )
    return participations


def _named(search: str, campaign: Campaign) -> Q:
    """Match part of the id, alone or after its provider as in `link:ann`, part of an invite's label, or a completion code."""
    provider, _, name = search.partition(":")
    matches = Q(worker__external_id__icontains=search)
    if name:
        matches |= Q(worker__provider__iexact=provider, worker__external_id__icontains=name)
    coded = Assignment.objects.filter(hit__campaign=campaign, completion_code=search.upper())
    invited = campaign.invites.filter(label__icontains=search)
    personal = invited.filter(worker__isnull=False)
    return (
        matches
        | Q(worker__in=coded.values("worker"))
        | Q(worker__in=personal.values("worker"))
        | Q(invite__in=invited.values("pk"))
    )


def _latest(column: str) -> Subquery:
    """A column of the latest evidence about each participation."""
    evidence = Evidence.objects.filter(participation=OuterRef("pk")).order_by("-pk")
    return Subquery(evidence.values(column)[:1])


def _sorted(
    participations: QuerySet[Participation], filters: WorkerFilters
) -> QuerySet[Participation]:
    name = filters.sort.removeprefix("-")
    key: Any
    if name == "worker":
        key = F("worker__external_id")
    elif name == "state":
        key = Coalesce(NullIf("decision", Value("")), F("trust"))
    elif name == "flags":
        evidence = Evidence.objects.filter(participation=OuterRef("pk")).order_by("-pk")
        key = Subquery(evidence.annotate(n=_n_flags()).values("n")[:1])
    elif name in EVIDENCE_SORTS:
        key = _latest(EVIDENCE_SORTS[name])
    else:
        summary = Count("pk") if name == HELD else Max(_LAST_DEED)
        work = _own_work().filter(_IS_HELD) if name == HELD else _own_work()
        per_worker = work.order_by().values("worker").annotate(summary=summary)
        key = Subquery(per_worker.values("summary"))
    # Unknown values come last in either direction.
    order = OrderBy(F("key"), descending=filters.sort.startswith("-"), nulls_last=True)
    return participations.annotate(key=key).order_by(order, "pk")


def _own_work() -> QuerySet[Assignment]:
    return Assignment.objects.filter(hit__campaign=OuterRef("campaign"), worker=OuterRef("worker"))


def _n_flags() -> Any:
    total: Any = Value(0)
    for column in FLAGS.values():
        total = total + Case(When(**{column: True}, then=Value(1)), default=Value(0))
    return total


# In words ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FlagInWords:
    name: str
    label: str
    is_raised: bool
    numbers: str
    trusted: str = ""


def flags_in_words(evidence: Evidence, signs: TrustedSigns | None = None) -> list[FlagInWords]:
    """Describe each flag, raised or not, with the numbers behind it and how often trusted workers have it."""
    means = [
        f"{kind} {value:.1f}"
        for kind, value in (
            ("degraded", evidence.mean_bad_reference),
            ("genuine", evidence.mean_genuine),
            ("reference", evidence.mean_reference),
        )
        if value is not None
    ]
    fastest = evidence.fastest_hit_seconds
    numbers = {
        "scrs": f"Means: {', '.join(means) or 'none'}. They should rise in this order, to "
        f"{LOWEST_REFERENCE_MEAN} or more for references.",
        "time": (
            "Times are unknown."
            if fastest is None
            else f"The fastest HIT took {duration(fastest)} of work"
            f"{', too little to have read it' if evidence.has_time_flag else ''}."
        ),
        "seq": run_in_words(evidence),
        "rej": f"Rejected HITs of this worker: {evidence.n_rejected}.",
        "like": likeness_in_words(evidence),
    }
    return [
        FlagInWords(
            name,
            FLAG_LABELS[name],
            bool(getattr(evidence, column)),
            numbers[name],
            signs.about(name) if signs else "",
        )
        for name, column in FLAGS.items()
    ]


# One worker ----------------------------------------------------------------------------------


def assignments_of(participation: Participation) -> QuerySet[Assignment]:
    """All of the worker's assignments in this campaign, latest first."""
    assignments = Assignment.objects.of(participation)
    return assignments.select_related("hit").order_by("-started_at", "-pk")


def decisions_about(participation: Participation) -> QuerySet[AuditEntry]:
    """Every audit log entry about the worker in this campaign, latest first."""
    return AuditEntry.objects.filter(
        campaign=participation.campaign_id, worker=participation.worker_id
    ).select_related("actor")
