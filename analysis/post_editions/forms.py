"""Forms about post-editions: importing them, and using them as references."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet

from hits.models import Campaign
from hits.people.access import campaigns_of


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


class OwnReferencesForm(forms.Form):
    """A new campaign that rates each output against its own reference."""

    prefix = "own"

    name = forms.CharField(max_length=100, label="Name of the new campaign")
    upload = forms.FileField(
        required=False,
        label="References",
        help_text="A table with the columns system, segment and reference (or post_edition), one row for each output "
        "that is to be rated.",
    )
    post_editions_of = forms.ModelChoiceField(
        Campaign.objects.none(),
        required=False,
        to_field_name="code",
        empty_label="None: use the file",
        label="Or the post-editions of",
        help_text="Those that trusted editors made of the same outputs.",
    )

    def __init__(self, campaign: Campaign, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        edited = related_campaigns(campaign, user).filter(task=Campaign.Task.EDIT)
        _offer(self, "post_editions_of", edited)

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
