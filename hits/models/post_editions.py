"""What editors wrote: post-editions of translations, and which of them somebody else checks."""

from django.db import models

from .assignments import Answer, Assignment
from .hits import Item
from .texts import Translation


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


class EditionToCheck(models.Model):
    """A post-edition that another campaign's workers check, where its text is a translation.

    Post-editions of a segment with the same text share the translation, so that it is checked once.
    """

    translation = models.ForeignKey(Translation, models.CASCADE, related_name="editions")
    # The post-edition. A foreign key cannot refer to its two columns.
    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="editions_to_check")
    item = models.ForeignKey(Item, models.PROTECT, related_name="editions_to_check")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "assignment", "item", "translation", name="edition_is_checked_once_in_a_campaign"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id}/{self.item_id}"
