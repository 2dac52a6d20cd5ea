"""What editors wrote: post-editions of translations."""

from django.db import models

from .assignments import Answer


class PostEdition(Answer):
    """One worker's minimal correction of one item's text, with what the browser counted meanwhile.

    How much was changed is not stored: it follows from the texts.
    """

    text = models.TextField(blank=True)
    # Reported by the browser, so only hints.
    field_ms = models.PositiveIntegerField(
        null=True, help_text="In the text field, with the page in view: the post-editing time."
    )
    keys = models.PositiveIntegerField(null=True, help_text="Keys pressed in the text field.")
    pastes = models.PositiveIntegerField(null=True)
    pasted = models.PositiveIntegerField(
        null=True, help_text="Characters pasted that were neither in the text nor above it."
    )
