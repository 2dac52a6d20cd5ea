"""Reading the answer to a ranking screen."""

from typing import Any

from django import forms

from ..exceptions import AnswerNotUnderstood
from ..models import MOST_OUTPUTS, Rank
from ..rating.forms import ScreenForm, first_error, has_number_by_code, numbers_by_code
from ..task_kinds import Sent

RANKS = range(1, MOST_OUTPUTS + 1)


class RankingForm(ScreenForm):
    skip = forms.ChoiceField(choices=[("", ""), *Rank.Skip.choices], required=False)


def read_ranking(sent: Sent) -> dict[str, Any]:
    """Return a ranking as `save_ranking` takes it, or raise `AnswerNotUnderstood`."""
    form = RankingForm(sent)
    if not form.is_valid():
        raise AnswerNotUnderstood(first_error(form))
    answer = dict(form.cleaned_data)
    ranks = {} if answer["skip"] else numbers_by_code(sent, "rank", RANKS)
    if not ranks and not answer["skip"]:
        raise AnswerNotUnderstood("Give every text a rank.")
    return answer | {"ranks": ranks}


def is_unranked(sent: Sent) -> bool:
    """Whether a plain form was sent with no rank at all, and without a reason to skip."""
    return not sent.get("skip") and not has_number_by_code(sent, "rank")
