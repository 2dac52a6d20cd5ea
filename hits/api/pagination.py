"""Pagination of lists, with bounded limits and offsets."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload

from django.db.models import QuerySet
from ninja import Field
from ninja.pagination import LimitOffsetPagination


class Pages(LimitOffsetPagination):
    class Input(LimitOffsetPagination.Input):
        # The largest offset that all databases accept.
        offset: int = Field(0, ge=0, le=2**31 - 1)


Row = TypeVar("Row")


class LazyRows(Sequence[Row], Generic[Row]):
    """Rows made from a queryset by an expensive function, which is called for the current page only."""

    def __init__(self, queryset: QuerySet[Any], make: Callable[[list[Any]], list[Row]]) -> None:
        self.queryset, self.make = queryset, make

    def __len__(self) -> int:
        return self.queryset.count()

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        if isinstance(index, int):
            return self.make([self.queryset[index]])[0]
        return self.make(list(self.queryset[index]))
