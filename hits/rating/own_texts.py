"""A campaign's own texts for its workers, in the format of `hits/guidance/`: checked, completed and stored.

`Campaign.guidance` holds what an admin has written, in the shape of the English file, with empty strings for what is
missing. A part is shown to workers once it is complete: the statement, the examples with practice and question, the
interface (whose missing strings come from its catalogue).
"""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

from da_platform.files.problems import Problem, Problems
from da_platform.files.texts import fault_in_text

from ..exceptions import TextsRefused
from ..guidance_files import FALLBACK_LANGUAGE, Guidance, guidance_in
from ..languages import closest_language
from .interface import fault_in_interface, interface_strings
from .practice import SECTIONS

TextPath = tuple[str | int, ...]
MAX_LENGTH = 2_000
SCORES = {"low": 100, "high": 100, "answer": 2}


@cache
def english_texts() -> Guidance:
    """Return all texts that a campaign can have of its own, in English."""
    return guidance_in(FALLBACK_LANGUAGE) | {"interface": interface_strings()}


def leaves(value: Any, path: TextPath = ()) -> Iterator[tuple[TextPath, Any]]:
    """Yield every text and number with the keys and indexes that lead to it."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from leaves(part, (*path, index))
    else:
        yield path, value


def put(texts: Any, path: TextPath, value: Any) -> None:
    for key in path[:-1]:
        texts = texts[key]
    texts[path[-1]] = value


def in_words(path: TextPath) -> str:
    """Return where a text is, as in `adequacy, practice 2, too_low`."""
    words = " ".join(str(key + 1) if isinstance(key, int) else f", {key}" for key in path)
    return words.replace(" ,", ",").removeprefix(", ")


def paths_of(task: str) -> list[TextPath]:
    """Return the paths of the texts that a campaign with this task shows before the first HIT."""
    english = english_texts()
    needed = {
        "statements": {key: text for key, text in english["statements"].items() if key == task}
    }
    needed[SECTIONS[task]] = english[SECTIONS[task]]
    return [path for path, value in leaves(needed) if isinstance(value, str)]


def interface_paths() -> list[TextPath]:
    return [path for path, _ in leaves({"interface": interface_strings()})]


# Reading -------------------------------------------------------------------------------------


def parse_texts(content: bytes, *, name: str) -> Any:
    """Parse an uploaded file, or raise `TextsRefused`."""
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise TextsRefused([Problem(name, None, "is not UTF-8")], 1) from error
    except json.JSONDecodeError as error:
        reason = f"is not JSON: {error.msg} at column {error.colno}"
        raise TextsRefused([Problem(name, error.lineno, reason)], 1) from error
    except RecursionError as error:
        raise TextsRefused([Problem(name, None, "is nested too deeply")], 1) from error


def read_texts(given: Any, *, target_language: str, name: str = "") -> Guidance:
    """Return texts in the shape of the English ones, or raise `TextsRefused` with every problem."""
    problems = Problems()
    if not isinstance(given, dict):
        problems.add(name, None, "is not a JSON object with the parts of the English file")
        problems.refuse_if_any(TextsRefused)
    language = given.get("language", target_language)
    if not isinstance(language, str) or closest_language(target_language, [language]) is None:
        problems.add(name, None, f"is in {language!r}, but the campaign is into {target_language}")
    english = dict(leaves(english_texts()))
    texts = _blank_parts([part for part in english_texts() if given.get(part)])
    for path, value in leaves({part: given[part] for part in given if part != "language"}):
        if value in ("", None, {}, []):
            continue
        if fault := _fault(path, value, english):
            problems.add(name, None, f"{in_words(path)}: {fault}")
        else:
            put(texts, path, value.strip() if isinstance(value, str) else value)
    problems.refuse_if_any(TextsRefused)
    return {part: value for part, value in texts.items() if _has_text(value)}


def _blank_parts(parts: list[str]) -> Guidance:
    """Return these parts of the English texts without the texts; the numbers stay."""
    blank: Guidance = deepcopy({part: english_texts()[part] for part in parts})
    for path, value in list(leaves(blank)):
        if isinstance(value, str):
            put(blank, path, "")
    return blank


def _has_text(part: Any) -> bool:
    return any(isinstance(value, str) and value for _, value in leaves(part))


def _fault(path: TextPath, value: Any, english: dict[TextPath, Any]) -> str | None:
    if path not in english:
        return "is not a place for a text in the English file"
    if isinstance(english[path], bool):
        return None if value is english[path] else f"must be {str(english[path]).lower()}"
    if isinstance(english[path], int):
        is_possible = type(value) is int and 0 <= value <= SCORES[str(path[-1])]
        return None if is_possible else f"must be a whole number up to {SCORES[str(path[-1])]}"
    if not isinstance(value, str):
        return "must be a text"
    if len(value) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH:,} characters"
    if fault := fault_in_text(value):
        return fault
    return fault_in_interface(english[path], value) if path[0] == "interface" else None


# What is there and what is missing -------------------------------------------------------------


def missing_texts(guidance: Guidance, task: str) -> list[str]:
    """Return the places of the texts that are missing, of those needed before the first HIT."""
    own = dict(leaves(guidance))
    return [in_words(path) for path in paths_of(task) if not own.get(path)]


def n_missing_in_interface(guidance: Guidance) -> int:
    own = dict(leaves(guidance))
    return sum(not own.get(path) for path in interface_paths())


def has_own_texts(guidance: Guidance, task: str) -> bool:
    """Return whether workers read a campaign's own statement, examples, practice and question."""
    return bool(guidance) and not missing_texts(guidance, task)


def merged(guidance: Guidance, changes: dict[TextPath, str]) -> Guidance:
    """Return the texts with these changes; the parts that have no text yet are added."""
    texts = _blank_parts(list(english_texts()))
    for path, value in leaves(guidance):
        put(texts, path, value)
    for path, text in changes.items():
        put(texts, path, text)
    return texts
