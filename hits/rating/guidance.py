"""The texts that explain the task, one file per language: the statement, worked examples, practice and a check.

`hits/guidance/` has a file for each target language, named by its code: `fi.json`, `zh-Hant.json`. Adding a
language is adding a file. A file has the statements by task, and a section for each kind of question
(`adequacy`, `fluency` ...). A section that a language does not have is taken from English.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from hits.languages import closest_language

FOLDER = Path(__file__).parents[1] / "guidance"
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


def wording_language(language_code: str, section: str = "statements") -> str:
    """Return the language in which workers of this target language read the section."""
    language = closest_language(language_code, guidance_languages())
    return language if language and section in guidance_in(language) else FALLBACK_LANGUAGE
