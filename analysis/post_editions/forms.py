"""Forms about post-editions: importing them, computing from them, checking them, and using them as references."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet

from hits.models import Campaign
from hits.people.access import campaigns_of

from ..metrics import METRIC_NAMES, TOKENISERS


class ImportForm(forms.Form):
    """A file of post-editions that were made elsewhere."""

    upload = forms.FileField(
        label="Post-editions",
        help_text="A table (TSV, CSV or JSONL) with the columns system, segment and post_edition; editor and seconds are "
        "optional. Or, with a system chosen below, a text file with one post-edition per line.",
    )
    system = forms.ChoiceField(
        required=False,
        label="System",
        help_text="For a text file without columns, with one line for each segment: the system whose outputs were edited.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = campaign.systems.order_by("name").values_list("name", flat=True)
        self.fields["system"].choices = [  # type: ignore[attr-defined]
            ("", "The file names systems"),
            *((name, name) for name in names),
        ]


def _campaign_field(**settings: Any) -> forms.ModelChoiceField:
    return forms.ModelChoiceField(
        Campaign.objects.none(), required=False, to_field_name="code", **settings
    )


class _EditedElsewhere(forms.Form):
    """Takes the post-editions of another campaign: one for post-editing into the same language, which the person may see."""

    def __init__(self, campaign: Campaign, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        edited = related_campaigns(campaign, user).filter(task=Campaign.Task.EDIT)
        _offer(self, "post_editions_of", edited)


class PostEditionsForm(_EditedElsewhere):
    """Post-editions, from a file or as collected, and what is computed from them."""

    prefix = "edited"

    upload = forms.FileField(
        required=False,
        label="Post-editions",
        help_text="Leave it empty to use those that trusted editors made. Otherwise a table (TSV, CSV or JSONL) with the "
        "columns system, segment and post_edition, or an export of post-editions. With a column editor, an output may "
        "have several; with a column seconds, times are stored too.",
    )
    post_editions_of = _campaign_field(
        empty_label="This campaign",
        label="Or those made in",
        help_text="A campaign for post-editing with outputs of the same systems, segments and texts.",
    )
    use = forms.ChoiceField(
        choices=[
            ("gold", "Gold: metrics are evaluated against it"),
            ("metric", "Metrics: they are evaluated"),
        ],
        initial="gold",
        widget=forms.RadioSelect,
        label="Use the scores as",
    )
    names = forms.MultipleChoiceField(
        choices=[(name, f"H{name}") for name in METRIC_NAMES],
        initial=["TER"],
        widget=forms.CheckboxSelectMultiple,
        label="Human-targeted metrics",
    )
    tokenise = forms.ChoiceField(
        choices=[("", "By language"), *((name, name) for name in TOKENISERS)],
        required=False,
        label="Tokeniser",
    )
    ignore_case = forms.BooleanField(required=False, initial=True, label="Ignore case")
    cap = forms.BooleanField(
        required=False,
        initial=True,
        label="Count error rates above 1 as 1",
        help_text="Both are usual at WMT's quality estimation tasks.",
    )
    as_edited = forms.BooleanField(
        required=False,
        label="As their editors left them",
        help_text="Otherwise, post-editions that were checked are used as the checker left them.",
    )
    partial = forms.BooleanField(
        required=False,
        label="Metrics of some outputs will do",
        help_text="Otherwise, metrics need a post-edition of every output. Gold never does.",
    )

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("upload") and self.cleaned_data.get("post_editions_of"):
            raise forms.ValidationError("Give either a file or a campaign with post-editions.")
        return self.cleaned_data

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `compute_targeted` besides the campaign and the file."""
        chosen = self.cleaned_data
        return {
            "names": chosen["names"],
            "use": chosen["use"],
            "tokenise": chosen["tokenise"] or None,
            "ignore_case": chosen["ignore_case"],
            "cap": chosen["cap"],
            "as_edited": chosen["as_edited"],
            "partial": chosen["partial"],
        }


class CheckForm(forms.Form):
    """A new campaign in which other workers check the post-editions."""

    prefix = "check"

    name = forms.CharField(max_length=100, label="Name of the new campaign")
    shows = forms.ChoiceField(
        choices=Campaign.Shows.choices,
        initial=Campaign.Shows.NOTHING,
        label="What checkers see next to a text",
        help_text="With nothing, they check whether it reads well, and need to know only its language.",
    )
    asks_native = forms.BooleanField(
        required=False,
        initial=True,
        label="Ask for their native language",
        help_text="Only those whose native language it is get a HIT. Questions about workers are changed in the settings.",
    )


class OwnReferencesForm(_EditedElsewhere):
    """A new campaign that rates each output against its own reference."""

    prefix = "own"

    name = forms.CharField(max_length=100, label="Name of the new campaign")
    upload = forms.FileField(
        required=False,
        label="References",
        help_text="A table with the columns system, segment and reference (or post_edition), one row for each output "
        "that is to be rated.",
    )
    post_editions_of = _campaign_field(
        empty_label="None: use the file",
        label="Or the post-editions of",
        help_text="Those that trusted editors made of the same outputs.",
    )
    even_from_reference = forms.BooleanField(
        required=False,
        label="Also those made from the reference",
        help_text="They say what the reference says, so ratings against them cannot show reference bias.",
    )

    def clean(self) -> dict[str, Any]:
        chosen = self.cleaned_data
        if bool(chosen.get("upload")) == bool(chosen.get("post_editions_of")):
            raise forms.ValidationError("Give either a file or a campaign with post-editions.")
        return chosen


class BringBackForm(forms.Form):
    """Which campaign's gold is stored as gold of the campaign whose outputs it rated."""

    prefix = "back"

    rated = forms.ModelChoiceField(
        Campaign.objects.none(),
        to_field_name="code",
        label="Campaign with own references",
        help_text="Its newest gold is stored as gold of this campaign.",
    )

    def __init__(self, campaign: Campaign, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with_gold = related_campaigns(campaign, user).filter(gold_runs__isnull=False)
        _offer(self, "rated", with_gold.distinct())


def related_campaigns(campaign: Campaign, user: User) -> QuerySet[Campaign]:
    """The other campaigns into the same language that the person may see."""
    same_language = campaigns_of(user).filter(target_language=campaign.target_language)
    return same_language.exclude(pk=campaign.pk)


def _offer(form: forms.Form, name: str, campaigns: QuerySet[Campaign]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = campaigns
