"""Read post-editions of outputs, from a file or as collected in a campaign."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.texts import fault_in_text
from hits.models import Campaign
from hits.post_editing.arrays import load_edited_outputs

from ..scores.errors import refuse_if_any
from ..scores.raw_files import RawFile
from ..scores.reading import KeyChecker, number_in, open_raw, parse
from ..scores.score_tables import Key, shown

COLUMN = "post_edition"
# Columns that a file may have besides.
SECONDS, EDITOR = "seconds", "editor"


@dataclass(frozen=True, slots=True)
class PostEditions:
    """One or more post-editions for each output, and how long each took, if known."""

    texts: dict[Key, list[str]] = field(default_factory=dict)
    seconds: dict[Key, list[float]] = field(default_factory=dict)
    name: str = "post-editions"

    @property
    def most(self) -> int:
        """The number of post-editions of the output that has most."""
        return max(map(len, self.texts.values()), default=0)


def read_post_editions(source: Path | RawFile, keys: Collection[Key]) -> PostEditions:
    """Read post-editions from a table.

    Parameters
    ----------
    source : Path or RawFile
        A table (TSV, CSV or JSONL) with the columns system, segment and post_edition. The columns
        editor, which allows several post-editions of an output, and seconds are optional.
    keys : collection of (system, segment)
        The outputs that may have post-editions.

    Returns
    -------
    PostEditions

    Raises
    ------
    ScoresRefused
        Listing what is unknown, duplicated or empty.
    """
    problems = Problems()
    raw = open_raw(source, problems)
    _, sheet = parse(raw, None, problems)
    extra = set(sheet.titles) - {COLUMN, SECONDS, EDITOR}
    if not problems.total and (COLUMN not in sheet.titles or extra or "system" not in sheet.roles):
        problems.add(
            raw.name,
            1,
            f"must have the columns system, segment and {COLUMN}, and may have {EDITOR} and {SECONDS}",
        )
    refuse_if_any(problems)
    known_keys, editors = set(keys), dict[tuple[Key, str], int]()
    edited = PostEditions(name=raw.name)
    checker = KeyChecker(sheet, "", raw.name, problems)
    for line, cells in sheet.rows:
        key = checker.key(line, cells)
        editor = cells.get(EDITOR, "")
        if key not in known_keys:
            problems.add(raw.name, line, f"the campaign has no {shown(key)}")
        elif first := editors.get((key, editor)):
            by = f" by {editor}" if editor else ""
            problems.add(
                raw.name, line, f"is a second post-edition of {shown(key)}{by}, after line {first}"
            )
        editors.setdefault((key, editor), line)
        _add(edited, key, cells, raw.name, line, problems)
    if not edited.texts:
        problems.add(raw.name, None, "has no post-editions")
    refuse_if_any(problems)
    return edited


def collected_post_editions(campaign: Campaign) -> PostEditions:
    """Return the post-editions that trusted editors made in the campaign."""
    edited = PostEditions(name=f"post-editions of {campaign}")
    for edit in load_edited_outputs(campaign, trusted_only=True):
        for system in edit.systems:
            key = system, edit.segment
            edited.texts.setdefault(key, []).append(edit.text)
            if edit.seconds is not None:
                edited.seconds.setdefault(key, []).append(edit.seconds)
    return edited


def _add(
    edited: PostEditions,
    key: Key,
    cells: Mapping[str, str],
    file: str,
    line: int,
    problems: Problems,
) -> None:
    if fault := fault_in_text(cells[COLUMN]):
        problems.add(file, line, f"the post-edition {fault}")
    edited.texts.setdefault(key, []).append(cells[COLUMN])
    if SECONDS in cells:
        seconds = number_in(cells[SECONDS], file, line, problems, what="time")
        if seconds < 0:
            problems.add(file, line, "the time is negative")
        if not math.isnan(seconds):
            edited.seconds.setdefault(key, []).append(seconds)
