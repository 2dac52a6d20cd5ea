"""Signs of life of Celery workers and of the schedule."""

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from ..queues import QUEUES
from .models import SignOfLife

# Workers sign every half minute and cron every minute; a busy machine or database may skip a few.
RECENT = timedelta(minutes=5)
# Workers have a new name on every new machine or container, so old names are deleted.
KEPT = timedelta(days=1)


def give_sign(name: str, queues: Iterable[str] = ()) -> None:
    """Record a sign of life for these queues, and drop old names."""
    now = timezone.now()
    SignOfLife.objects.update_or_create(
        name=name[:100], defaults={"at": now, "queues": " ".join(sorted(queues))[:100]}
    )
    SignOfLife.objects.filter(at__lt=now - KEPT).delete()


def recent_signs() -> QuerySet[SignOfLife]:
    return SignOfLife.objects.filter(at__gte=timezone.now() - RECENT).order_by("name")


def workers_by_queue() -> dict[str, list[SignOfLife]]:
    """The workers of each queue with a recent sign of life."""
    signs = list(recent_signs())
    return {queue: [sign for sign in signs if sign.serves(queue)] for queue in QUEUES}


def last_turn() -> SignOfLife | None:
    """When the schedule last ran something, and who runs it."""
    return SignOfLife.objects.filter(queues="").order_by("-at").first()
