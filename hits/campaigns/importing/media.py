"""Read a folder with a table of translations and the media that its columns `media` and `captions` name."""

import os
from collections.abc import Callable
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, files_in

from ...media.detecting import FileType, check_captions, check_media
from .records import Draft, ReadingOptions
from .tables import read_csv, read_jsonl, read_tsv

_READERS = {".tsv": read_tsv, ".csv": read_csv, ".jsonl": read_jsonl}


def tables_in(path: Path) -> list[Path]:
    return [file for file in files_in(path) if file.suffix.lower() in _READERS and file.is_file()]


def is_media_folder(path: Path) -> bool:
    """Return whether a folder has one table, with files or folders next to it that are no text files."""
    others = [file for file in files_in(path) if file.suffix.lower() == ".txt"]
    return len(tables_in(path)) == 1 and not others


def read_media_folder(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    tables = tables_in(path)
    if len(tables) != 1:
        listed = ", ".join(table.name for table in tables) or "none"
        problems.add(path.name, None, f"must have one table (.tsv, .csv, .jsonl); it has: {listed}")
        return Draft()
    draft = _READERS[tables[0].suffix.lower()](tables[0], options, problems)
    folder = CampaignFolder(path)
    used = _check(folder, set(draft.media) - {""}, check_media, draft, problems)
    used |= _check(folder, set(draft.captions) - {""}, check_captions, draft, problems)
    for file in _all_files(path):
        name = file.relative_to(path).as_posix()
        if file != tables[0] and name not in used:
            problems.add(name, None, "is not named by any row of the table")
    draft.media_root = path
    return draft


def _check(
    folder: CampaignFolder,
    names: set[str],
    check: Callable[[Path], FileType | str],
    draft: Draft,
    problems: Problems,
) -> set[str]:
    """Check the named files, and note what they are."""
    for name in sorted(names):
        path = folder.path / name
        if name.startswith("/") or ".." in Path(name).parts or not folder.holds(path):
            problems.add(name, None, "points outside the uploaded folder")
        elif not path.is_file():
            problems.add(name, None, "is named by the table, but was not uploaded")
        elif isinstance(found := check(path), str):
            problems.add(name, None, found)
        elif draft.media_types.setdefault(name, found) != found:
            problems.add(name, None, "is named both as media and as captions")
    return names


def _all_files(path: Path) -> list[Path]:
    """Return all files, without hidden ones and those that packers add."""
    return [
        Path(folder) / name
        for folder, _, names in os.walk(path)
        for name in names
        if not name.startswith(".") and "__MACOSX" not in Path(folder).parts
    ]
