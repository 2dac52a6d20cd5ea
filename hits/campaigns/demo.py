"""Create the demo campaign and the first admin of a fresh checkout. Every step can be run twice."""

import secrets
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from da_platform.jobs.models import Job
from hits.campaigns.lifecycle import change_status

from ..models import Campaign, Recruitment

DEMO_NAME = "Demo: German to English"
DRAFT_NAME = "Example: waiting for files"
# The job of `analysis` that makes the other examples.
EXAMPLES_JOB = "make_examples"
# And the one that adds examples of other tasks.
TASK_EXAMPLES_JOB = "make_task_examples"
DEMO_FOLDER = settings.SHIPPED_DIR / "examples" / "demo-de-en" / "campaign"
# What an admin should set in every campaign.
DEMO_SETTINGS: dict[str, Any] = {
    "pay_per_hit": Decimal("2.00"),
    "currency": "EUR",
    "spending_cap": Decimal(400),
    "run_by": "The DA Platform examples",
    "contact": "examples@example.org",
}
# Fixed, so that every demo shows the same HITs.
DEMO_SEED = 2026


def prepare_demo_campaign(*, again: bool = False) -> Campaign | None:
    """Create the demo campaign, or finish it if an earlier start was interrupted.

    Once removed it is made only on request (`again`); the result is None otherwise.
    """
    campaign = Campaign.objects.kept().filter(name=DEMO_NAME).first()
    if campaign is None:
        removed = Campaign.objects.filter(is_example=True).exclude(removed_at=None)
        if not again and removed.exists():
            return None
        campaign = _import_demo()
    if campaign.status == Campaign.Status.DRAFT:
        _open_demo(campaign)
    return campaign


# These run only once, so their imports are local: later starts do not have to wait for them.


@transaction.atomic
def _open_demo(campaign: Campaign) -> None:
    """Build HITs, open the campaign and simulate its first ratings, all in one transaction."""
    from .behaviours import Behaviour
    from .building import build_hits
    from .simulation import simulate_workers

    if not campaign.hits.exists():
        build_hits(campaign=campaign)
    change_status(campaign=campaign, to=Campaign.Status.OPEN)
    # Visitors of the demo only have its address.
    Recruitment.objects.get_or_create(campaign=campaign, defaults={"is_open": True})
    crowd = {Behaviour.HONEST: 4, Behaviour.HARSH: 1, Behaviour.RANDOM: 2}
    simulate_workers(campaign=campaign, crowd=crowd, seed=DEMO_SEED)


def _import_demo() -> Campaign:
    from .importing import import_campaign

    summary = import_campaign(
        path=DEMO_FOLDER,
        name=DEMO_NAME,
        source_language="de",
        target_language="en",
        seed=DEMO_SEED,
        is_example=True,
        **DEMO_SETTINGS,
    )
    return summary.campaign


def start_examples() -> None:
    """Let a job make the other examples in the background, once: the pages need not wait for it."""
    if Job.objects.filter(kind=EXAMPLES_JOB).exists() or not Campaign.objects.examples().exists():
        return
    admin = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if admin:
        from da_platform.jobs.running import start_job

        start_job(kind=EXAMPLES_JOB, started_by=admin)


def make_first_admin() -> tuple[User, str] | None:
    """Create an admin with a random password, unless there already is one; return both."""
    if User.objects.filter(is_superuser=True).exists():
        return None
    password = secrets.token_urlsafe(12)
    return User.objects.create_superuser("admin", password=password), password
