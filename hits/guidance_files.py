"""The texts that explain the task, one file per language: the statement, worked examples, practice and a check.

`hits/guidance/` has a file for each target language, named by its code: `fi.json`, `zh-Hant.json`. Adding a
language is adding a file. A file has the statements by task, a section for each kind of question
(`adequacy`, `fluency`, `editing`), and may have the buttons and messages of the workers' pages (`interface`), for a
language without a catalogue. A section that a language does not have is taken from English.

This module knows no tables, so that they can ask which languages there are.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from da_platform.catalogues import name_in_itself

from .languages import closest_language

FOLDER = Path(__file__).parent / "guidance"
FALLBACK_LANGUAGE = "en"

Guidance = dict[str, Any]


@cache
def guidance_languages() -> tuple[str, ...]:
    """Return the codes of the languages that we have texts in."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


@cache
def guidance_in(language: str) -> Guidance:
    """Return the texts of one of `guidance_languages()`."""
    texts: Guidance = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return texts


def interface_in(language: str) -> dict[str, Any]:
    """Return the strings of the workers' pages that a file has, by the English ones."""
    if language not in guidance_languages():
        return {}
    words: dict[str, Any] = guidance_in(language).get("interface", {})
    return words


@cache
def interface_languages() -> tuple[tuple[str, str], ...]:
    """Return the code and the name, in the language itself, of each language with an interface in its file."""
    codes = [code for code in guidance_languages() if interface_in(code)]
    return tuple((code, name_in_itself(code)) for code in codes)


def wording_language(language_code: str, section: str = "statements") -> str:
    """Return the language in which workers of this target language read the section."""
    language = closest_language(language_code, guidance_languages())
    return language if language and section in guidance_in(language) else FALLBACK_LANGUAGE
