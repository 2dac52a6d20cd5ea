"""Feedback on practice edits. The texts are those for rating: where the score may be the highest, nothing is wrong."""

from django.utils.translation import gettext

from ..models import SCORE_MAX
from ..rating.practice import PracticeItem
from ..task_kinds import Judged
from .changes import n_edits, share_changed

# Above this share of changed words, an edit of a practice text was a rewriting.
MOST_CHANGED = 0.6


def judge_edit(item: PracticeItem, text: str, *, spaced: bool) -> Judged:
    """Say whether an edit changed too little, too much, or just what it had to."""
    shown = item.translation
    changed = share_changed(shown, text, spaced=spaced)
    if item.high == SCORE_MAX:
        if not changed:
            return Judged("fine", gettext("Right: nothing has to be changed here."), text)
        feedback = gettext(
            "This text is right already. Leave such a text as it is, even if you would have worded it differently."
        )
        return Judged("too_high", feedback, text)
    if not changed or _is_no_closer(item, text, spaced):
        feedback = gettext("Something is still wrong here. Read the text again and correct it.")
        return Judged("too_low", feedback, text)
    if changed > MOST_CHANGED:
        feedback = gettext("You changed more than necessary. Keep every word that can stay.")
        return Judged("too_high", feedback, text)
    return Judged("fine", gettext("Good: you changed only what was wrong."), text)


def _is_no_closer(item: PracticeItem, text: str, spaced: bool) -> bool:
    """Whether the edit is no nearer to the gray text, if both are in one language."""
    if not item.gray_text or not _share_words(item, spaced):
        return False
    before = n_edits(item.translation, item.gray_text, spaced=spaced)
    return n_edits(text, item.gray_text, spaced=spaced) >= before


def _share_words(item: PracticeItem, spaced: bool) -> bool:
    return share_changed(item.translation, item.gray_text, spaced=spaced) < MOST_CHANGED
