"""What a worker's browser gets to rank: the outputs of a screen in an order of its own for each worker."""

import random
from collections.abc import Sequence
from itertools import groupby
from typing import TypeVar

from ..media.serving import media_fields, shows_media
from ..models import Assignment, Campaign, Item
from ..task_kinds import ShownItem

T = TypeVar("T")


def order_shown(assignment: Assignment, screen: int, outputs: Sequence[T]) -> list[T]:
    """Return the outputs, given by position, in the order in which this worker sees them.

    The order depends only on the random code of the assignment, so that a reload does not change it.
    """
    shuffled = list(outputs)
    random.Random(f"{assignment.code}/{screen}").shuffle(shuffled)
    return shuffled


def shown_screens(assignment: Assignment, *, first: int, last: int) -> list[ShownItem]:
    """Return these screens as the browser gets them: texts and random codes."""
    campaign = assignment.hit.campaign
    items = (
        Item.objects.filter(hit=assignment.hit_id, screen__gte=first, screen__lte=last)
        .select_related("translation__segment__media")
        .order_by("position")
    )
    return [
        _as_shown(assignment, campaign, screen, list(outputs))
        for screen, outputs in groupby(items, key=lambda item: item.screen)
    ]


def _as_shown(
    assignment: Assignment, campaign: Campaign, screen: int, items: list[Item]
) -> ShownItem:
    segment = items[0].translation.segment
    shows_both = campaign.effective_shows == Campaign.Shows.BOTH
    media = media_fields(segment) if shows_media(campaign) else {}
    return {
        # The codes of all outputs are random; that of the first one shown names the screen.
        "item": str(order_shown(assignment, screen, items)[0].code),
        "position": screen,
        "above": campaign.gray_text(segment),
        "source": segment.source if shows_both and segment.reference else "",
        "outputs": [
            {"code": str(item.code), "text": item.text}
            for item in order_shown(assignment, screen, items)
        ],
    } | media
