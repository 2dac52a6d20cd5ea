"""Feedback on practice edits, whose right edit is known."""

from unicodedata import category

from django.utils.translation import gettext

from ..languages import is_spaced
from ..rating.practice import EditedText
from ..task_kinds import Judged
from .changes import n_edits

# An edit with so many more changed words than the right one was a rewriting, whatever it says.
WORDS_BEYOND = 2
# Where words are not spaced, characters are counted.
CHARACTERS_BEYOND = 6


def judge_edit(item: EditedText, text: str) -> Judged:
    """Say whether an edit changed too little, too much, or just what it had to."""
    if _bare(text) == _bare(item.edited):
        if item.is_right:
            return Judged("fine", gettext("Right: nothing has to be changed here."), text)
        return Judged("fine", gettext("Good: you changed only what was wrong."), text)
    if item.is_right:
        feedback = gettext(
            "This text is right already. Leave such a text as it is, even if you would have worded it differently."
        )
        return Judged("too_high", feedback, text)
    spaced = is_spaced(item.language)
    needed = n_edits(item.translation, item.edited, spaced=spaced)
    made = n_edits(item.translation, text, spaced=spaced)
    left = n_edits(text, item.edited, spaced=spaced)
    # Beyond the right edit, if that is on the way from the text shown to this one.
    beyond = WORDS_BEYOND if spaced else CHARACTERS_BEYOND
    if made > needed and (made == needed + left or made >= needed + beyond):
        feedback = gettext("You changed more than necessary. Keep every word that can stay.")
        return Judged("too_high", feedback, text)
    if not made or left < needed:
        feedback = gettext("Something is still wrong here. Read the text again and correct it.")
        return Judged("too_low", feedback, text)
    return Judged("too_low", gettext("Not quite. Compare your text with our correction."), text)


def _bare(text: str) -> str:
    """Return what counts as the same text: without case, punctuation and space."""
    return "".join(letter for letter in text.casefold() if category(letter)[0] not in "PZ")
