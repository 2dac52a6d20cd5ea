"""Who sees a job, and who may cancel or retry it."""

from collections.abc import Collection

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q

from da_platform.jobs.kinds import JobRefused, known_kinds
from da_platform.jobs.mending import start_mended
from da_platform.jobs.models import Job, JobQuerySet
from da_platform.jobs.running import request_cancel, restart

from .access import Level, Visitor, campaigns_of, has_level, is_member


def visible_jobs(user: Visitor) -> JobQuerySet:
    """The jobs of campaigns a person belongs to, and jobs without a campaign that they started.

    Someone who has left a campaign sees none of its jobs, not even their own.
    """
    jobs = Job.objects.select_related("campaign", "started_by")
    if has_level(user, Level.ADMIN):
        return jobs
    confidential = [kind.name for kind in known_kinds().values() if kind.is_confidential]
    managed = Q(campaign__in=campaigns_of(user, Level.ADMIN)) | Q(campaign=None, started_by=user.pk)
    shared = Q(campaign__in=campaigns_of(user)) & ~Q(kind__in=confidential)
    if has_level(user, Level.RESEARCHER):
        shared = ~Q(kind__in=confidential)
    return jobs.filter(managed | shared)


def may_change(user: Visitor, job: Job) -> bool:
    """Whether a person may cancel or retry a job they can see: yes, if they may start one like it."""
    kind = known_kinds().get(job.kind)
    needs = Level(kind.needs) if kind else Level.ADMIN
    if job.campaign is None and needs == Level.RESEARCHER and job.started_by_id == user.pk:
        # Every member may start a job without a campaign, and manage their own.
        return is_member(user)
    return has_level(user, needs, job.campaign)


def cancel_job(job: Job, user: User) -> Job:
    _check_may_change(job, user)
    return request_cancel(job, user)


def retry_job(job: Job, user: User) -> Job:
    _check_may_change(job, user)
    if job.arguments.get("real_ids") and not user.is_superuser:
        raise JobRefused("Only a superuser can export workers' real ids again.")
    return restart(job, user)


def mend_job(job: Job, user: User, numbers: Collection[int]) -> Job:
    """Start a job like a failed one with the fixes of these problems, and return the new job."""
    _check_may_change(job, user)
    return start_mended(job, numbers, user)


def _check_may_change(job: Job, user: User) -> None:
    if not may_change(user, job):
        raise PermissionDenied("Only people who may start such a job may do this.")
