"""Two of the platform's tables as plain Django models, because importing the platform's models would load all of it."""

from uuid import uuid4

from django.db import models
from django.utils import timezone


class BareWorker(models.Model):
    code = models.UUIDField(default=uuid4)
    provider = models.CharField(max_length=20)
    external_id = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)
    forgotten_at = models.DateTimeField(null=True)

    class Meta:
        app_label = "bare"
        managed = False
        db_table = "hits_worker"

    def __str__(self) -> str:
        return self.external_id


class BareItem(models.Model):
    hit_id = models.BigIntegerField()
    code = models.UUIDField()
    position = models.PositiveSmallIntegerField()
    role = models.PositiveSmallIntegerField()
    translation_id = models.BigIntegerField()
    text = models.TextField()
    partner_id = models.BigIntegerField(null=True)
    is_archived = models.BooleanField()

    class Meta:
        app_label = "bare"
        managed = False
        db_table = "hits_item"

    def __str__(self) -> str:
        return self.text
