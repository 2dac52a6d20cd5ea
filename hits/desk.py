"""What a worker's browser is given to rate: the same few fields for every item, whatever its role."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from .composition import SET_SIZE
from .models import HIT, Assignment, Campaign

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


# Every rating asks these two questions, so they are written out: to have the ORM put them together
# takes ten times as long as to have them answered.
_OWN_ASSIGNMENT = """
    SELECT assignment.id, assignment.code, assignment.hit_id, assignment.status, assignment.started_at,
           hit.size AS hit_size
    FROM hits_assignment assignment
    JOIN hits_worker worker ON worker.id = assignment.worker_id
    JOIN hits_hit hit ON hit.id = assignment.hit_id
    WHERE assignment.code = %s AND worker.code = %s
"""
_SHOWN_ITEMS = """
    SELECT item.code, item.position, item.text,
           CASE campaign.task WHEN %s THEN segment.reference WHEN %s THEN segment.source ELSE '' END
    FROM hits_item item
    JOIN hits_translation translation ON translation.id = item.translation_id
    JOIN hits_segment segment ON segment.id = translation.segment_id
    JOIN hits_campaign campaign ON campaign.id = segment.campaign_id
    WHERE item.hit_id = %s AND item.position BETWEEN %s AND %s
    ORDER BY item.position
"""


def own_assignment(code: UUID, *, worker_code: UUID) -> Assignment | None:
    """Fetch a worker's assignment with just what a rating needs; the rest loads when asked for."""
    codes = [
        Assignment._meta.get_field("code").get_db_prep_value(value, connection)
        for value in (code, worker_code)
    ]
    for assignment in Assignment.objects.raw(_OWN_ASSIGNMENT, codes):
        size = vars(assignment).pop("hit_size")
        assignment.hit = HIT.from_db(connection.alias, ["id", "size"], [assignment.hit_id, size])
        return assignment
    return None


def shown_items(assignment: Assignment, *, first: int, last: int) -> list[dict[str, object]]:
    """Return the items at these positions as the browser gets them, in one query."""
    tasks = [Campaign.Task.REFERENCE_ADEQUACY.value, Campaign.Task.SOURCE_ADEQUACY.value]
    with connection.cursor() as cursor:
        cursor.execute(_SHOWN_ITEMS, [*tasks, assignment.hit_id, first, last])
        return [
            # SQLite has no type for codes and keeps them as text.
            {"item": str(UUID(str(code))), "position": position, "text": text, "above": above}
            for code, position, text, above in cursor.fetchall()
        ]


def language_above(campaign: Campaign) -> str:
    if campaign.task == Campaign.Task.SOURCE_ADEQUACY:
        return campaign.source_language
    return campaign.target_language


def minutes_needed(size: int) -> int:
    """About how long a HIT takes, in steps of five minutes."""
    minutes = size * SECONDS_PER_ITEM / 60
    return max(5, 5 * round(minutes / 5))
