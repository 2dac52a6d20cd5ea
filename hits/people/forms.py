"""Forms with which superusers manage people."""

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from ..models import Campaign, Membership
from .accounts import Part


class PartForm(forms.Form):
    level = forms.ChoiceField(
        choices=Membership.Level.choices,
        help_text="Researchers see scores, never who the workers are or what they are paid. Admins run campaigns.",
    )
    campaign = forms.ModelChoiceField(
        Campaign.objects.order_by("name"),
        required=False,
        to_field_name="code",
        empty_label="every campaign, including future ones",
        label="Where",
    )

    def part(self) -> Part:
        return Part(self.cleaned_data["level"], self.cleaned_data["campaign"])


class InviteForm(PartForm):
    username = forms.CharField(max_length=150, label="Username")
    email = forms.EmailField(required=False, help_text="For setting a new password.")
    field_order = ["username", "email", "level", "campaign"]

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=username).exists():
            raise ValidationError("This username is already taken.")
        User._meta.get_field("username").clean(username, None)
        return username
