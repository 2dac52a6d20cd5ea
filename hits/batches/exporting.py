"""Write HITs and assignments as a Mechanical Turk batch, and read HITs back.

A row is a HIT or, with results, an assignment. `Input.sys_id_0`, `Input.sid_0`, `Input.tst_0` and `Input.rid_0`
describe the first item, and so on; `Answer.Q1` holds the scores. The format has no columns for texts or for the
time of each rating.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from analysis.stats.roles import Role
from da_platform.files.cells import defuse, join_names, undo_defuse
from da_platform.files.destinations import new_file
from da_platform.files.problems import Problems
from da_platform.files.pseudonyms import Pseudonyms
from hits.exceptions import CannotBuildHITs, ImportRefused

from ..archives.mturk import ANSWERS, COMMENT, LANGUAGES, ROLES
from ..archives.reading import file_name, read_csv
from ..models import Assignment, Campaign, Item, Payment, SystemOutput

# The columns before those of the items.
HEAD = [
    "HITId",
    "HITTypeId",
    "Title",
    "Description",
    "Keywords",
    "Reward",
    "CreationTime",
    "MaxAssignments",
    "RequesterAnnotation",
    "AssignmentDurationInSeconds",
    "AutoApprovalDelayInSeconds",
    "Expiration",
    "NumberOfSimilarHITs",
    "LifetimeInSeconds",
    "AssignmentId",
    "WorkerId",
    "AssignmentStatus",
    "AcceptTime",
    "SubmitTime",
    "AutoApprovalTime",
    "ApprovalTime",
    "RejectionTime",
    "RequesterFeedback",
    "WorkTimeInSeconds",
    "LifetimeApprovalRate",
    "Last30DaysApprovalRate",
    "Last7DaysApprovalRate",
]
KIND = "Input.item"
TAIL = (ANSWERS, COMMENT, "Approve", "Reject")
PARTS = ("sys_id", "sid", "tst", "rid")

TYPES = {role: name for name, role in ROLES.items()}
# The published files' abbreviations of adequacy and fluency.
KINDS: dict[str, str] = {
    Campaign.Task.REFERENCE_ADEQUACY: "ad",
    Campaign.Task.SOURCE_ADEQUACY: "ad",
    Campaign.Task.FLUENCY: "fl",
}


class BatchItem(NamedTuple):
    """An item of a HIT. `systems` names all systems with this translation, joined by `|`."""

    systems: str
    segment: str
    type: str
    rid: str


@dataclass(frozen=True, slots=True)
class BatchHIT:
    name: str
    items: list[BatchItem]


def batch_hits(campaign: Campaign) -> Iterator[BatchHIT]:
    """Yield the campaign's HITs, in order."""
    systems = _systems_by_translation(campaign)
    rows = (
        Item.objects.filter(hit__campaign=campaign)
        .order_by("hit__number", "position")
        .values_list("hit__code", "code", "role", "translation", "translation__segment__name")
    )
    current: BatchHIT | None = None
    for hit, code, role, translation, segment in rows.iterator(chunk_size=2_000):
        if current is None or current.name != str(hit):
            if current:
                yield current
            current = BatchHIT(str(hit), [])
        current.items.append(BatchItem(systems[translation], segment, TYPES[Role(role)], str(code)))
    if current:
        yield current


def _systems_by_translation(campaign: Campaign) -> dict[int, str]:
    names: dict[int, list[str]] = defaultdict(list)
    outputs = SystemOutput.objects.filter(system__campaign=campaign).order_by("system")
    for translation, name in outputs.values_list("translation", "system__name"):
        names[translation].append(name)
    return {translation: join_names(systems) for translation, systems in names.items()}


# Writing -------------------------------------------------------------------------------------


def export_batch(
    *,
    campaign: Campaign,
    path: Path,
    with_results: bool = False,
    real_ids: bool = False,
    force: bool = False,
) -> int:
    """Write the campaign's HITs, or all submitted assignments, and return the number of rows.

    Workers are pseudonymous unless `real_ids` is set.
    """
    if campaign.task not in KINDS:
        raise CannotBuildHITs(
            f"{campaign.name}: a batch for Mechanical Turk can only hold ratings."
        )
    if with_results:
        rows = _result_rows(campaign, real_ids=real_ids)
    else:
        rows = (_row(campaign, hit, {}, {}) for hit in batch_hits(campaign))
    n_rows = 0
    with new_file(path, force=force, is_private=real_ids) as raw:
        file = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header(_n_items(campaign)))
        for row in rows:
            writer.writerow([defuse(cell) for cell in row])
            n_rows += 1
        file.detach()
    return n_rows


