"""Reading the scores of a screen."""

from typing import Any

from ..exceptions import AnswerNotUnderstood
from ..models import SCORE_MAX, SCORE_MIN
from ..rating.forms import ScreenForm, first_error, numbers_by_code
from ..task_kinds import Sent

SCORES = range(SCORE_MIN, SCORE_MAX + 1)


def read_scores(sent: Sent) -> dict[str, Any]:
    """Return the scores of a screen as `save_screen` takes them, or raise `AnswerNotUnderstood`."""
    form = ScreenForm(sent)
    if not form.is_valid():
        raise AnswerNotUnderstood(first_error(form))
    scores = numbers_by_code(sent, "score", SCORES)
    if not scores:
        raise AnswerNotUnderstood("Score every text.")
    return dict(form.cleaned_data) | {"scores": scores}
