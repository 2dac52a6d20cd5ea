"""What post-editions say about an editor: whether degraded texts were repaired, and how the edits came about."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from analysis.stats.roles import Role

from ..languages import is_spaced
from ..models import Assignment, Participation, PostEdition
from ..workers.sides import MOST_NOT_EDITED
from ..workers.weighing import weigh_answers
from ..workers.wording import NOT_EDITED
from .arrays import counted_edits
from .changes import share_changed

# An edit was pasted if more than this share of its characters came from outside.
PASTED_SHARE = 0.5
# An edit that equals the reference is a copy if more than this share of the words changed.
COPIED_SHARE = 0.3


class Origin(StrEnum):
    """How the text of an edit came about."""

    TYPED = "typed"
    UNCHANGED = "unchanged"
    EMPTIED = "emptied"
    PASTED = "pasted"
    COPIED = "copied"
    INSERTED = "inserted"


def origin_of(edit: PostEdition, *, spaced: bool) -> Origin:
    """Say how the text of an edit came about; its item and segment must be loaded."""
    shown, reference = edit.item.text, edit.item.translation.segment.reference
    if edit.text == shown.strip():
        return Origin.UNCHANGED
    if not edit.text:
        return Origin.EMPTIED
    if (edit.pasted or 0) > PASTED_SHARE * len(edit.text):
        return Origin.PASTED
    is_copy = edit.text == reference.strip()
    if is_copy and share_changed(shown, edit.text, spaced=spaced) > COPIED_SHARE:
        return Origin.COPIED
    # Without scripts, a browser counts nothing.
    if edit.keys == 0 and edit.pastes == 0:
        return Origin.INSERTED
    return Origin.TYPED


def count_origins(edits: Iterable[PostEdition], *, spaced: bool) -> Counter[Origin]:
    return Counter(origin_of(edit, spaced=spaced) for edit in edits)


def is_not_edited(origins: Counter[Origin]) -> bool:
    """Whether most texts came from elsewhere or nowhere."""
    n_not_edited = sum(n for origin, n in origins.items() if origin in NOT_EDITED)
    return n_not_edited > MOST_NOT_EDITED * origins.total()


def origins_by_assignment(participation: Participation) -> dict[int, Counter[str]]:
    """Count how the texts of each of the editor's counted HITs came about."""
    edits = counted_edits(participation).select_related("item__translation__segment")
    spaced = is_spaced(participation.campaign.target_language)
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for edit in edits:
        counts[edit.assignment_id][origin_of(edit, spaced=spaced).value] += 1
    return dict(counts)


def weigh_edits(participation: Participation) -> dict[str, Any]:
    """Compute the fields of the editor's evidence from the counted post-editions in the campaign."""
    fields = weigh_answers(participation, has_formulas=False)
    origins = sum(origins_by_assignment(participation).values(), Counter[str]())
    fields["details"] = (
        {origin.value: origins[origin.value] for origin in Origin} | _references(participation)
        if origins
        else {}
    )
    return fields


def _references(participation: Participation) -> dict[str, int]:
    """Count the hidden references, which need no change, and those that the editor changed all the same."""
    edits = counted_edits(participation).filter(item__role=Role.REFERENCE.value)
    is_changed = [edit.text != edit.item.text.strip() for edit in edits.select_related("item")]
    return {"n_references": len(is_changed), "n_references_changed": sum(is_changed)}


def reason_to_hold(assignment: Assignment) -> str:
    """Say why a submitted HIT should not count until a person has looked at it, if there is a reason."""
    edits = PostEdition.objects.filter(assignment=assignment)
    spaced = is_spaced(assignment.hit.campaign.target_language)
    origins = count_origins(edits.select_related("item__translation__segment"), spaced=spaced)
    if not is_not_edited(origins):
        return ""
    return f"Most of the {origins.total()} texts were not edited: {faults_in_words(origins)}."


def faults_in_words(origins: Counter[Any]) -> str:
    """Say how many texts were emptied, pasted or copied."""
    return ", ".join(
        f"{origins[Origin(origin)]} {words}"
        for origin, words in NOT_EDITED.items()
        if origins[Origin(origin)]
    )
