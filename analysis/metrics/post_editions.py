"""Read post-editions of a campaign's outputs, for human-targeted metrics."""

from collections.abc import Sequence
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.texts import fault_in_text

from ..scores.errors import refuse_if_any
from ..scores.raw_files import RawFile
from ..scores.reading import KeyChecker, open_raw, parse
from ..scores.score_tables import Key, shown

COLUMN = "post_edition"


def read_post_editions(source: Path | RawFile, keys: Sequence[Key]) -> tuple[str, ...]:
    """Read a post-edition for each output.

    Parameters
    ----------
    source : Path or RawFile
        A table (TSV, CSV or JSONL) with the columns system, segment and post_edition.
    keys : sequence of (system, segment)
        The outputs, each of which needs one.

    Returns
    -------
    tuple of str
        In the order of the keys.

    Raises
    ------
    ScoresRefused
        Listing what is missing, extra, duplicated or empty.
    """
    problems = Problems()
    raw = open_raw(source, problems)
    _, sheet = parse(raw, None, problems)
    if not problems.total and (sheet.titles != (COLUMN,) or "system" not in sheet.roles):
        problems.add(raw.name, 1, f"must have the columns system, segment and {COLUMN}")
    refuse_if_any(problems)
    expected_keys = set(keys)
    texts: dict[Key, str] = {}
    checker = KeyChecker(sheet, "", raw.name, problems)
    for line, cells in sheet.rows:
        key = checker.key(line, cells)
        if key not in expected_keys:
            problems.add(raw.name, line, f"the campaign has no {shown(key)}")
        elif key in texts:
            problems.add(raw.name, line, f"is a second post-edition of {shown(key)}")
        if fault := fault_in_text(cells[COLUMN]):
            problems.add(raw.name, line, f"the post-edition {fault}")
        texts[key] = cells[COLUMN]
    for key in keys:
        if key not in texts:
            problems.add(raw.name, None, f"has no post-edition of {shown(key)}")
    refuse_if_any(problems)
    return tuple(texts[key] for key in keys)
