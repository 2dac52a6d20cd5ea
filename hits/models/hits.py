"""HITs and their items: how translations are shown."""

import uuid
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import F, Q

from analysis.stats.roles import Role

from ..hit_sizes import MAX_HIT_SIZE
from .campaigns import ARCHIVED_HELP, Campaign
from .texts import Translation

if TYPE_CHECKING:
    from .workers import Worker

ROLE_CHOICES = [(role.value, role.name.replace("_", " ").lower()) for role in Role]


class HITQuerySet(models.QuerySet["HIT"]):
    def open(self) -> "HITQuerySet":
        # No join to the campaign: it would put the condition in a subquery, which PostgreSQL does not
        # repeat after waiting for the row, and the last place would be given out twice.
        open_campaigns = Campaign.objects.filter(status=Campaign.Status.OPEN)
        return self.filter(campaign__in=open_campaigns, places_left__gt=0)

    def not_taken_by(self, worker: "Worker") -> "HITQuerySet":
        return self.exclude(assignments__worker=worker)

    def for_worker(self, campaign: Campaign, worker: "Worker") -> "HITQuerySet":
        """HITs of the campaign that this worker may take: not taken before, and without post-editions of their own."""
        hits = self.filter(campaign=campaign).not_taken_by(worker)
        if campaign.checks_id is None:
            return hits
        return hits.exclude(items__translation__editions__assignment__worker=worker)


class HIT(models.Model):
    """An ordered set of items that one worker does in one sitting."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="hits")
    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    number = models.PositiveIntegerField(help_text="Place in the campaign, from 1.")
    size = models.PositiveSmallIntegerField()
    places_left = models.PositiveIntegerField(help_text="Workers who can still take it.")
    part = models.PositiveSmallIntegerField(
        default=1, help_text="With looks: after which of them it was added, from 1."
    )
    is_archived = models.BooleanField(default=False, help_text=ARCHIVED_HELP)

    objects = HITQuerySet.as_manager()

    class Meta:
        ordering = ["campaign", "number"]
        constraints = [
            models.UniqueConstraint("campaign", "number", name="hit_number_is_unique"),
            models.CheckConstraint(name="hit_number_counts_from_1", condition=Q(number__gte=1)),
            models.CheckConstraint(
                name="hit_size_is_possible",
                condition=Q(size__gte=1, size__lte=MAX_HIT_SIZE) | Q(is_archived=True, size__gte=1),
            ),
            models.CheckConstraint(name="hit_part_counts_from_1", condition=Q(part__gte=1)),
            models.CheckConstraint(
                name="hit_places_are_not_negative", condition=Q(places_left__gte=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign} HIT {self.number}"


class Item(models.Model):
    """A place in a HIT: a translation in a role, and the exact text that is shown."""

    Role = Role

    hit = models.ForeignKey(HIT, models.CASCADE, related_name="items")
    code = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    position = models.PositiveSmallIntegerField(help_text="Place in the HIT, from 1.")
    screen = models.PositiveSmallIntegerField(
        help_text="From 1; items with the same number are shown together."
    )
    run = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Items with the same number are segments of one document, shown one after another.",
    )
    role = models.PositiveSmallIntegerField(choices=ROLE_CHOICES)
    translation = models.ForeignKey(Translation, models.RESTRICT, related_name="items")
    text = models.TextField(blank=True)
    partner = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="qc_items",
        help_text="The genuine item whose score this one is compared with.",
    )
    is_archived = models.BooleanField(default=False, help_text=ARCHIVED_HELP)

    class Meta:
        ordering = ["hit", "position"]
        constraints = [
            models.UniqueConstraint("hit", "position", name="item_position_is_unique"),
            models.UniqueConstraint(
                "hit",
                "translation",
                condition=Q(role=Role.GENUINE.value, is_archived=False),
                name="item_is_genuine_once_in_a_hit",
            ),
            models.UniqueConstraint(
                "partner", condition=Q(is_archived=False), name="item_has_one_qc_item"
            ),
            models.CheckConstraint(
                name="item_position_is_in_the_hit",
                condition=Q(position__gte=1, position__lte=MAX_HIT_SIZE)
                | Q(is_archived=True, position__gte=1),
            ),
            models.CheckConstraint(
                name="item_screen_is_in_the_hit",
                condition=Q(screen__gte=1, screen__lte=F("position")),
            ),
            models.CheckConstraint(
                name="item_run_is_in_the_hit",
                condition=Q(run=None) | Q(run__gte=1, run__lte=F("position")),
            ),
            models.CheckConstraint(
                name="item_role_is_known",
                condition=Q(role__in=[value for value, _ in ROLE_CHOICES]),
            ),
            models.CheckConstraint(
                name="item_has_a_partner_unless_genuine",
                condition=Q(role=Role.GENUINE.value, partner=None)
                | (~Q(role=Role.GENUINE.value) & (Q(partner__isnull=False) | Q(is_archived=True))),
            ),
            models.CheckConstraint(
                name="item_is_not_its_own_partner", condition=~Q(partner=F("id"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hit_id}/{self.position}"
