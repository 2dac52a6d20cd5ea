"""Our studies at Prolific: made once, published once, and given more places as the top-up asks for them."""

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

# Webhooks bring news at once; this finds what they lost.
SYNC_EVERY = timedelta(minutes=10)

# A study that is not shown to people yet, and will be without anyone's doing.
ABOUT_TO_RUN = {"PUBLISHING", "SCHEDULED"}


def _prolific(recruitment: Recruitment) -> ProlificProvider:
    provider = provider_for(recruitment)
    if not isinstance(provider, ProlificProvider):
        raise NotOffered(f"{provider.label} has no studies. Choose Prolific first.")
    return provider


def create_study(*, recruitment: Recruitment, landing_url: str, actor: User | None) -> Recruitment:
    """Make a draft at Prolific. Of two made at once one is kept and the other deleted."""
    provider = _prolific(recruitment)
    if recruitment.study:
        raise ProviderFailed("There is a study at Prolific already.")
    if not provider.settings:
        raise ProviderFailed("Save the settings for Prolific first.")
    n_places = places_wanted(recruitment)
    if not n_places:
        raise ProviderFailed("There is no open place to offer. Build HITs first.")
    study = provider.api.create_study(
        provider.study_body(landing_url=landing_url, n_places=n_places)
    )["id"]
    if not _keep(recruitment, study, n_places):
        provider.api.delete_study(study)
        raise ProviderFailed(
            "Someone else made a study, or changed the pay, at the same moment. Look again."
        )
    record(
        "study created", actor=actor, campaign=recruitment.campaign, study=study, n_places=n_places
    )
    recruitment.refresh_from_db()
    return recruitment


@transaction.atomic
def _keep(recruitment: Recruitment, study: str, n_places: int) -> bool:
    """Note a study, unless there is another by now or it was made with a pay that has changed since."""
    known = recruitment.campaign
    # Locked against edits of the campaign: from here on its pay stays.
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=known.pk)
    if (campaign.pay_per_hit, campaign.currency) != (known.pay_per_hit, known.currency):
        return False
    free = Recruitment.objects.filter(pk=recruitment.pk, study="")
    return bool(free.update(study=study, n_places=n_places))


def publish_study(*, recruitment: Recruitment, actor: User | None) -> str:
    """Let Prolific show the study to people. Asking for it twice changes nothing."""
    provider = _prolific(recruitment)
    if not recruitment.study:
        raise ProviderFailed("There is no study yet. Create it first.")
    if recruitment.campaign.status != Campaign.Status.OPEN:
        raise ProviderFailed(
            "The campaign is not open, so people would come in vain. Open it first."
        )
    status = provider.api.study(recruitment.study)["status"]
    if status == "UNPUBLISHED":
        status = provider.api.publish(recruitment.study)["status"]
        record(
            "study published", actor=actor, campaign=recruitment.campaign, study=recruitment.study
        )
    return str(status)


def places_wanted(recruitment: Recruitment) -> int:
    """How many places the study needs in all: those that are taken, and those that HITs offer.

    Someone who has arrived but not yet taken a HIT will take one of the latter. A place that was given
    up or rejected is offered again by Prolific itself. What Prolific does not know of takes up none:
    arrivals that someone made up must not buy places.
    """
    campaign = recruitment.campaign
    n_open = campaign.hits.aggregate(n=Sum("places_left"))["n"] or 0
    visits = Submission.objects.filter(recruitment=recruitment, assignment__isnull=False)
    n_taken = visits.holding().vouched_for().count()
    return n_taken + n_affordable(campaign, n_open)


def raise_places(*, recruitment: Recruitment) -> int:
    """Ask Prolific for as many places as the campaign wants by now, and return the number.

    Places only grow: fewer are never asked for.
    """
    provider = _prolific(recruitment)
    wanted = places_wanted(recruitment)
    if not recruitment.study or wanted <= recruitment.n_places:
        return recruitment.n_places
    provider.api.set_places(recruitment.study, wanted)
    # Two who ask at once: the larger number stays.
    Recruitment.objects.filter(pk=recruitment.pk, n_places__lt=wanted).update(n_places=wanted)
    recruitment.refresh_from_db(fields=["n_places"])
    record("places raised", campaign=recruitment.campaign, n_places=wanted)
    return recruitment.n_places


def follow_campaign(*, recruitment: Recruitment) -> bool:
    """Pause the study of a campaign that lets nobody in, start it with the campaign; return whether either.

    A closed campaign can be opened again, and a study that was stopped cannot: so none is stopped. One
    that people paused at Prolific while the campaign was open stays paused until they open it again.
    """
    provider, study = _prolific(recruitment), recruitment.study
    is_open = recruitment.campaign.status == Campaign.Status.OPEN
    status = provider.api.study(study)["status"]
    if status in ABOUT_TO_RUN and not is_open:
        # It cannot be paused yet: to be asked again.
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
    """Hold studies or let them go on with their campaigns, and for open ones raise places and fetch news.

    Return how many had any of these.
    """
    now = at or timezone.now()
    studies = Recruitment.objects.with_study().select_related("campaign")
    n_looked_after = 0
    for recruitment in studies.astray() | studies.filter(campaign__status=Campaign.Status.OPEN):
        try:
            n_looked_after += _look_after(recruitment, now)
        except PlatformError:
            # Prolific may be out of reach; the others are not to wait for it.
            logger.exception("The study of campaign %s was left.", recruitment.campaign.code)
    return n_looked_after


def _look_after(recruitment: Recruitment, now: datetime) -> bool:
    is_open = recruitment.campaign.status == Campaign.Status.OPEN
    if is_open == recruitment.is_held and follow_campaign(recruitment=recruitment):
        return True
    if not is_open:
        return False
    # Claimed first: of several who do the chores at once, one asks Prolific.
    is_due = Recruitment.objects.filter(
        Q(synced_at=None) | Q(synced_at__lte=now - SYNC_EVERY), pk=recruitment.pk
    ).update(synced_at=now)
    if is_due:
        sync_submissions(recruitment=recruitment, at=now)
    n_before = recruitment.n_places
    return raise_places(recruitment=recruitment) > n_before or bool(is_due)
