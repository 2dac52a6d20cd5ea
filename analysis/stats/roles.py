"""What an item is in its HIT, as a number."""

from enum import IntEnum


class Role(IntEnum):
    """The role of an item: the same numbers as the platform stores, so that rows need no translating."""

    GENUINE = 0
    BAD_REFERENCE = 1
    REPEAT = 2
    REFERENCE = 3


# Items that show a system's own output unharmed: only these say how good the translation is.
SCORED_ROLES = (Role.GENUINE, Role.REPEAT)
