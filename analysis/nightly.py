"""Nightly chores: forget inactive workers, delete old records, build gold.

Gold is built for every campaign whose ratings, or trust in workers, have changed since its last run.
"""

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from da_platform.jobs.sweeping import drop_old_details
from da_platform.sessions import drop_expired_sessions
from hits.chores import run_each
from hits.models import Assignment, AuditEntry, Campaign
from hits.recruiting.arrivals import drop_old_events
from hits.workers.forgetting import forget_inactive_workers
from hits.workers.trust import TRUST_ACTIONS

from .models import GoldRun

GOLD = "build_gold"


def do_nightly_chores() -> dict[str, int]:
    """Run all nightly chores, and return how much each of them did."""
    return run_each(
        {
            "n_forgotten": forget_inactive_workers,
            "n_logins_dropped": drop_expired_sessions,
            "n_events_dropped": drop_old_events,
            "n_job_details_dropped": drop_old_details,
            "n_gold_jobs": start_nightly_jobs,
        }
    )


def start_nightly_jobs() -> int:
    """Start a gold job for each campaign that needs one, and return how many."""
    campaigns = list(campaigns_with_news())
    for campaign in campaigns:
        start_job(kind=GOLD, campaign=campaign)
    return len(campaigns)


def campaigns_with_news() -> QuerySet[Campaign]:
    """Return campaigns with ratings or decisions newer than their gold, and no unfinished gold job.

    Closed campaigns are included, as the last ratings often arrive on the day a campaign is closed.
    """
    latest = GoldRun.objects.filter(campaign=OuterRef(OuterRef("pk"))).order_by("-pk")
    built_at = Subquery(latest.values("created_at")[:1])
    submitted = Assignment.objects.submitted().filter(hit__campaign=OuterRef("pk"))
    is_new = Q(submitted_at__gt=built_at) | Q(evidence_at__gt=built_at)
    # Of the audit log, only decisions about workers change the gold.
    decisions = AuditEntry.objects.filter(
        campaign=OuterRef("pk"), at__gt=built_at, action__in=TRUST_ACTIONS
    )
    has_gold = Exists(GoldRun.objects.filter(campaign=OuterRef("pk")))
    unfinished = Job.objects.unfinished().filter(kind=GOLD, campaign=OuterRef("pk"))
    return (
        Campaign.objects.exclude(status=Campaign.Status.DRAFT)
        .filter(
            Exists(submitted.filter(is_new)) | Exists(decisions) | (~has_gold & Exists(submitted))
        )
        .exclude(Exists(unfinished))
    )