def header(n_items: int) -> list[str]:
    places = [f"Input.{part}_{place}" for place in range(n_items) for part in PARTS]
    return [*HEAD, *LANGUAGES, KIND, *places, *TAIL]


def _n_items(campaign: Campaign) -> int:
    sizes = campaign.hits.order_by("-size").values_list("size", flat=True)
    return sizes.first() or 0


def _row(
    campaign: Campaign, hit: BatchHIT, head: dict[str, str], tail: dict[str, str]
) -> list[str]:
    languages = [
        campaign.source_language,
        campaign.target_language,
        KINDS[campaign.task],
    ]
    facts = {
        "HITId": hit.name,
        "Title": campaign.name,
        "Reward": f"${campaign.pay_per_hit:.2f}",
        "MaxAssignments": str(campaign.min_ratings),
        "CreationTime": moment(campaign.created_at),
        "AssignmentDurationInSeconds": str(campaign.lease_minutes * 60),
    } | head
    cells = [cell for item in hit.items for cell in item]
    return [
        *(facts.get(name, "") for name in HEAD),
        *languages,
        *cells,
        *(tail.get(name, "") for name in TAIL),
    ]


def _result_rows(campaign: Campaign, *, real_ids: bool) -> Iterator[list[str]]:
    paid = set(
        Payment.objects.filter(
            run__campaign=campaign, kind="approve", state=Payment.State.SENT
        ).values_list("assignment", flat=True)
    )
    names = Pseudonyms(campaign.code, "worker")
    for hit in batch_hits(campaign):
        work = Assignment.objects.submitted().filter(hit__code=hit.name).select_related("worker")
        for assignment in work.order_by("pk"):
            worker = assignment.worker
            # From provider and id, as in all exports, so that pseudonyms are unique and the same everywhere.
            name = worker.external_id if real_ids else names.name(str(worker))
            yield _result_row(campaign, hit, assignment, name, assignment.pk in paid)


def _result_row(
    campaign: Campaign, hit: BatchHIT, assignment: Assignment, worker: str, is_paid: bool
) -> list[str]:
    assert assignment.submitted_at
    scores = assignment.ratings.order_by("item__position").values_list("item__position", "score")
    answers = (f"{place - 1}_{hit.items[place - 1].rid}_{score}" for place, score in scores)
    # Not negative, even if the clock was set back in between.
    seconds = max(0.0, (assignment.submitted_at - assignment.started_at).total_seconds())
    status = "Rejected" if assignment.is_rejected else "Approved" if is_paid else "Submitted"
    head = {
        "AssignmentId": str(assignment.code),
        "WorkerId": worker,
        "AssignmentStatus": status,
        "AcceptTime": moment(assignment.started_at),
        "SubmitTime": moment(assignment.submitted_at),
        "WorkTimeInSeconds": f"{seconds:.0f}",
    }
    tail = {ANSWERS: "|".join(answers), COMMENT: assignment.comment}
    return _row(campaign, hit, head, tail)


def moment(at: datetime) -> str:
    """Format a time as Mechanical Turk does: Fri Jun 06 18:52:03 GMT 2014."""
    # Not with strftime's %a and %b, which depend on the locale.
    at = at.astimezone(UTC)
    day = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][at.weekday()]
    month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][
        at.month - 1
    ]
    return f"{day} {month} {at:%d %H:%M:%S} GMT {at:%Y}"


# Reading HITs back ---------------------------------------------------------------------------


def read_batch_hits(path: Path) -> list[BatchHIT]:
    """Read the HITs of a batch, or raise `ImportRefused` with all faulty lines."""
    problems = Problems()
    rows = read_csv(path, problems)
    names = next(rows, (1, []))[1]
    n_items = sum(name.startswith("Input.rid_") for name in names)
    if names != header(n_items):
        problems.add(file_name(path), 1, "does not have the columns of a batch of HITs")
    problems.refuse_if_any(ImportRefused)
    first = len(HEAD) + len(LANGUAGES) + 1
    hits = []
    for line, cells in rows:
        if len(cells) != len(names):
            problems.add(
                file_name(path), line, f"has {len(cells)} cells, but there are {len(names)} columns"
            )
            continue
        values = [undo_defuse(cell) for cell in cells]
        items = [
            BatchItem(*values[start : start + len(PARTS)])
            for start in range(first, first + n_items * len(PARTS), len(PARTS))
        ]
        for place, item in enumerate(items):
            if item.type not in ROLES:
                problems.add(
                    file_name(path),
                    line,
                    f"Input.tst_{place} {item.type!r} is not one of {', '.join(ROLES)}",
                )
        hits.append(BatchHIT(values[0], items))
    problems.refuse_if_any(ImportRefused)
    return hits
