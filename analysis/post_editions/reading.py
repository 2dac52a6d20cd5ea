"""Read post-editions of outputs, from a file or as collected in a campaign."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import printable
from da_platform.files.texts import fault_in_name, fault_in_text
from hits.models import Campaign
from hits.post_editing.arrays import load_edited_outputs

from ..scores.errors import refuse_if_any
from ..scores.parsers import Sheet
from ..scores.raw_files import RawFile
from ..scores.reading import KeyChecker, number_in, open_raw, parse
from ..scores.score_tables import Key, shown

COLUMN = "post_edition"
# Columns that a file may have besides.
SECONDS, EDITOR = "seconds", "editor"
# Where a text may also be found, if it is used as a reference; and what else a table of outputs has.
REFERENCE = "reference"
CAMPAIGN_TEXTS = ("translation", "source", "document")
# A week. Longer ones are in milliseconds, or a mistake.
MAX_SECONDS = 7 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class EditedText:
    """One post-edition. `editor` is empty if it is not known, and so is `seconds` (None)."""

    key: Key
    text: str
    editor: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class PostEditions:
    """One or more post-editions for each output, and how long each took, if known."""

    texts: dict[Key, list[str]] = field(default_factory=dict)
    seconds: dict[Key, list[float]] = field(default_factory=dict)
    name: str = "post-editions"
    # As they came, for those who store them.
    rows: list[EditedText] = field(default_factory=list)
    sha256: str = ""
    # How many are as somebody else left them who checked them.
    n_checked: int = 0

    def add(self, edited: EditedText) -> None:
        self.rows.append(edited)
        self.texts.setdefault(edited.key, []).append(edited.text)
        if edited.seconds is not None:
            self.seconds.setdefault(edited.key, []).append(edited.seconds)

    @property
    def most(self) -> int:
        """The number of post-editions of the output that has most."""
        return max(map(len, self.texts.values()), default=0)


def read_post_editions(
    source: Path | RawFile,
    keys: Collection[Key],
    *,
    system: str = "",
    columns: tuple[str, ...] = (COLUMN,),
) -> PostEditions:
    """Read post-editions from a table, or from a plain file with one of each segment of a system.

    Parameters
    ----------
    source : Path or RawFile
        A table (TSV, CSV or JSONL) with the columns system, segment and post_edition. The columns
        editor, which allows several post-editions of an output, and seconds are optional.
    keys : collection of (system, segment)
        The outputs that may have post-editions, in the order of the segments.
    system : str
        The file has no columns, but a post-edition of this system on each line, as WMT publishes them.
    columns : tuple of str
        Which columns may hold the texts; the first that the file has is read.

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
    if system:
        return _read_lines(raw, [key for key in keys if key[0] == system], system, problems)
    _, sheet = parse(raw, None, problems)
    column = _column_of_texts(sheet, columns, raw.name, problems)
    refuse_if_any(problems)
    known_keys, editors = set(keys), dict[tuple[Key, str], int]()
    edited = PostEditions(name=raw.name, sha256=raw.sha256)
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
        seconds = _seconds_in(cells, raw.name, line, problems)
        if fault := fault_in_text(cells[column]):
            problems.add(raw.name, line, f"the post-edition {fault}")
        if editor and (fault := fault_in_name(editor)):
            problems.add(raw.name, line, f"the editor's name {fault}")
        edited.add(EditedText(key, cells[column], editor, seconds))
    if not edited.texts:
        problems.add(raw.name, None, "has no post-editions")
    refuse_if_any(problems)
    return edited


def collected_post_editions(campaign: Campaign, *, as_edited: bool = False) -> PostEditions:
    """Return the post-editions that trusted editors made in the campaign, after the check of those that were checked.

    With `as_edited`, they are as their editors left them.
    """
    edits = list(load_edited_outputs(campaign, trusted_only=True))
    n_checked = 0 if as_edited else sum(edit.check is not None for edit in edits)
    edited = PostEditions(name=f"post-editions of {campaign}", n_checked=n_checked)
    for edit in edits:
        text = edit.text if as_edited else edit.final
        for system in edit.systems:
            key = system, edit.segment
            edited.add(EditedText(key, text, edit.worker_code, edit.seconds))
    return edited


def _read_lines(raw: RawFile, keys: Sequence[Key], system: str, problems: Problems) -> PostEditions:
    edited = PostEditions(name=raw.name, sha256=raw.sha256)
    if not keys:
        problems.add("", None, f"the campaign has no outputs of {printable(system)!r}")
    lines = list(raw.lines(problems, may_have_crlf=True))
    if keys and len(lines) != len(keys) and not problems.total:
        reason = f"has {len(lines):,} lines, but {system} has {len(keys):,} outputs"
        problems.add(raw.name, None, reason)
    for key, (line, text) in zip(keys, lines, strict=False):
        if text is None:
            continue
        if fault := fault_in_text(text):
            problems.add(raw.name, line, f"the post-edition {fault}")
        edited.add(EditedText(key, text))
    refuse_if_any(problems)
    return edited


def _column_of_texts(sheet: Sheet, columns: tuple[str, ...], file: str, problems: Problems) -> str:
    titles = {*sheet.titles, *sheet.roles}
    column = next((name for name in columns if name in titles), "")
    # A table of a whole campaign also has its other texts.
    known = {*columns, SECONDS, EDITOR, *(CAMPAIGN_TEXTS if REFERENCE in columns else ())}
    if not problems.total and (not column or set(sheet.titles) - known or "system" not in titles):
        needed = f"system, segment and {' or '.join(columns)}"
        problems.add(
            file, 1, f"must have the columns {needed}, and may have {EDITOR} and {SECONDS}"
        )
    return column


def _seconds_in(cells: Mapping[str, str], file: str, line: int, problems: Problems) -> float | None:
    if SECONDS not in cells:
        return None
    seconds = number_in(cells[SECONDS], file, line, problems, what="time")
    if seconds < 0:
        problems.add(file, line, "the time is negative")
    elif seconds > MAX_SECONDS:
        problems.add(file, line, f"the time is longer than {MAX_SECONDS:,} seconds")
    return None if math.isnan(seconds) else seconds
