"""Lists of rows: bounded pages, and rows that must all exist."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, overload
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from ninja import Field
from ninja.pagination import LimitOffsetPagination


class Pages(LimitOffsetPagination):
    class Input(LimitOffsetPagination.Input):
        # The largest offset that all databases accept.
        offset: int = Field(0, ge=0, le=2**31 - 1)


Row = TypeVar("Row")


def all_or_404(rows: list[Row], codes: Sequence[UUID]) -> list[Row]:
    """Return the rows that these codes name, or raise `Http404` if one is unknown."""
    if len(rows) != len(set(codes)):
        raise Http404("Some of these codes are not in this campaign.")
    return rows


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
