"""What is done every night: inactive workers are forgotten, old traces dropped, and gold is made.

Gold for every campaign whose ratings, or the trust in them, have changed since the last.
"""

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from da_platform.sessions import drop_expired_sessions
from hits.chores import each_by_itself
from hits.models import Assignment, AuditEntry, Campaign
from hits.recruiting.arrivals import drop_old_events
from hits.trust import TRUST_ACTIONS
from hits.workers.forgetting import forget_inactive_workers

from .jobs import drop_old_details, has_kind, start_job
from .models import GoldRun, Job

GOLD = "build_gold"


def do_nightly_chores() -> dict[str, int]:
    """Do all of it, whoever asks for it: the schedule, or a line in a crontab. Say how much that was."""
    return each_by_itself(
        {
            "n_forgotten": forget_inactive_workers,
            "n_logins_dropped": drop_expired_sessions,
            "n_events_dropped": drop_old_events,
            "n_job_details_dropped": drop_old_details,
            "n_gold_jobs": start_nightly_jobs,
        }
    )


def start_nightly_jobs() -> int:
    """Start a gold job where there is something new and none is under way. Return how many."""
    if not has_kind(GOLD):
        return 0
    campaigns = list(campaigns_with_news())
    for campaign in campaigns:
        start_job(kind=GOLD, campaign=campaign)
    return len(campaigns)


def campaigns_with_news() -> QuerySet[Campaign]:
    """Campaigns whose latest gold is older than what it would be made of today.

    Closed ones too: the last ratings of a campaign often come on the day it is closed.
    """
    latest = GoldRun.objects.filter(campaign=OuterRef(OuterRef("pk"))).order_by("-pk")
    made_at = Subquery(latest.values("created_at")[:1])
    submitted = Assignment.objects.submitted().filter(hit__campaign=OuterRef("pk"))
    is_new = Q(submitted_at__gt=made_at) | Q(evidence_at__gt=made_at)
    # Decisions about workers are logged there, among much that changes no gold.
    decisions = AuditEntry.objects.filter(
        campaign=OuterRef("pk"), at__gt=made_at, action__in=TRUST_ACTIONS
    )
    has_gold = Exists(GoldRun.objects.filter(campaign=OuterRef("pk")))
    under_way = Job.objects.unfinished().filter(kind=GOLD, campaign=OuterRef("pk"))
    return (
        Campaign.objects.exclude(status=Campaign.Status.DRAFT)
        .filter(
            Exists(submitted.filter(is_new)) | Exists(decisions) | (~has_gold & Exists(submitted))
        )
        .exclude(Exists(under_way))
    )
