"""Invite links, and the bare address of a campaign where it is open to anyone."""

from django import forms

from .base import Provider


class LinkForm(forms.Form):
    is_open = forms.BooleanField(
        required=False,
        label="Open link",
        help_text="Anyone with the campaign's address may take part, without an invite link.",
    )


class LinkProvider(Provider):
    """Workers are let in by `hits.recruiting.invites` or by the open link; they leave with their code."""

    name = "link"
    label = "Invite links"
    form_class = LinkForm
