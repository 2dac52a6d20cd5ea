"""How a worker joins a campaign: creating the worker, consent, and the comprehension check."""

from django.db.models import F
from django.utils import timezone

from ..models import (
    Campaign,
    Invite,
    Participation,
    Worker,
)


def find_or_make_worker(*, provider: str, external_id: str) -> Worker:
    return Worker.objects.get_or_create(provider=provider, external_id=external_id)[0]


def take_part(*, campaign: Campaign, worker: Worker, invite: Invite | None = None) -> Participation:
    """Record that the worker has agreed to take part, and by which link. Only the first time counts."""
    return Participation.objects.get_or_create(
        campaign=campaign,
        worker=worker,
        defaults={"consented_at": timezone.now(), "invite": invite},
    )[0]


def answer_check(*, participation: Participation, is_right: bool) -> Participation:
    """Count an answer to the question about the instructions: a right one qualifies, two wrong ones screen out."""
    unqualified = Participation.objects.filter(pk=participation.pk, qualified_at=None)
    unqualified = unqualified.filter(n_check_tries__lt=Participation.MAX_CHECK_TRIES)
    if is_right:
        unqualified.update(qualified_at=timezone.now())
    else:
        unqualified.update(n_check_tries=F("n_check_tries") + 1)
    participation.refresh_from_db()
    return participation
