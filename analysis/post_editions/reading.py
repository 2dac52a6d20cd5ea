"""Read post-editions of outputs, from a file or as collected in a campaign."""

import math
import zipfile
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from da_platform.exceptions import PlatformError
from da_platform.files.problems import Problems
from da_platform.files.reading import printable
from da_platform.files.texts import fault_in_name, fault_in_text
from hits.models import Campaign, SystemOutput
from hits.post_editing.arrays import load_edited_outputs

from ..scores.errors import refuse_if_any
from ..scores.parsers import Sheet
from ..scores.raw_files import RawFile
from ..scores.reading import KeyChecker, number_in, open_raw, parse
from ..scores.score_tables import Key, shown
from .exported import ZIP_MARK, Cells, exported_rows

COLUMN = "post_edition"
# Columns that a file may have besides.
SECONDS, EDITOR = "seconds", "editor"
# Where a text may also be found, if it is used as a reference; and what else a table of outputs has.
REFERENCE = "reference"
CAMPAIGN_TEXTS = ("translation", "source", "document")
# A week. Longer ones are in milliseconds, or a mistake.
MAX_SECONDS = 7 * 24 * 60 * 60


class PostEditionsDoNotFit(PlatformError):
    """Post-editions of one campaign that cannot be used for another one."""


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
        editor, which allows several post-editions of an output, and seconds are optional. Or what the platform exports:
        its table of post-editions (CSV, TSV or JSONL), of which those are read that count towards gold, or an archive in a
        layout of WMT.
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
    raw = _opened(source, problems)
    if system:
        return _read_lines(raw, [key for key in keys if key[0] == system], system, problems)
    exported = exported_rows(raw, problems)
    if exported is None:
        rows = _rows_of_table(raw, columns, problems)
    else:
        rows = _rows_of_export(raw, exported, problems)
    edited = PostEditions(name=raw.name, sha256=raw.sha256)
    known_keys, editors = set(keys), dict[tuple[Key, str], int]()
    for line, row in rows:
        key, editor = row.key, row.editor
        if key not in known_keys:
            problems.add(raw.name, line, f"the campaign has no {shown(key)}")
        elif first := editors.get((key, editor)):
            by = f" by {editor}" if editor else ""
            problems.add(
                raw.name, line, f"is a second post-edition of {shown(key)}{by}, after line {first}"
            )
        editors.setdefault((key, editor), line)
        # An editor may have emptied a text, and then it is exported so.
        if fault := fault_in_text(row.text, may_be_empty=exported is not None):
            problems.add(raw.name, line, f"the post-edition {fault}")
        if editor and (fault := fault_in_name(editor)):
            problems.add(raw.name, line, f"the editor's name {fault}")
        edited.add(row)
    if not edited.texts:
        problems.add(raw.name, None, "has no post-editions")
    refuse_if_any(problems)
    return edited


def _opened(source: Path | RawFile, problems: Problems) -> RawFile:
    """Load a file, or an archive in a layout of WMT, which other readers refuse."""
    if isinstance(source, Path) and zipfile.is_zipfile(source):
        source = RawFile(source.name, source.read_bytes())
    if isinstance(source, RawFile) and source.content.startswith(ZIP_MARK):
        return source
    return open_raw(source, problems)


def _rows_of_table(
    raw: RawFile, columns: tuple[str, ...], problems: Problems
) -> Iterator[tuple[int, EditedText]]:
    _, sheet = parse(raw, None, problems)
    column = _column_of_texts(sheet, columns, raw.name, problems)
    refuse_if_any(problems)
    checker = KeyChecker(sheet, "", raw.name, problems)
    for line, cells in sheet.rows:
        key = checker.key(line, cells)
        seconds = _seconds_in(cells, raw.name, line, problems)
        yield line, EditedText(key, cells[column], cells.get(EDITOR, ""), seconds)


def _rows_of_export(
    raw: RawFile, exported: Iterator[Cells], problems: Problems
) -> Iterator[tuple[int, EditedText]]:
    for line, cells in exported:
        known = {name: cells[name] for name in (SECONDS,) if cells[name]}
        seconds = _seconds_in(known, raw.name, line, problems)
        for system in cells["systems"]:
            key = str(system), cells["segment"]
            yield line, EditedText(key, cells["text"], cells["editor"], seconds)


def collected_post_editions(
    campaign: Campaign, *, as_edited: bool = False, among: Container[Key] | None = None
) -> PostEditions:
    """Return the post-editions that trusted editors made in the campaign, after the check of those that were checked.

    With `as_edited`, they are as their editors left them; with `among`, only those of these outputs.
    """
    rows, n_checked = [], 0
    for edit in load_edited_outputs(campaign, trusted_only=True):
        keys = [(system, edit.segment) for system in edit.systems]
        if among is not None:
            keys = [key for key in keys if key in among]
        text = edit.text if as_edited else edit.final
        rows += [EditedText(key, text, edit.worker_code, edit.seconds) for key in keys]
        n_checked += bool(keys) and edit.check is not None and not as_edited
    edited = PostEditions(name=f"post-editions of {campaign}", n_checked=n_checked)
    for row in rows:
        edited.add(row)
    return edited


def post_editions_elsewhere(
    edited_in: Campaign, campaign: Campaign, *, as_edited: bool = False
) -> PostEditions:
    """Return the post-editions that trusted editors made in another campaign of the outputs of this one.

    Outputs are matched by system and segment. Raise `PostEditionsDoNotFit` if there are none, or if texts differ.
    """
    if edited_in.target_language != campaign.target_language:
        raise PostEditionsDoNotFit(f"{edited_in} and {campaign} have different target languages.")
    texts = _texts_of_outputs(campaign)
    edited = collected_post_editions(edited_in, as_edited=as_edited, among=texts)
    if not edited.texts:
        raise PostEditionsDoNotFit(
            f"{edited_in} has no post-editions by trusted editors of outputs of {campaign}. Outputs are matched by the "
            "names of system and segment."
        )
    texts_there = _texts_of_outputs(edited_in)
    different = [key for key in edited.texts if texts[key] != texts_there[key]]
    if different:
        raise PostEditionsDoNotFit(
            f"{edited_in} and {campaign} have different texts of {len(different):,} outputs, the first of them "
            f"{shown(different[0])}. A post-edition says nothing about a text that its editor has not seen."
        )
    return edited


def _texts_of_outputs(campaign: Campaign) -> dict[Key, str]:
    outputs = SystemOutput.objects.filter(system__campaign=campaign)
    return {
        (output.system.name, output.segment.name): str(output)
        for output in outputs.select_related("system", "segment", "translation")
    }


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
