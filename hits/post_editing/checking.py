"""The second step of post-editing: other workers, native speakers, check post-editions and may correct them.

It is a campaign for post-editing like any other, whose translations are the post-editions. What is different: nobody gets
a HIT with a text of their own, and the guideline says that somebody has corrected the texts already.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from ..campaigns.derived import import_rows, settings_in_common
from ..exceptions import CannotCheck
from ..models import Campaign, EditionToCheck, SystemOutput
from ..questionnaires.questions import native_language_question
from .arrays import EditedOutput, load_edited_outputs
from .checked import Edition, checks_of


@dataclass(frozen=True, slots=True)
class EditionsToCheck:
    """The new campaign, and how many post-editions with how many different texts it checks.

    `n_left_out` counts those that editors emptied: there is nothing to read.
    """

    campaign: Campaign
    n_post_editions: int
    n_texts: int
    n_left_out: int

    @property
    def in_words(self) -> str:
        """What there is to check, as a sentence."""
        left_out = f" Left out: {self.n_left_out:,} that were emptied." if self.n_left_out else ""
        return f"{self.n_post_editions:,} post-editions with {self.n_texts:,} different texts.{left_out}"


@transaction.atomic
def check_post_editions(
    *,
    campaign: Campaign,
    name: str,
    shows: str = Campaign.Shows.NOTHING,
    asks_native: bool = True,
    actor: User | None = None,
) -> EditionsToCheck:
    """Create a draft in which other workers check the post-editions by trusted editors.

    Parameters
    ----------
    campaign : Campaign
    name : str
        Of the new campaign.
    shows : Campaign.Shows
        What checkers see next to a text. By default nothing: they judge whether it reads well.
    asks_native : bool
        Ask for the native language before the task, and let only native speakers go on.
    actor : User, optional

    Returns
    -------
    EditionsToCheck

    Raises
    ------
    CannotCheck
        If there is nothing to check. Post-editions that are in a check already are left out, unless it was closed before
        anybody got to them.
    ImportRefused
        If the name is taken, or texts that should be shown are missing.
    """
    if campaign.task != Campaign.Task.EDIT:
        raise CannotCheck(f"{campaign} is not for post-editing.")
    # Locked, so that two checks created at once do not share post-editions.
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    taken = _in_a_check(locked)
    edits = [
        edit
        for edit in load_edited_outputs(locked, trusted_only=True)
        if (edit.assignment, edit.item) not in taken
    ]
    chosen = [edit for edit in edits if edit.text]
    if not chosen:
        raise CannotCheck(
            f"{campaign} has no post-editions by trusted editors that are not in a check already."
        )
    rows = [(system, edit) for edit, systems in _with_systems(chosen) for system in systems]
    check = import_rows(
        (_row(system, edit) for system, edit in rows),
        like=locked,
        name=name,
        actor=actor,
        recorded={"post_editions_of": locked.name},
        task=Campaign.Task.EDIT,
        shows=shows,
        **settings_in_common(locked),
    )
    check.checks = locked
    if asks_native:
        check.questionnaire = native_language_question(check.target_language)
    check.save(update_fields=["checks", "questionnaire"])
    _link(check, rows)
    n_texts = EditionToCheck.objects.filter(translation__segment__campaign=check)
    return EditionsToCheck(
        check,
        len(chosen),
        n_texts.values("translation").distinct().count(),
        len(edits) - len(chosen),
    )


def _in_a_check(campaign: Campaign) -> set[Edition]:
    """Return the post-editions that were checked or will be."""
    links = EditionToCheck.objects.filter(translation__segment__campaign__checks=campaign)
    ahead = links.exclude(translation__segment__campaign__status=Campaign.Status.CLOSED)
    return {*ahead.values_list("assignment_id", "item_id"), *checks_of(campaign)}


def _with_systems(edits: Iterable[EditedOutput]) -> Iterator[tuple[EditedOutput, list[str]]]:
    """Name a post-edition after the systems whose output it corrects; the second one of an output with its number."""
    numbers: Counter[int] = Counter()
    for edit in edits:
        numbers[edit.translation] += 1
        number = numbers[edit.translation]
        yield edit, [name if number == 1 else f"{name} ({number})" for name in edit.systems]


def _row(system: str, edit: EditedOutput) -> dict[str, str]:
    return {
        "segment": edit.segment,
        "system": system,
        "translation": edit.text,
        "source": edit.source,
        "reference": edit.reference,
        "document": edit.document,
    }


def _link(check: Campaign, rows: Iterable[tuple[str, EditedOutput]]) -> None:
    outputs = SystemOutput.objects.filter(system__campaign=check)
    translations = {
        (system, segment): translation
        for system, segment, translation in outputs.values_list(
            "system__name", "segment__name", "translation"
        )
    }
    # Several systems with one text share its post-edition, and that its translation here.
    links = {
        (edit.assignment, edit.item): translations[system, edit.segment] for system, edit in rows
    }
    EditionToCheck.objects.bulk_create(
        (
            EditionToCheck(assignment_id=assignment, item_id=item, translation_id=translation)
            for (assignment, item), translation in links.items()
        ),
        batch_size=1_000,
    )
