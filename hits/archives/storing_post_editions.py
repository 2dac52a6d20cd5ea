"""Store post-editions that were made elsewhere as those of a campaign, which then is finished."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from analysis.stats.roles import Role
from da_platform.files.texts import MAX_NAME_LENGTH
from hits.exceptions import PostEditionsRefused

from ..models import (
    HIT,
    Assignment,
    Campaign,
    Item,
    Participation,
    PostEdition,
    SystemOutput,
    Worker,
)
from .decisions import Decision
from .records import MAX_ITEMS, ArchivedAssignment
from .storing import (
    RATINGS_PER_BATCH,
    Origin,
    imported_assignment,
    record_import,
    store_participations,
    store_workers,
)

REASON = "Post-editions made elsewhere, imported from a file."
# Where the file names nobody.
UNNAMED = "editor"


@dataclass(frozen=True, slots=True)
class ImportedEdit:
    """A post-edition of a system's output, and its editor, if the file names one."""

    system: str
    segment: str
    text: str
    editor: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ImportedEdits:
    """What was stored."""

    n_post_editions: int
    n_editors: int
    n_outputs: int


# A post-edition with the output it corrects.
_Work = tuple[SystemOutput, ImportedEdit]


@transaction.atomic
def store_post_editions(
    *,
    campaign: Campaign,
    edits: Iterable[ImportedEdit],
    details: dict[str, Any],
    actor: User | None = None,
) -> ImportedEdits:
    """Store post-editions as those of trusted editors, and close the campaign: it was collected elsewhere.

    Outputs with the same text share their post-editions, so an editor's are stored once.
    Raise `PostEditionsRefused` unless it is a draft for post-editing without HITs.
    """
    # Locked, so that nobody builds HITs meanwhile.
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    _check(locked)
    work = _by_editor(locked, edits)
    origin = Origin(details, locked.name, actor)
    for editor in work:
        if len(origin.external_id(editor)) > MAX_NAME_LENGTH:
            raise PostEditionsRefused(
                f"The editor's name {editor!r}, after that of the campaign, is longer than {MAX_NAME_LENGTH} characters."
            )
    workers = store_workers(list(work), origin)
    n_stored, number = 0, 0
    for editor, rows in work.items():
        for first in range(0, len(rows), MAX_ITEMS):
            number += 1
            chunk = rows[first : first + MAX_ITEMS]
            _store_hit(locked, number, workers[editor], chunk)
            n_stored += len(chunk)
    decision = Decision(Participation.Decision.REINSTATED, REASON)
    participations = store_participations(locked, workers, dict.fromkeys(workers, decision))
    locked.is_archive, locked.status = True, Campaign.Status.CLOSED
    locked.save(update_fields=["is_archive", "status"])
    campaign.is_archive, campaign.status = True, Campaign.Status.CLOSED
    record_import(locked, participations, origin)
    n_outputs = len({output.translation_id for rows in work.values() for output, _ in rows})
    return ImportedEdits(n_stored, len(work), n_outputs)


def can_take_post_editions(campaign: Campaign) -> bool:
    """Whether post-editions can be imported: a draft for post-editing that has no HITs."""
    is_draft = campaign.task == Campaign.Task.EDIT and campaign.status == Campaign.Status.DRAFT
    return is_draft and not campaign.hits.exists()


def _check(campaign: Campaign) -> None:
    if campaign.task != Campaign.Task.EDIT:
        raise PostEditionsRefused(
            f"{campaign} is not for post-editing. Create a campaign for post-editing with the same texts, "
            "and import the post-editions there."
        )
    if not can_take_post_editions(campaign):
        raise PostEditionsRefused(
            f"{campaign} is {campaign.get_status_display().lower()} or has HITs. Post-editions can be imported into a "
            "draft without HITs."
        )


def _by_editor(campaign: Campaign, edits: Iterable[ImportedEdit]) -> dict[str, list[_Work]]:
    """Return each editor's post-editions in the order of the segments, each text of an output once."""
    outputs = {
        (output.system.name, output.segment.name): output
        for output in SystemOutput.objects.filter(system__campaign=campaign).select_related(
            "system", "segment", "translation"
        )
    }
    work: defaultdict[str, list[_Work]] = defaultdict(list)
    seen: set[tuple[str, int, str]] = set()
    for edit in edits:
        output = outputs.get((edit.system, edit.segment))
        if output is None:
            raise PostEditionsRefused(
                f"{campaign} has no output of {edit.system} for {edit.segment}."
            )
        editor = edit.editor or UNNAMED
        key = editor, output.translation_id, edit.text
        if key not in seen:
            seen.add(key)
            work[editor].append((output, edit))
    if not work:
        raise PostEditionsRefused("There are no post-editions.")
    for rows in work.values():
        rows.sort(key=lambda row: (row[0].segment.position, row[0].pk))
    return dict(work)


def _store_hit(campaign: Campaign, number: int, worker: Worker, rows: Sequence[_Work]) -> None:
    """Store one HIT with an editor's work. Nobody knows when it was done: it begins in 1970."""
    hit = HIT.objects.create(
        campaign=campaign, number=number, size=len(rows), places_left=0, is_archived=True
    )
    items = Item.objects.bulk_create(
        (
            Item(
                hit=hit,
                position=position,
                screen=position,
                role=Role.GENUINE.value,
                translation_id=output.translation_id,
                text=output.translation.text,
                is_archived=True,
            )
            for position, (output, _) in enumerate(rows, start=1)
        ),
        batch_size=RATINGS_PER_BATCH,
    )
    times = _times(rows)
    archived = ArchivedAssignment(number, str(worker.pk), times[0], times[-1], [])
    assignment = imported_assignment(archived, hit, worker, evidence_at=times[-1])
    assignment.save(force_insert=True)
    PostEdition.objects.bulk_create(
        (
            _post_edition(assignment, item, edit, received_at)
            for item, (_, edit), received_at in zip(items, rows, times[1:], strict=True)
        ),
        batch_size=RATINGS_PER_BATCH,
    )


def _times(rows: Sequence[_Work]) -> list[datetime]:
    times = [datetime(1970, 1, 1, tzinfo=UTC)]
    for _, edit in rows:
        times.append(times[-1] + timedelta(seconds=edit.seconds or 0))
    return times


def _post_edition(
    assignment: Assignment, item: Item, edit: ImportedEdit, received_at: datetime
) -> PostEdition:
    return PostEdition(
        assignment=assignment,
        item=item,
        received_at=received_at,
        text=edit.text,
        field_ms=None if edit.seconds is None else round(1000 * edit.seconds),
    )
