"""Facts about languages: valid codes, scripts, text direction and names."""

from collections.abc import Iterable
from functools import cache

from django.core.exceptions import ValidationError
from langcodes import Language, tag_is_valid

# Scripts written without spaces between words (ISO 15924).
UNSPACED_SCRIPTS = frozenset(
    [
        "Hani",
        "Hans",
        "Hant",
        "Jpan",
        "Hira",
        "Kana",
        "Thai",
        "Khmr",
        "Laoo",
        "Mymr",
        "Tibt",
        "Lana",
        "Talu",
        "Java",
        "Bali",
    ]
)
RTL_SCRIPTS = frozenset(
    ["Arab", "Aran", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm", "Rohg", "Mand", "Samr"]
)
# Valid tags that name no language: undetermined, multiple, none, uncoded.
NAMELESS = frozenset({None, "und", "mul", "zxx", "mis"})


def is_language_code(code: str) -> bool:
    """Return whether `code` is a BCP 47 tag of a named language, such as `en`, `pt-BR` or `zh-Hant`."""
    return tag_is_valid(code) and Language.get(code).language not in NAMELESS


def validate_language_code(code: str) -> None:
    if not is_language_code(code):
        raise ValidationError(
            "%(code)s is not a known language code.", code="language", params={"code": repr(code)}
        )


@cache
def script(code: str) -> str | None:
    return Language.get(code).maximize().script


def is_spaced(code: str) -> bool:
    """Return whether the language separates words with spaces."""
    return script(code) not in UNSPACED_SCRIPTS


def direction(code: str) -> str:
    """Return `rtl` or `ltr`, for the HTML attribute `dir`."""
    return "rtl" if script(code) in RTL_SCRIPTS else "ltr"


@cache
def name_of(code: str, in_language: str = "en") -> str:
    return Language.get(code).display_name(in_language)


def closest_language(code: str, available: Iterable[str]) -> str | None:
    """Return the language among those available that readers of `code` read best: for `zh-TW`, `zh-Hant`.

    A variety is read by all readers of its language, in another script only if there is no better one.
    """
    if not code:
        return None
    language = Language.get(code)
    by_tag = {tag.lower(): tag for tag in available}
    wanted = (language.to_tag(), f"{language.language}-{script(code)}", language.language or "")
    return next((by_tag[tag.lower()] for tag in wanted if tag.lower() in by_tag), None)
