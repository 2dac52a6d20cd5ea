"""Studies at Prolific: created once, published once, and given more places when the campaign needs them."""

import logging
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, Sum
from django.utils import timezone

from da_platform.exceptions import PlatformError

from ..exceptions import NotOffered, ProviderFailed
from ..models import Campaign, Recruitment, Submission
from ..people.audit import record
from ..rating.places import n_affordable
from .arrivals import sync_submissions
from .providers import provider_for
from .providers.prolific import ProlificProvider

logger = logging.getLogger(__name__)

# Webhooks report changes at once; this finds the ones that were lost.
SYNC_EVERY = timedelta(minutes=10)

# Statuses of a study that is not visible yet but will be without further action.
ABOUT_TO_RUN = {"PUBLISHING", "SCHEDULED"}


def _prolific(recruitment: Recruitment) -> ProlificProvider:
    provider = provider_for(recruitment)
    if not isinstance(provider, ProlificProvider):
        raise NotOffered(f"{provider.label} has no studies. Choose Prolific first.")
    return provider


def create_study(*, recruitment: Recruitment, landing_url: str, actor: User | None) -> Recruitment:
    """Create a draft at Prolific. If two are created at once, one is kept and the other deleted."""
    provider = _prolific(recruitment)
    if recruitment.study:
        raise ProviderFailed("There is already a study at Prolific.")
    if not provider.settings:
        raise ProviderFailed("Save the settings for Prolific first.")
    n_places = places_wanted(recruitment)
    if not n_places:
        raise ProviderFailed("There are no open places to offer. Build HITs first.")
    study = provider.api.create_study(
        provider.study_body(landing_url=landing_url, n_places=n_places)
    )["id"]
    if not _store_study(recruitment, study, n_places):
        provider.api.delete_study(study)
        raise ProviderFailed(
            "Someone else created a study or changed the pay at the same moment. Check and try again."
        )
    record(
        "study created", actor=actor, campaign=recruitment.campaign, study=study, n_places=n_places
    )
    recruitment.refresh_from_db()
    return recruitment


@transaction.atomic
def _store_study(recruitment: Recruitment, study: str, n_places: int) -> bool:
    """Store a study, unless there is another one by now or the pay has changed since it was created."""
    before = recruitment.campaign
    # Locked against edits of the campaign: its pay can no longer change.
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=before.pk)
    if (campaign.pay_per_hit, campaign.currency) != (before.pay_per_hit, before.currency):
        return False
    free = Recruitment.objects.filter(pk=recruitment.pk, study="")
    return bool(free.update(study=study, n_places=n_places))


def publish_study(*, recruitment: Recruitment, actor: User | None) -> str:
    """Publish the study at Prolific. Publishing twice has no effect."""
    provider = _prolific(recruitment)
    if not recruitment.study:
        raise ProviderFailed("There is no study yet. Create it first.")
    if recruitment.campaign.status != Campaign.Status.OPEN:
        raise ProviderFailed("The campaign is not open, so nobody could take part. Open it first.")
    status = provider.api.study(recruitment.study)["status"]
    if status == "UNPUBLISHED":
        status = provider.api.publish(recruitment.study)["status"]
        record(
            "study published", actor=actor, campaign=recruitment.campaign, study=recruitment.study
        )
    return str(status)


def places_wanted(recruitment: Recruitment) -> int:
    """How many places the study needs in total: those taken, and those that HITs still offer.

    Someone who has arrived but not taken a HIT will take one of the latter. Prolific itself offers a
    place again if its submission is given up or rejected. Arrivals that Prolific does not know are not
    counted, so that made-up ones cannot buy places.
    """
    campaign = recruitment.campaign
    n_open = campaign.hits.aggregate(n=Sum("places_left"))["n"] or 0
    visits = Submission.objects.filter(recruitment=recruitment, assignment__isnull=False)
    n_taken = visits.holding().vouched_for().count()
    return n_taken + n_affordable(campaign, n_open)


def raise_places(*, recruitment: Recruitment) -> int:
    """Raise the places at Prolific to what the campaign needs now, and return the number.

    The number never decreases.
    """
    provider = _prolific(recruitment)
    n_places = places_wanted(recruitment)
    if not recruitment.study or n_places <= recruitment.n_places:
        return recruitment.n_places
    provider.api.set_places(recruitment.study, n_places)
    # If two requests run at once, the larger number stays.
    Recruitment.objects.filter(pk=recruitment.pk, n_places__lt=n_places).update(n_places=n_places)
    recruitment.refresh_from_db(fields=["n_places"])
    record("places raised", campaign=recruitment.campaign, n_places=n_places)
    return recruitment.n_places


def follow_campaign(*, recruitment: Recruitment) -> bool:
    """Pause or resume the study along with its campaign. Return whether anything was done.

    A closed campaign can be reopened but a stopped study cannot, so studies are never stopped. If
    someone paused the study at Prolific while the campaign was open, it stays paused until the campaign
    is opened again.
    """
    provider, study = _prolific(recruitment), recruitment.study
    is_open = recruitment.campaign.status == Campaign.Status.OPEN
    status = provider.api.study(study)["status"]
    if status in ABOUT_TO_RUN and not is_open:
        # It cannot be paused yet; try again later.
        return False
    deed = ""
    if status == "PAUSED" and is_open:
        provider.api.start(study)
        deed = "study started"
    elif status == "ACTIVE" and not is_open:
        provider.api.pause(study)
        deed = "study paused"
    Recruitment.objects.filter(pk=recruitment.pk).update(is_held=not is_open)
    if deed:
        record(deed, campaign=recruitment.campaign, study=study)
    return bool(deed)


def look_after_studies(*, at: datetime | None = None) -> int:
    """Pause or resume studies with their campaigns; for open ones, raise places and fetch submissions.

    Return how many studies needed any of this.
    """
    now = at or timezone.now()
    studies = Recruitment.objects.with_study().select_related("campaign")
    n_looked_after = 0
    for recruitment in studies.astray() | studies.filter(campaign__status=Campaign.Status.OPEN):
        try:
            n_looked_after += _look_after(recruitment, now)
        except PlatformError:
            # Prolific may be unreachable; the other studies must not wait for it.
            logger.exception("The study of campaign %s was skipped.", recruitment.campaign.code)
    return n_looked_after


def _look_after(recruitment: Recruitment, now: datetime) -> bool:
    is_open = recruitment.campaign.status == Campaign.Status.OPEN
    if is_open == recruitment.is_held and follow_campaign(recruitment=recruitment):
        return True
    if not is_open:
        return False
    # Claimed first, so that only one of several processes asks Prolific.
    is_due = Recruitment.objects.filter(
        Q(synced_at=None) | Q(synced_at__lte=now - SYNC_EVERY), pk=recruitment.pk
    ).update(synced_at=now)
    if is_due:
        sync_submissions(recruitment=recruitment, at=now)
    n_before = recruitment.n_places
    return raise_places(recruitment=recruitment) > n_before or bool(is_due)
