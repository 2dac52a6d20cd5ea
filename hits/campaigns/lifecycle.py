"""Open, pause and close campaigns."""

from functools import partial

from django.contrib.auth.models import User
from django.db import transaction

from da_platform.sending import enqueue

from ..exceptions import StatusRefused
from ..models import Campaign, Recruitment
from ..people.audit import record

STATUS_CHANGES = {
    Campaign.Status.DRAFT: {Campaign.Status.OPEN, Campaign.Status.CLOSED},
    Campaign.Status.OPEN: {Campaign.Status.PAUSED, Campaign.Status.CLOSED},
    Campaign.Status.PAUSED: {Campaign.Status.OPEN, Campaign.Status.CLOSED},
    Campaign.Status.CLOSED: {Campaign.Status.OPEN},
}

STATUS_DEEDS = {
    Campaign.Status.OPEN: "opened",
    Campaign.Status.PAUSED: "paused",
    Campaign.Status.CLOSED: "closed",
}


@transaction.atomic
def change_status(*, campaign: Campaign, to: str, actor: User | None = None) -> Campaign:
    """Open, pause or close a campaign. Nothing happens if it already has the status."""
    target = Campaign.Status(to)
    if campaign.status == target:
        return campaign
    if target not in STATUS_CHANGES[Campaign.Status(campaign.status)]:
        raise StatusRefused(
            f"{campaign.name} is {campaign.status} and cannot be {STATUS_DEEDS.get(target, target)}."
        )
    if campaign.is_archive:
        raise StatusRefused(f"{campaign.name} was collected elsewhere and stays closed.")
    if target == Campaign.Status.OPEN and not campaign.hits.exists():
        raise StatusRefused(f"{campaign.name} has no HITs yet. Build them before you open it.")
    changed = Campaign.objects.filter(pk=campaign.pk, status=campaign.status).update(status=target)
    if not changed:
        raise StatusRefused(f"Someone else changed the status of {campaign.name} just now.")
    record(
        f"campaign {STATUS_DEEDS[target]}",
        actor=actor,
        campaign=campaign,
        before=campaign.status,
        after=target,
    )
    campaign.status = target
    if Recruitment.objects.with_study().filter(campaign=campaign).exists():
        # In the background. If the message is lost or Prolific is unreachable, the chores do it later.
        transaction.on_commit(partial(enqueue, "hits.follow_campaign", campaign.pk))
    return campaign
