"""Store a checked collection in one transaction."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from analysis.stats.roles import Role
from hits.rating.assignments import new_completion_code

from ..campaigns.importing.storing import fingerprint
from ..models import (
    HIT,
    Assignment,
    AuditEntry,
    Campaign,
    Evidence,
    Item,
    Participation,
    Rating,
    Segment,
    System,
    SystemOutput,
    Translation,
    Worker,
)
from ..people.audit import record
from ..workers.trust import explain
from .decisions import Decisions
from .evidence import weigh_workers
from .records import ArchivedAssignment, Collection

PROVIDER = "archive"
# Ratings inserted at a time.
RATINGS_PER_BATCH = 5_000
# Well below either database's limit on query parameters.
NAMES_PER_QUERY = 500
# A lease must end after its start, even if the HIT took no time.
SHORTEST_LEASE = timedelta(seconds=1)

Progress = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a collection comes from, for the audit log and its workers' ids."""

    details: dict[str, Any]
    worker_namespace: str
    actor: User | None = None

    def external_id(self, worker: str) -> str:
        """Return the id to store: W01 of another namespace is another person."""
        return f"{self.worker_namespace}/{worker}"


@transaction.atomic
def store(
    campaign: Campaign,
    collection: Collection,
    decisions: Decisions,
    origin: Origin,
    progress: Progress | None,
) -> None:
    campaign.save(force_insert=True)
    translations = _store_translations(campaign, collection)
    items = _store_hits(campaign, collection, translations)
    workers = store_workers(collection.workers, origin)
    assignments = _store_assignments(campaign, collection, workers)
    _store_ratings(collection, assignments, items, progress)
    participations = store_participations(campaign, workers, decisions)
    _store_evidence(campaign, collection, assignments, participations)
    record_import(campaign, participations, origin)


# Texts and HITs --------------------------------------------------------------------------------


def _store_translations(
    campaign: Campaign, collection: Collection
) -> dict[tuple[str, str], Translation]:
    """Store systems, segments and translations, with texts if there are any; return translations by system and segment."""
    outputs = dict.fromkeys(
        (item.system, item.segment) for hit in collection.hits for item in hit.items
    )
    systems = {
        row.name: row
        for row in System.objects.bulk_create(
            System(campaign=campaign, name=name) for name in sorted({name for name, _ in outputs})
        )
    }
    names = in_order(list(dict.fromkeys(segment for _, segment in outputs)))
    texts = collection.texts
    segments = {
        row.name: row
        for row in Segment.objects.bulk_create(
            Segment(
                campaign=campaign,
                position=position,
                name=name,
                document=texts.documents.get(name, ""),
                source=texts.sources.get(name, ""),
                reference=texts.references.get(name, ""),
                is_archived=True,
            )
            for position, name in enumerate(names, start=1)
        )
    }
    translations = {
        (system, segment): Translation(
            segment_id=segments[segment].pk,
            text=texts.outputs.get((system, segment), ""),
            # Most collections have no texts to merge by: each system has a separate translation.
            fingerprint=fingerprint(f"{system}\n{segment}"),
        )
        for system, segment in outputs
    }
    Translation.objects.bulk_create(translations.values())
    SystemOutput.objects.bulk_create(
        SystemOutput(
            system_id=systems[system].pk,
            segment_id=segments[segment].pk,
            translation_id=translation.pk,
        )
        for (system, segment), translation in translations.items()
    )
    return translations


def in_order(names: list[str]) -> list[str]:
    """Sort segments by number, or keep their order if some names are not numbers."""
    if all(name.isascii() and name.isdecimal() for name in names):
        return sorted(names, key=lambda name: (int(name), name))
    return names


def _store_hits(
    campaign: Campaign, collection: Collection, translations: dict[tuple[str, str], Translation]
) -> list[list[Item]]:
    """Store HITs with their items; return the items of each HIT."""
    hits = HIT.objects.bulk_create(
        HIT(campaign=campaign, number=number, size=len(hit.items), places_left=0, is_archived=True)
        for number, hit in enumerate(collection.hits, start=1)
    )
    rows = [
        [
            Item(
                hit_id=row.pk,
                position=position,
                screen=position,
                role=item.role.value,
                translation_id=translations[item.system, item.segment].pk,
                is_archived=True,
            )
            for position, item in enumerate(hit.items, start=1)
        ]
        for row, hit in zip(hits, collection.hits, strict=True)
    ]
    # Genuine items first: QC items refer to them as partners.
    Item.objects.bulk_create(item for items in rows for item in items if item.role == Role.GENUINE)
    qc_items = []
    for items, hit in zip(rows, collection.hits, strict=True):
        for item, partner in zip(items, hit.partners(), strict=True):
            if item.role != Role.GENUINE:
                item.partner_id = None if partner is None else items[partner].pk
                qc_items.append(item)
    Item.objects.bulk_create(qc_items)
    return rows


