"""Remove the example campaigns with everything in them. Only the audit log, which nobody can change, keeps their names."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from da_platform.jobs.models import Job
from hits.campaigns.demo import DRAFT_NAME, EXAMPLES_JOB, TASK_EXAMPLES_JOB
from hits.campaigns.drafts import discard
from hits.exceptions import RemovalRefused
from hits.media.storing import delete_media
from hits.models import (
    Answer,
    Assignment,
    Campaign,
    CampaignDraft,
    Evidence,
    Payment,
    PaymentRun,
    PayRule,
    Submission,
    TextReport,
)
from hits.people.audit import record

from ..models import Experiment

EXAMPLES_REMOVED = "examples removed"
EXPERIMENT_NAME = "Example: do tests agree with people?"


def remove_examples(*, actor: User) -> int:
    """Remove all example campaigns and drafts; return how many. A second call finds nothing."""
    if Job.objects.unfinished().filter(kind__in=[EXAMPLES_JOB, TASK_EXAMPLES_JOB]).exists():
        raise RemovalRefused("The examples are still being made. Try again in a few seconds.")
    campaigns = list(Campaign.objects.examples())
    # Somebody may have gone on with the draft, as the checklist suggests. Their files are no example.
    drafts = list(CampaignDraft.objects.filter(basics__name=DRAFT_NAME, files=[]))
    if not campaigns and not drafts:
        return 0
    with transaction.atomic():
        for campaign in campaigns:
            remove_campaign(campaign)
        Experiment.objects.filter(name=EXPERIMENT_NAME).delete()
        record(EXAMPLES_REMOVED, actor=actor, campaigns=[campaign.name for campaign in campaigns])
    for draft in drafts:
        discard(draft)
    return len(campaigns) + len(drafts)


@transaction.atomic
def remove_campaign(campaign: Campaign) -> None:
    """Delete everything in an example campaign and hide what the audit log refers to: its row and its workers."""
    assert campaign.is_example
    campaign.jobs.all().delete()
    for analysed in (
        campaign.evaluations,
        campaign.metrics,
        campaign.gold_uploads,
        campaign.gold_runs,
        campaign.looks,
    ):
        analysed.all().delete()
    campaign.pooled_evaluations.all().delete()
    Payment.objects.filter(run__campaign=campaign).delete()
    PaymentRun.objects.filter(campaign=campaign).delete()
    PayRule.objects.filter(campaign=campaign).delete()
    Submission.objects.filter(recruitment__campaign=campaign).delete()
    work = Assignment.objects.filter(hit__campaign=campaign)
    tables: list[type[Model]] = [*Answer.__subclasses__(), TextReport, Evidence]
    for table in tables:
        table._default_manager.filter(assignment__in=work).delete()
    work.delete()
    for rows in (
        campaign.participations,
        campaign.device_sightings,
        campaign.invites,
        campaign.hits,
        campaign.segments,
        campaign.systems,
        campaign.memberships,
    ):
        rows.all().delete()
    delete_media(campaign)
    for name in ("recruitment", "kept_counts"):
        if row := getattr(campaign, name, None):
            row.delete()
    # The name is free again.
    campaign.name = f"{campaign.name[:70]} (removed {campaign.code.hex[:8]})"
    campaign.status, campaign.removed_at = Campaign.Status.CLOSED, timezone.now()
    campaign.save(update_fields=["name", "status", "removed_at"])
