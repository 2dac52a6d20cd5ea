"""Compare the languages that files state with those of the campaign."""

from functools import cache

from langcodes import Language
from langcodes.tag_parser import LanguageTagError


def agree(language: str, expected: str) -> bool:
    """Return whether two codes name the same language, ignoring script and region; `eng` and `en` are the same."""
    return not language or _primary(language) == _primary(expected)


@cache
def _primary(code: str) -> str:
    try:
        return Language.get(code.replace("_", "-")).language or ""
    except LanguageTagError:
        return code.replace("_", "-").partition("-")[0].lower()
