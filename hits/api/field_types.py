"""Field types shared by the API's schemas."""

from decimal import Decimal
from typing import Annotated, Any

from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from da_platform.numbers import known


def _storable(text: str) -> str:
    # PostgreSQL cannot store NUL, and UTF-8 cannot encode lone surrogates.
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("contains a character that cannot be stored")
    return text


Text = Annotated[str, AfterValidator(_storable), Field(max_length=10_000)]
Name = Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=100)]
Line = Annotated[str, AfterValidator(_storable), Field(max_length=200)]
Reason = Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=2_000)]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
Money = Annotated[Decimal, Field(ge=0, max_digits=8, decimal_places=2)]
Total = Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=2)]
# NaN, which JSON does not have, becomes null.
Measured = Annotated[float | None, BeforeValidator(known)]


def file_response(*content_types: str) -> dict[str, Any]:
    """Describe an operation in the OpenAPI schema that returns a file of one of these types."""
    content: dict[str, Any] = {kind.partition(";")[0]: {} for kind in content_types}
    return {"responses": {200: {"content": content, "description": "A file"}}}


class Input(Schema):
    """What a request may contain. An unknown field is refused: it may be a misspelt one."""

    model_config = ConfigDict(extra="forbid")
