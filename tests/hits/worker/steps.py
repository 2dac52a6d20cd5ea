"""What a worker does on the pages, step by step."""

from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.models import Assignment, Campaign, Participation, Worker

JSON = {"Accept": "application/json"}


def enter(client: Client, campaign: Campaign, *, qualified: bool = True) -> Worker:
    """Agree to take part, and unless told otherwise have the practice done."""
    client.post(campaign.get_absolute_url())
    participation = Participation.objects.latest("pk")
    if qualified:
        Participation.objects.filter(pk=participation.pk).update(qualified_at=timezone.now())
    return participation.worker


def take(client: Client, campaign: Campaign) -> Assignment:
    """Take a HIT by the page that gives one out."""
    response = client.get(reverse("next_hit", args=[campaign.code]))
    return Assignment.objects.get(code=response.url.split("/")[2])


def page(name: str, *args: object) -> str:
    return reverse(name, args=args)


def post_rating(client: Client, assignment: Assignment, position: int, /, **fields: object) -> Any:
    """Send what the page's script sends for the item at a position."""
    item = assignment.hit.items.get(position=position)
    sent = {"position": position, "item": item.code, "score": 50} | fields
    return client.post(page("rate", assignment.code), sent, headers=JSON)
