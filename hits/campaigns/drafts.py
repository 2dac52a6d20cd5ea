"""Turn an admin's draft into a campaign: small ones at once, large ones in a job."""

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

# Bytes that are imported while the admin waits, in about a second. Larger drafts need a job.
IMPORTED_AT_ONCE = 3_000_000
# Checking takes much less time than storing.
CHECKED_AT_ONCE = 20_000_000


def is_imported_at_once(draft: CampaignDraft) -> bool:
    return draft.n_bytes <= IMPORTED_AT_ONCE


def is_checked_at_once(draft: CampaignDraft) -> bool:
    return draft.n_bytes <= CHECKED_AT_ONCE


def check_draft(draft: CampaignDraft) -> CheckSummary | None:
    """Check the files and summarise them; raise `ImportRefused` if they cannot be imported."""
    return check_campaign(**_arguments(draft)) if draft.files else None


def begin_import(*, draft: CampaignDraft, actor: User) -> None:
    """Import a small draft at once, a large one in a job. A second click does nothing."""
    if campaign_of(draft) or _is_running(draft):
        return
    if is_imported_at_once(draft):
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
    unchanged = CampaignDraft.objects.filter(pk=draft.pk, job_code=draft.job_code)
    if not unchanged.update(job_code=job.code):
        # Another click was faster, and started its own job.
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
    """Import files in one step; return the campaign or, for large files, the job that imports it."""
    draft = CampaignDraft.objects.create(
        owner=actor, basics=basics, options=options, settings=storable(settings)
    )
    try:
        keep_files(draft=draft, uploads=uploads)
        begin_import(draft=draft, actor=actor)
    except ImportRefused:
        discard(draft)
        raise
    if campaign := campaign_of(draft):
        discard(draft)
        return campaign
    assert draft.job_code is not None
    return Job.objects.get(code=draft.job_code)


def storable(settings: dict[str, Any]) -> dict[str, Any]:
    """Convert settings for JSON, without a blank seed: the campaign then draws its own."""
    return {
        name: str(value) if isinstance(value, Decimal) else value
        for name, value in settings.items()
        if value is not None or name != "seed"
    }


def discard(draft: CampaignDraft) -> None:
    drop_files(draft)
    draft.delete()


def campaign_of(draft: CampaignDraft) -> Campaign | None:
    """Return the campaign that was made from this draft, if any."""
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
    return draft.basics | draft.options | draft.settings | {"path": campaign_path(draft)}
