"""Invite links, and the campaign's own address if it is open to anyone."""

from django import forms

from .base import Provider


class LinkForm(forms.Form):
    is_open = forms.BooleanField(
        required=False,
        label="Open link",
        help_text="Anyone with the campaign's address may take part, without an invite link.",
    )


class LinkProvider(Provider):
    """Workers come in through `hits.recruiting.invites` or the open link, and leave with their code."""

    name = "link"
    label = "Invite links"
    form_class = LinkForm
