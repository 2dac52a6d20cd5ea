"""What workers send, checked before anything else looks at it."""

from django import forms

from .composition import MAX_HIT_SIZE
from .models import SCORE_MAX, SCORE_MIN

# PostgreSQL's integer: what a browser claims beyond it is no time anyone spent.
MAX_MS = 2**31 - 1
MAX_COMMENT_LENGTH = 2_000


class ScoreForm(forms.Form):
    score = forms.IntegerField(min_value=SCORE_MIN, max_value=SCORE_MAX)


class RatingForm(ScoreForm):
    position = forms.IntegerField(min_value=1, max_value=MAX_HIT_SIZE)
    item = forms.UUIDField()
    elapsed_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)
    active_ms = forms.IntegerField(min_value=0, max_value=MAX_MS, required=False)

    def clean(self) -> None:
        elapsed, active = self.cleaned_data.get("elapsed_ms"), self.cleaned_data.get("active_ms")
        if active is not None and (elapsed is None or active > elapsed):
            self.add_error("active_ms", "Nobody looks at an item longer than it is shown.")


class CheckForm(forms.Form):
    answer = forms.IntegerField(min_value=0)


class CommentForm(forms.Form):
    comment = forms.CharField(max_length=MAX_COMMENT_LENGTH, required=False)
