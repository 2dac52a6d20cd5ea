"""What a worker's browser gets of a screen: outputs of a segment, in an order of its own for each worker."""

from ..models import Assignment
from ..ranking.screens import shown_screens
from ..task_kinds import ShownItem

# Items sent ahead, in whole screens, so that a worker can continue while the network is down.
ITEMS_AHEAD = 15


def shown_sides(assignment: Assignment, *, first: int, last: int) -> list[ShownItem]:
    """Return these screens as the browser gets them: texts and random codes."""
    screens = shown_screens(assignment, first=first, last=last)
    for screen in screens:
        # The source is not shown besides the gray text.
        del screen["source"]
    return screens