# Workers and ratings ---------------------------------------------------------------------------


def store_workers(own_names: list[str], origin: Origin) -> dict[str, Worker]:
    """Return workers by name: those of earlier collections, or new ones."""
    names = {origin.external_id(name): name for name in own_names}
    Worker.objects.bulk_create(
        [Worker(provider=PROVIDER, external_id=external_id) for external_id in names],
        ignore_conflicts=True,
    )
    workers = {}
    remaining = iter(names)
    while batch := list(islice(remaining, NAMES_PER_QUERY)):
        for worker in Worker.objects.filter(provider=PROVIDER, external_id__in=batch):
            workers[names[worker.external_id]] = worker
    return workers


def _store_assignments(
    campaign: Campaign, collection: Collection, workers: dict[str, Worker]
) -> list[Assignment]:
    hits = list(campaign.hits.order_by("number"))
    now = timezone.now()
    return Assignment.objects.bulk_create(
        imported_assignment(work, hits[work.hit], workers[work.worker], evidence_at=now)
        for work in collection.assignments
    )


def imported_assignment(
    archived: ArchivedAssignment, hit: HIT, worker: Worker, **fields: Any
) -> Assignment:
    """Return an unsaved assignment for work that was submitted elsewhere."""
    return Assignment(
        hit=hit,
        worker=worker,
        status=Assignment.Status.SUBMITTED,
        started_at=archived.started_at,
        expires_at=max(archived.submitted_at, archived.started_at + SHORTEST_LEASE),
        submitted_at=archived.submitted_at,
        completion_code=new_completion_code(),
        comment=archived.comment,
        is_rejected=archived.is_rejected,
        **fields,
    )


def _store_ratings(
    collection: Collection,
    assignments: list[Assignment],
    items: list[list[Item]],
    progress: Progress | None,
) -> None:
    ratings = (
        Rating(
            assignment_id=assignment.pk,
            item_id=items[work.hit][rating.item].pk,
            score=rating.score,
            received_at=rating.received_at,
            elapsed_ms=rating.elapsed_ms,
        )
        for work, assignment in zip(collection.assignments, assignments, strict=True)
        for rating in work.ratings
    )
    while batch := list(islice(ratings, RATINGS_PER_BATCH)):
        Rating.objects.bulk_create(batch)
        if progress is not None:
            progress(len(batch))


# Trust -----------------------------------------------------------------------------------------


def store_participations(
    campaign: Campaign, workers: dict[str, Worker], decisions: Decisions
) -> dict[str, Participation]:
    rows = {name: Participation(campaign=campaign, worker=workers[name]) for name in workers}
    for name, decision in decisions.items():
        rows[name].decision = decision.decision
        rows[name].decision_reason = decision.reason
    Participation.objects.bulk_create(rows.values())
    return rows


def _store_evidence(
    campaign: Campaign,
    collection: Collection,
    assignments: list[Assignment],
    participations: dict[str, Participation],
) -> None:
    """Store evidence for each worker, attached to their last assignment, and update their trust."""
    last: dict[str, tuple[ArchivedAssignment, Assignment]] = {}
    for work, assignment in zip(collection.assignments, assignments, strict=True):
        if work.worker not in last or work.submitted_at >= last[work.worker][0].submitted_at:
            last[work.worker] = work, assignment
    fields_by_worker = weigh_workers(collection, campaign)
    evidence = Evidence.objects.bulk_create(
        Evidence(participation=participations[name], assignment=last[name][1], **fields)
        for name, fields in fields_by_worker.items()
    )
    changed = [
        (participations[name], row)
        for name, row in zip(fields_by_worker, evidence, strict=True)
        if row.verdict != participations[name].trust
    ]
    AuditEntry.objects.bulk_create(
        AuditEntry(
            action="trust changed",
            campaign=participation.campaign,
            worker=participation.worker,
            reason=explain(row),
            details={"before": participation.trust, "after": row.verdict, "evidence": row.pk},
        )
        for participation, row in changed
    )
    for participation, row in changed:
        participation.trust = row.verdict
    Participation.objects.bulk_update([participation for participation, _ in changed], ["trust"])


def record_import(
    campaign: Campaign, participations: dict[str, Participation], origin: Origin
) -> None:
    record("collection imported", actor=origin.actor, campaign=campaign, **origin.details)
    AuditEntry.objects.bulk_create(
        AuditEntry(
            action=row.decision,
            actor=origin.actor,
            campaign=campaign,
            worker=row.worker,
            reason=row.decision_reason,
            details={"before": row.trust, "after": row.state},
        )
        for row in participations.values()
        if row.decision
    )
