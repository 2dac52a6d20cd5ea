"""Who may see which evaluations and collections."""

from django.db.models import Count, Q, QuerySet

from hits.access import Level, Visitor, campaigns_of, has_level
from hits.models import Campaign

from ..models import Evaluation, ScoreCollection


def visible_collections(user: Visitor) -> QuerySet[ScoreCollection]:
    """What a person brought along; researchers of the whole platform see everybody's."""
    collections = ScoreCollection.objects.select_related("owner")
    if has_level(user, Level.RESEARCHER):
        return collections
    return collections.filter(owner=user.pk) if user.pk else collections.none()


def visible_evaluations(user: Visitor) -> QuerySet[Evaluation]:
    """Evaluations of campaigns that a person has a part in, and of what they brought along.

    One of pooled campaigns is for those who have a part in all of them.
    """
    evaluations = Evaluation.objects.select_related("campaign", "collection", "created_by")
    if has_level(user, Level.RESEARCHER):
        return evaluations
    own = campaigns_of(user)
    foreign = Campaign.objects.exclude(pk__in=own)
    pooled = (
        Evaluation.objects.filter(campaign=None, collection=None)
        .annotate(n_pooled=Count("pooled"))
        .filter(n_pooled__gte=2)
        .exclude(pooled__in=foreign)
    )
    return evaluations.filter(
        Q(campaign__in=own)
        | Q(collection__in=visible_collections(user))
        | Q(pk__in=pooled.values("pk"))
    )
