"""Kinds of fields that the API's messages share."""

from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from django.contrib.auth.models import User
from django.http import HttpRequest
from pydantic import AfterValidator, Field

from ..access import Level, campaign_for
from ..models import Campaign


def _storable(text: str) -> str:
    # PostgreSQL stores every character but this one, and UTF-8 has no lone halves of pairs.
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds a character that cannot be stored")
    return text


Text = Annotated[str, AfterValidator(_storable), Field(max_length=10_000)]
Name = Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=100)]
Reason = Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=2_000)]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Money = Annotated[Decimal, Field(ge=0, max_digits=8, decimal_places=2)]
Total = Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=2)]


def caller_of(request: HttpRequest) -> User:
    """Whose token it is. There is one: every operation asks for it."""
    assert isinstance(request.user, User)
    return request.user


def own_campaign(request: HttpRequest, code: UUID) -> Campaign:
    """The campaign of that code, for those who run it."""
    return campaign_for(request.user, code, Level.ADMIN)


def a_file(*content_types: str) -> dict[str, Any]:
    """What the API's description says of an operation that answers with a file of one of these types."""
    content: dict[str, Any] = {kind.partition(";")[0]: {} for kind in content_types}
    return {"responses": {200: {"content": content, "description": "A file"}}}
