"""From an admin's draft to a campaign: checked at once where that is quick, imported by a job where it is not."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from hits.exceptions import ImportRefused

from ..models import Campaign, CampaignDraft
from ..people.audit import record
from .importing import import_campaign
from .importing.service import CheckSummary, check_campaign
from .uploads import Upload, campaign_path, drop_files, keep_files

# So much is read while the admin waits, in about a second; more by a job.
READ_AT_ONCE = 3_000_000


def is_small(draft: CampaignDraft) -> bool:
    return draft.n_bytes <= READ_AT_ONCE


def check_draft(draft: CampaignDraft) -> CheckSummary | None:
    """Read the files and say what they hold; raise `ImportRefused` if they cannot be imported."""
    return check_campaign(**_arguments(draft)) if draft.files else None


def begin_import(*, draft: CampaignDraft, actor: User) -> None:
    """Import a small draft at once, a large one by a job. Two clicks make one import."""
    if settled(draft) or _is_running(draft):
        return
    if is_small(draft):
        with transaction.atomic():
            summary = import_campaign(**_arguments(draft))
            record("campaign created", actor=actor, campaign=summary.campaign)
        return
    _start_import(draft, actor)


@transaction.atomic
def _start_import(draft: CampaignDraft, actor: User) -> None:
    arguments = _arguments(draft)
    job = start_job(
        kind="import_campaign",
        arguments=arguments | {"path": str(arguments["path"])},
        started_by=actor,
    )
    same = CampaignDraft.objects.filter(pk=draft.pk, job_code=draft.job_code)
    if not same.update(job_code=job.code):
        # Another click was faster: its job it is, and this one's message is never sent.
        transaction.set_rollback(True)
        return
    draft.job_code = job.code


def import_uploads(
    *,
    actor: User,
    basics: dict[str, Any],
    uploads: Iterable[Upload],
    options: dict[str, Any],
    settings: dict[str, Any],
) -> Campaign | Job:
    """Go all the way at once: return the campaign, or for large files the job that imports it.

    Refused files leave nothing behind.
    """
    draft = CampaignDraft.objects.create(
        owner=actor, basics=basics, options=options, settings=storable(settings)
    )
    try:
        keep_files(draft=draft, uploads=uploads)
        begin_import(draft=draft, actor=actor)
    except ImportRefused:
        discard(draft)
        raise
    if campaign := settled(draft):
        discard(draft)
        return campaign
    assert draft.job_code is not None
    return Job.objects.get(code=draft.job_code)


def storable(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings in the words of JSON; what was left out stays as campaigns have it."""
    return {
        name: str(value) if isinstance(value, Decimal) else value
        for name, value in settings.items()
        if value is not None
    }


def discard(draft: CampaignDraft) -> None:
    drop_files(draft)
    draft.delete()


def settled(draft: CampaignDraft) -> Campaign | None:
    """The campaign that was made of a draft."""
    if draft.job_code:
        job = Job.objects.filter(code=draft.job_code, state=Job.State.DONE).first()
        return Campaign.objects.get(code=job.result["campaign"]) if job and job.result else None
    return Campaign.objects.filter(
        name=draft.basics["name"],
        audit_entries__actor=draft.owner_id,
        audit_entries__action="campaign created",
        created_at__gte=draft.created_at,
    ).first()


def _is_running(draft: CampaignDraft) -> bool:
    if draft.job_code is None:
        return False
    return Job.objects.unfinished().filter(code=draft.job_code).exists()


def _arguments(draft: CampaignDraft) -> dict[str, Any]:
    given = draft.basics | draft.options | draft.settings
    return given | {"path": campaign_path(draft)}
