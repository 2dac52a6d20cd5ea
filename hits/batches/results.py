"""Results that Mechanical Turk's pages gave for a campaign's own HITs -> assignments and ratings.

Rows find their HIT by what stood in its places, so the ids that Mechanical Turk made up do not matter. All of
the files or nothing is stored; what is known already is left alone, so a file can be read again. What Mechanical
Turk has approved, and so paid, goes into the ledger as paid.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from da_platform.files.cells import defuse
from da_platform.files.problems import Problems
from hits.exceptions import ImportRefused

from ..archives.mturk import ROLES, read_mturk
from ..archives.records import ArchivedAssignment, ArchivedHIT, Collection, LanguagePair
from ..archives.storing import imported_assignment
from ..models import HIT, Assignment, Campaign, Item, Participation, Rating, Worker
from ..payments.runs import note_paid_elsewhere
from ..people.audit import record
from ..rating.places import settle_places
from ..recruiting.forgotten_ids import is_forgotten, work
from .exporting import batch_hits

PROVIDER = "mturk"

# What stands in the places of a HIT: system, segment and role of each.
Contents = tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class ResultsSummary:
    n_assignments: int
    n_ratings: int
    n_known: int
    n_workers: int


def import_results(
    *, campaign: Campaign, paths: Sequence[Path], actor: User | None = None
) -> ResultsSummary:
    """Store what workers did at Mechanical Turk, or raise `ImportRefused` and store nothing."""
    problems = Problems()
    pair = LanguagePair(campaign.source_language, campaign.target_language)
    collection = read_mturk(paths, pair, problems)
    hits = _own_hits(campaign)
    places = [hits.get(_contents_of(hit)) for hit in collection.hits]
    for assignment in collection.assignments:
        _check(assignment, collection.hits[assignment.hit], places[assignment.hit], problems)
    problems.refuse_if_any(ImportRefused)
    return _store(campaign, collection, [hit for hit in places if hit], places, actor)


def _own_hits(campaign: Campaign) -> dict[Contents, HIT]:
    by_code = {str(hit.code): hit for hit in campaign.hits.all()}
    # Systems as their cells have them, defused, on both sides.
    return {
        tuple(
            (defuse(item.systems), defuse(item.segment), ROLES[item.type].value)
            for item in hit.items
        ): by_code[hit.name]
        for hit in batch_hits(campaign)
    }


def _contents_of(hit: ArchivedHIT) -> Contents:
    return tuple((item.system, item.segment, item.role.value) for item in hit.items)


def _check(
    assignment: ArchivedAssignment, items: ArchivedHIT, hit: HIT | None, problems: Problems
) -> None:
    who = f"the assignment of worker {assignment.worker!r}, submitted {assignment.submitted_at:%Y-%m-%d %H:%M:%S},"
    if hit is None:
        problems.add("", None, f"{who} is of a HIT that is not this campaign's")
    elif len(assignment.ratings) < len(items.items):
        n_missing = len(items.items) - len(assignment.ratings)
        problems.add("", None, f"{who} lacks {n_missing} of {len(items.items)} ratings")


@transaction.atomic
def _store(
    campaign: Campaign,
    collection: Collection,
    touched: list[HIT],
    places: list[HIT | None],
    actor: User | None,
) -> ResultsSummary:
    n_stored = n_ratings = n_known = 0
    workers = set()
    paid: dict[int, str] = {}
    for told in collection.assignments:
        hit = places[told.hit]
        assert hit
        if is_forgotten(work(hit, PROVIDER, told.worker)):
            n_known += 1
            continue
        worker = Worker.objects.get_or_create(provider=PROVIDER, external_id=told.worker)[0]
        assignment = Assignment.objects.filter(hit=hit, worker=worker).first()
        if assignment:
            n_known += 1
        else:
            assignment = _store_assignment(campaign, told, hit, worker)
            n_stored, n_ratings = n_stored + 1, n_ratings + len(told.ratings)
            workers.add(worker.pk)
        if told.is_paid:
            # Of known work too: it may have been approved since the file was read first.
            paid[assignment.pk] = told.reference
    note_paid_elsewhere(campaign=campaign, references=paid, actor=actor)
    settle_places(campaign=campaign, hits=[hit.pk for hit in touched])
    record(
        "import_results",
        actor=actor,
        campaign=campaign,
        n_assignments=n_stored,
        n_ratings=n_ratings,
        n_known=n_known,
    )
    return ResultsSummary(n_stored, n_ratings, n_known, len(workers))


def _store_assignment(
    campaign: Campaign, told: ArchivedAssignment, hit: HIT, worker: Worker
) -> Assignment:
    # Consent was given where the work was done; the evidence is weighed as for everyone.
    Participation.objects.get_or_create(campaign=campaign, worker=worker)
    assignment = imported_assignment(told, hit, worker)
    assignment.save()
    items = dict(Item.objects.filter(hit=hit).values_list("position", "pk"))
    Rating.objects.bulk_create(
        Rating(
            assignment=assignment,
            item_id=items[rating.item + 1],
            score=rating.score,
            received_at=rating.received_at,
        )
        for rating in told.ratings
    )
    return assignment
