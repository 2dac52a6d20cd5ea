"""Take over decisions about workers from where the ratings were collected.

A published file often holds only part of a worker's ratings, and that part may fail the test that the whole
passed. Original decisions are stored with a reason, next to our own evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from da_platform.files.problems import Problems
from da_platform.files.reading import printable

from ..models import Participation
from .reading import file_name, read_lines
from .records import ArchivedAssignment

RELIABLE_THERE = "Judged reliable where the ratings were collected."
NOT_RELIABLE_THERE = "Not among the workers judged reliable where the ratings were collected."
REJECTED_THERE = "Work was rejected where the ratings were collected."

# How many unknown names a note lists.
N_NAMED = 5


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was decided elsewhere. By default nothing was, and the evidence decides.

    `trusts_all`: every worker in the files was judged reliable. `trusted`: a file of the workers
    who were, one per line, with the name first; all other workers are excluded.
    `excludes_rejected`: exclude workers with a rejected assignment, unless the file names them.
    `reason` is put before the standard reason.
    """

    trusts_all: bool = False
    trusted: Path | None = None
    excludes_rejected: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """A value for `Participation.decision`, with its reason."""

    decision: str
    reason: str


Decisions = dict[str, Decision]


class Judged(Protocol):
    """A collection whose workers were judged elsewhere."""

    notes: list[str]

    @property
    def workers(self) -> list[str]: ...

    @property
    def assignments(self) -> Sequence[ArchivedAssignment]: ...


def decide(collection: Judged, judgement: Judgement, problems: Problems) -> Decisions:
    """Return the decisions by worker. Workers without one are judged by the evidence."""
    if judgement.trusts_all and judgement.trusted:
        problems.add("", None, "trust either all workers or those in a file, not both")
        return {}
    decisions: Decisions = {}
    workers = collection.workers
    if judgement.excludes_rejected:
        rejected = {work.worker for work in collection.assignments if work.is_rejected}
        decisions |= {name: _exclusion(REJECTED_THERE, judgement) for name in sorted(rejected)}
    if judgement.trusts_all:
        named = set(workers) - decisions.keys()
        decisions |= {name: _reinstatement(judgement) for name in sorted(named)}
    if judgement.trusted:
        lines = read_lines(judgement.trusted, problems)
        in_file = {line.split()[0] for _, line in lines if line.strip()}
        named = in_file & set(workers)
        if not named:
            problems.add(
                file_name(judgement.trusted), None, "names none of the workers in this collection"
            )
        elif unknown := in_file - named:
            collection.notes.append(_note_on(unknown, judgement.trusted))
        unnamed = set(workers) - named - decisions.keys()
        decisions |= {name: _reinstatement(judgement) for name in sorted(named)}
        decisions |= {name: _exclusion(NOT_RELIABLE_THERE, judgement) for name in sorted(unnamed)}
    return decisions


def _note_on(unknown: set[str], path: Path) -> str:
    """List names that are not in the collection: it may be incomplete, or a name misspelt."""
    some = sorted(unknown)[:N_NAMED]
    named = ", ".join(map(printable, some)) + (", …" if len(unknown) > N_NAMED else "")
    return (
        f"{file_name(path)} names workers who are not in the collection: "
        f"{named} ({len(unknown):,} in all)"
    )


def _reinstatement(judgement: Judgement) -> Decision:
    return Decision(Participation.Decision.REINSTATED, _reason(judgement, RELIABLE_THERE))


def _exclusion(reason: str, judgement: Judgement) -> Decision:
    return Decision(Participation.Decision.EXCLUDED, _reason(judgement, reason))


def _reason(judgement: Judgement, standard: str) -> str:
    return f"{judgement.reason.strip()} {standard}".strip()
