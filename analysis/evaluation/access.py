"""Which evaluations and collections a user may see."""

from django.db.models import Count, Q, QuerySet

from hits.models import Campaign
from hits.people.access import Level, Visitor, campaigns_of, has_level

from ..models import Evaluation, ScoreCollection


def visible_collections(user: Visitor) -> QuerySet[ScoreCollection]:
    """Return the user's own collections, or all of them for platform researchers."""
    collections = ScoreCollection.objects.select_related("owner")
    if has_level(user, Level.RESEARCHER):
        return collections
    return collections.filter(owner=user.pk) if user.pk else collections.none()


def visible_evaluations(user: Visitor) -> QuerySet[Evaluation]:
    """Return evaluations of the user's campaigns and collections.

    One of pooled campaigns is visible to members of all of them.
    """
    evaluations = Evaluation.objects.select_related("campaign", "collection", "created_by")
    if has_level(user, Level.RESEARCHER):
        return evaluations
    own_campaigns = campaigns_of(user)
    other_campaigns = Campaign.objects.exclude(pk__in=own_campaigns)
    pooled = (
        Evaluation.objects.filter(campaign=None, collection=None)
        .annotate(n_pooled=Count("pooled"))
        .filter(n_pooled__gte=2)
        .exclude(pooled__in=other_campaigns)
    )
    return evaluations.filter(
        Q(campaign__in=own_campaigns)
        | Q(collection__in=visible_collections(user))
        | Q(pk__in=pooled.values("pk"))
    )
