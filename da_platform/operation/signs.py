"""Who has done the schedule's work lately. The schedule asks for a sign twice a minute."""

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from .models import SignOfLife

# The schedule comes by every half minute; a worker that is busy with long jobs may miss some turns.
RECENT = timedelta(minutes=5)
# Workers have a new name on every new machine or container: old names are not worth keeping.
KEPT = timedelta(days=1)


def give_sign(name: str) -> None:
    """Note that this one is alive, and drop the names of those long gone."""
    now = timezone.now()
    SignOfLife.objects.update_or_create(name=name[:100], defaults={"at": now})
    SignOfLife.objects.filter(at__lt=now - KEPT).delete()


def recent_signs() -> QuerySet[SignOfLife]:
    return SignOfLife.objects.filter(at__gte=timezone.now() - RECENT).order_by("-at")
