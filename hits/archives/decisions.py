"""Workers who were judged where the ratings were collected.

A published file often holds a part of what a worker did there: the test on that part may fail one who passed
on the whole. What was decided then is taken over as a decision, with its reason, and the evidence is kept.
"""

from dataclasses import dataclass
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import printable

from ..models import Participation
from .reading import read_lines, shown
from .records import Collection

RELIABLE_THERE = "Judged reliable where the ratings were collected."
NOT_RELIABLE_THERE = "Not among the workers judged reliable where the ratings were collected."
REJECTED_THERE = "Work was rejected where the ratings were collected."

# How many of the names that are not in the collection a note spells out.
N_NAMED = 5


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was decided elsewhere; by default nothing, and the evidence decides.

    `trusts_all`: every worker in the files was judged reliable. `trusted`: a file that names those
    who were, one a line, whatever stands after the name; all others are excluded.
    `excludes_rejected`: so are workers with a rejected assignment, unless the file names them.
    `reason` goes before the usual ones.
    """

    trusts_all: bool = False
    trusted: Path | None = None
    excludes_rejected: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """One for `Participation.decision`."""

    decision: str
    reason: str


Decisions = dict[str, Decision]


def decide(collection: Collection, judgement: Judgement, problems: Problems) -> Decisions:
    """Return the decision about each worker that there is one about; others go by the evidence."""
    if judgement.trusts_all and judgement.trusted:
        problems.add("", None, "trust either all workers or those in a file")
        return {}
    decisions: Decisions = {}
    workers = collection.workers
    if judgement.excludes_rejected:
        rejected = {one.worker for one in collection.assignments if one.is_rejected}
        decisions |= {name: _exclusion(REJECTED_THERE, judgement) for name in sorted(rejected)}
    if judgement.trusts_all:
        named = set(workers) - decisions.keys()
        decisions |= {name: _reinstatement(judgement) for name in sorted(named)}
    if judgement.trusted:
        in_file = _read_names(judgement.trusted, problems)
        named = in_file & set(workers)
        if not named:
            problems.add(
                shown(judgement.trusted), None, "names not one of the workers of this collection"
            )
        elif strangers := in_file - named:
            collection.notes.append(_note_on(strangers, judgement.trusted))
        others = set(workers) - named - decisions.keys()
        decisions |= {name: _reinstatement(judgement) for name in sorted(named)}
        decisions |= {name: _exclusion(NOT_RELIABLE_THERE, judgement) for name in sorted(others)}
    return decisions


def _note_on(strangers: set[str], path: Path) -> str:
    """Say whom a file trusts who is not in the collection: it may be a part, or a slip of the pen."""
    some = sorted(strangers)[:N_NAMED]
    named = ", ".join(map(printable, some)) + (", …" if len(strangers) > N_NAMED else "")
    return (
        f"{shown(path)} names workers who are not in the collection: "
        f"{named} ({len(strangers):,} in all)"
    )


def _read_names(path: Path, problems: Problems) -> set[str]:
    return {line.split()[0] for _, line in read_lines(path, problems) if line.strip()}


def _reinstatement(judgement: Judgement) -> Decision:
    return Decision(Participation.Decision.REINSTATED, _reason(judgement, RELIABLE_THERE))


def _exclusion(reason: str, judgement: Judgement) -> Decision:
    return Decision(Participation.Decision.EXCLUDED, _reason(judgement, reason))


def _reason(judgement: Judgement, usual: str) -> str:
    return f"{judgement.reason.strip()} {usual}".strip()
