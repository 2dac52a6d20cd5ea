"""Reading the answer to a ranking screen."""

import re
from typing import Any
from uuid import UUID

from django import forms

from ..exceptions import AnswerNotUnderstood
from ..hit_sizes import MAX_HIT_SIZE
from ..models import MOST_OUTPUTS, Rank
from ..rating.forms import MAX_MS, first_error
from ..task_kinds import Sent

RANKS = range(1, MOST_OUTPUTS + 1)
# The field of an output's rank is named by the output's code.
_FIELD = re.compile("rank-([0-9a-f-]{36})", re.ASCII)


class RankingForm(forms.Form):
    position = forms.IntegerField(min_value=1, max_value=MAX_HIT_SIZE)
    skip = forms.ChoiceField(choices=[("", ""), *Rank.Skip.choices], required=False)
    elapsed_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)
    active_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)

    def clean(self) -> None:
        elapsed, active = self.cleaned_data.get("elapsed_ms"), self.cleaned_data.get("active_ms")
        if active is not None and (elapsed is None or active > elapsed):
            self.add_error("active_ms", "Active time cannot exceed elapsed time.")


def read_ranking(sent: Sent) -> dict[str, Any]:
    """Return a ranking as `save_ranking` takes it, or raise `AnswerNotUnderstood`."""
    form = RankingForm(sent)
    if not form.is_valid():
        raise AnswerNotUnderstood(first_error(form))
    answer = dict(form.cleaned_data)
    ranks = {} if answer["skip"] else _read_ranks(sent)
    if not ranks and not answer["skip"]:
        raise AnswerNotUnderstood("Give every text a rank.")
    return answer | {"ranks": ranks}


def _read_ranks(sent: Sent) -> dict[UUID, int]:
    ranks = {}
    for name in sent:
        if match := _FIELD.fullmatch(name):
            rank = sent[name]
            if rank not in map(str, RANKS):
                raise AnswerNotUnderstood(f"A rank is a number from 1 to {RANKS[-1]}.")
            ranks[_code(match[1])] = int(rank)
    return ranks


def _code(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise AnswerNotUnderstood("This is not the code of a text.") from error


def is_unranked(sent: Sent) -> bool:
    """Whether a plain form was sent with no rank at all, and without a reason to skip."""
    return not sent.get("skip") and not any(map(_FIELD.fullmatch, sent))
