"""Compare the languages that files state with those of the campaign."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from langcodes import Language
from langcodes.tag_parser import LanguageTagError


def agree(language: str, expected: str) -> bool:
    """Return whether two codes name the same language, ignoring script and region; `eng` and `en` are the same."""
    return not language or _primary(language) == _primary(expected)


def of_the_pair(files: Sequence[Path], source: str, target: str) -> list[Path]:
    """Of several files, prefer those whose name has both languages: newstest2014-deen-src.de."""
    codes = (source + target, target + source, f"{source}-{target}", f"{target}-{source}")
    named = [path for path in files if any(code in path.name for code in codes)]
    return named or list(files)


def of_the_language(files: Sequence[Path], language: str) -> list[Path]:
    """Of several files that all end in a language, keep those that end in this one: newstest2013-src.de."""
    endings = [path.suffix.removeprefix(".") for path in files]
    if len(files) < 2 or not all(map(_is_language, endings)):
        return list(files)
    fitting = [path for path, ending in zip(files, endings, strict=True) if agree(ending, language)]
    return fitting or list(files)


def _is_language(ending: str) -> bool:
    return re.fullmatch("[a-z]{2,3}", ending) is not None and ending != "txt"


@cache
def _primary(code: str) -> str:
    try:
        return Language.get(code.replace("_", "-")).language or ""
    except LanguageTagError:
        return code.replace("_", "-").partition("-")[0].lower()
