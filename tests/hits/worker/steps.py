"""The steps of a worker, from the landing page to a rating."""

from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.models import Assignment, Campaign, Participation, Worker

JSON = {"Accept": "application/json"}


def enter(client: Client, campaign: Campaign, *, qualified: bool = True) -> Worker:
    """Agree to take part and, by default, qualify."""
    client.post(campaign.get_absolute_url())
    participation = Participation.objects.latest("pk")
    if qualified:
        Participation.objects.filter(pk=participation.pk).update(qualified_at=timezone.now())
    return participation.worker


def take(client: Client, campaign: Campaign) -> Assignment:
    """Take a HIT by opening the page that assigns one."""
    response = client.get(reverse("next_hit", args=[campaign.code]))
    return Assignment.objects.get(code=response.url.split("/")[2])


def page(name: str, *args: object) -> str:
    return reverse(name, args=args)


def post_rating(client: Client, assignment: Assignment, position: int, /, **fields: object) -> Any:
    """Rate the item at a position as the page's script does."""
    item = assignment.hit.items.get(position=position)
    sent = {"position": position, "item": item.code, "score": 50} | fields
    return client.post(page("rate", assignment.code), sent, headers=JSON)
