"""Import Mechanical Turk results for a campaign's own HITs.

Rows are matched to HITs by their items, not by Mechanical Turk's ids. Either all files are stored or none.
Assignments that are already stored are skipped, so a file can be imported again. Assignments that Mechanical
Turk has approved, and so paid, are entered in the ledger as paid.
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

# The system, segment and role of each item of a HIT.
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
    """Store the assignments in these files, or raise `ImportRefused` and store nothing."""
    problems = Problems()
    pair = LanguagePair(campaign.source_language, campaign.target_language)
    collection = read_mturk(paths, pair, problems)
    hits = _own_hits(campaign)
    matches = [hits.get(_contents_of(hit)) for hit in collection.hits]
    for assignment in collection.assignments:
        _check(assignment, collection.hits[assignment.hit], matches[assignment.hit], problems)
    problems.refuse_if_any(ImportRefused)
    return _store(campaign, collection, matches, actor)


def _own_hits(campaign: Campaign) -> dict[Contents, HIT]:
    by_code = {str(hit.code): hit for hit in campaign.hits.all()}
    # Defused, because the names in the files are.
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
    assignment: ArchivedAssignment, archived: ArchivedHIT, hit: HIT | None, problems: Problems
) -> None:
    who = f"the assignment of worker {assignment.worker!r}, submitted {assignment.submitted_at:%Y-%m-%d %H:%M:%S},"
    if hit is None:
        problems.add("", None, f"{who} is for a HIT that is not in this campaign")
    elif n_missing := len(archived.items) - len(assignment.ratings):
        problems.add("", None, f"{who} lacks {n_missing} of {len(archived.items)} ratings")


@transaction.atomic
def _store(
    campaign: Campaign,
    collection: Collection,
    matches: list[HIT | None],
    actor: User | None,
) -> ResultsSummary:
    n_stored = n_ratings = n_known = 0
    workers = set()
    paid: dict[int, str] = {}
    for archived in collection.assignments:
        hit = matches[archived.hit]
        assert hit
        if is_forgotten(work(hit, PROVIDER, archived.worker)):
            n_known += 1
            continue
        worker = Worker.objects.get_or_create(provider=PROVIDER, external_id=archived.worker)[0]
        assignment = Assignment.objects.filter(hit=hit, worker=worker).first()
        if assignment:
            n_known += 1
        else:
            assignment = _store_assignment(campaign, archived, hit, worker)
            n_stored, n_ratings = n_stored + 1, n_ratings + len(archived.ratings)
            workers.add(worker.pk)
        if archived.is_paid:
            # Also if it was already stored: it may have been approved since then.
            paid[assignment.pk] = archived.reference
    note_paid_elsewhere(campaign=campaign, references=paid, actor=actor)
    settle_places(campaign=campaign, hits=[hit.pk for hit in matches if hit])
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
    campaign: Campaign, archived: ArchivedAssignment, hit: HIT, worker: Worker
) -> Assignment:
    # Workers gave consent at Mechanical Turk.
    Participation.objects.get_or_create(campaign=campaign, worker=worker)
    assignment = imported_assignment(archived, hit, worker)
    assignment.save()
    items = dict(Item.objects.filter(hit=hit).values_list("position", "pk"))
    Rating.objects.bulk_create(
        Rating(
            assignment=assignment,
            item_id=items[rating.item + 1],
            score=rating.score,
            received_at=rating.received_at,
        )
        for rating in archived.ratings
    )
    return assignment
