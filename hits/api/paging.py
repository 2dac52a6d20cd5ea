"""Lists in pages, bounded on both sides."""

from ninja import Field
from ninja.pagination import LimitOffsetPagination


class Pages(LimitOffsetPagination):
    class Input(LimitOffsetPagination.Input):
        # As far as a database counts; a page beyond the last row is empty.
        offset: int = Field(0, ge=0, le=2**31 - 1)
