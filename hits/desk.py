"""What a worker's browser is given to rate: the same few fields for every item, whatever its role."""

from dataclasses import dataclass

from .composition import SET_SIZE
from .models import Assignment, Campaign, Item

# Items sent ahead at most, so that a worker can go on while the network is away.
N_AHEAD = SET_SIZE + 5

SECONDS_PER_ITEM = 12


@dataclass(frozen=True, slots=True)
class Place:
    """How far an assignment is."""

    n_rated: int
    size: int

    @property
    def position(self) -> int:
        return self.n_rated + 1

    @property
    def is_finished(self) -> bool:
        return self.n_rated >= self.size


def place_of(assignment: Assignment) -> Place:
    return Place(n_rated=assignment.ratings.count(), size=assignment.hit.size)


def n_ahead(size: int) -> int:
    """Return how many items lie in the browser at once: never an item together with its partner."""
    # Partners stand half a HIT apart, give or take a set (`composition`).
    nearest_partners = (size // 2) - SET_SIZE + 1
    return min(N_AHEAD, nearest_partners)


def shown_items(assignment: Assignment, *, first: int, last: int) -> list[dict[str, object]]:
    """Return the items at these positions as the browser gets them, in one query."""
    campaign = assignment.hit.campaign
    items = (
        Item.objects.filter(hit_id=assignment.hit_id, position__range=(first, last))
        .order_by("position")
        .values_list(
            "code",
            "position",
            "text",
            "translation__segment__reference",
            "translation__segment__source",
        )
    )
    return [
        {
            "item": str(code),
            "position": position,
            "text": text,
            "above": _text_above(campaign, reference, source),
        }
        for code, position, text, reference, source in items
    ]


def _text_above(campaign: Campaign, reference: str, source: str) -> str:
    match campaign.task:
        case Campaign.Task.REFERENCE_ADEQUACY:
            return reference
        case Campaign.Task.SOURCE_ADEQUACY:
            return source
        case _:
            return ""


def language_above(campaign: Campaign) -> str:
    if campaign.task == Campaign.Task.SOURCE_ADEQUACY:
        return campaign.source_language
    return campaign.target_language


def minutes_needed(size: int) -> int:
    """About how long a HIT takes, in steps of five minutes."""
    minutes = size * SECONDS_PER_ITEM / 60
    return max(5, 5 * round(minutes / 5))
