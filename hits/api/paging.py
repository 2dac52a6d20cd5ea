"""Lists in pages, bounded on both sides."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload

from django.db.models import QuerySet
from ninja import Field
from ninja.pagination import LimitOffsetPagination


class Pages(LimitOffsetPagination):
    class Input(LimitOffsetPagination.Input):
        # As far as a database counts; a page beyond the last row is empty.
        offset: int = Field(0, ge=0, le=2**31 - 1)


Line = TypeVar("Line")


class ReadRows(Sequence[Line], Generic[Line]):
    """Lines that cost something to make of the rows that were found: only those of the page are made."""

    def __init__(self, found: QuerySet[Any], read: Callable[[list[Any]], list[Line]]) -> None:
        self.found, self.read = found, read

    def __len__(self) -> int:
        return self.found.count()

    @overload
    def __getitem__(self, place: int) -> Line: ...
    @overload
    def __getitem__(self, place: slice) -> list[Line]: ...
    def __getitem__(self, place: int | slice) -> Line | list[Line]:
        if isinstance(place, int):
            return self.read([self.found[place]])[0]
        return self.read(list(self.found[place]))
