"""What a worker's browser gets of a document besides the next items: the earlier segments of the run."""

from typing import Any

from ..media.serving import media_fields, shows_media
from ..models import Assignment, Item
from ..task_kinds import ShownItem


def earlier_in_run(assignment: Assignment, screen: ShownItem) -> list[ShownItem]:
    """Return the segments of the item's run that stand before it, as they were shown when they were rated."""
    campaign = assignment.hit.campaign
    before: dict[str, Any] = {"run": screen["run"], "position__lt": screen["position"]}
    items = Item.objects.filter(hit=assignment.hit_id, **before)
    has_media = shows_media(campaign)
    return [
        {
            "position": item.position,
            "run": item.run,
            "above": campaign.gray_text(item.translation.segment),
            "text": item.text,
        }
        | ({"item": str(item.code)} | media_fields(item.translation.segment) if has_media else {})
        for item in items.select_related("translation__segment__media").order_by("position")
    ]
