"""The role of an item in its HIT, as a number."""

from enum import IntEnum


class Role(IntEnum):
    """Why an item is in its HIT. The platform stores these numbers; workers never see them."""

    GENUINE = 0
    BAD_REFERENCE = 1
    REPEAT = 2
    REFERENCE = 3


# Items that show a system's unaltered output: only their ratings count towards its score.
SCORED_ROLES = (Role.GENUINE, Role.REPEAT)
