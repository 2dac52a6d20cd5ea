"""Read lines and rows of archived files.

Any line endings and a byte order mark are accepted, unlike in the files of a new campaign: the tool that
wrote an archive years ago cannot be asked to write it again.
"""

import csv
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import MAX_LINE_BYTES, CampaignFolder, ReadingLimits, printable

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Times are in seconds since 1970. Anything later is in another unit, or wrong.
LATEST = datetime(2100, 1, 1, tzinfo=UTC).timestamp()
# The longest rating time that the database can store, in milliseconds.
MAX_ELAPSED_MS = 2**31 - 1
_WHOLE_NUMBER = re.compile(r"([0-9]{1,3})(\.0+)?")


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line, up to the first that cannot be read."""
    with CampaignFolder(path).opened(path, problems) as file:
        if file is None:
            return
        name, number, limits = file_name(path), 0, ReadingLimits()
        while raw := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            if fault := limits.fault_at(number):
                problems.add(name, number, fault)
                return
            if number == 1:
                raw = raw.removeprefix(_UTF8_MARK)
            if fault := _fault_in(raw, number):
                problems.add(name, number, f"{fault}; the rest was not read")
                return
            yield number, raw.decode().rstrip("\r\n")
        if number == 0:
            problems.add(name, None, "has no lines")


def file_name(path: Path) -> str:
    return printable(path.name)


def _fault_in(raw: bytes, number: int) -> str | None:
    if number == 1 and raw.startswith(_UTF16_MARKS):
        return "is UTF-16; save the file as UTF-8"
    if len(raw) > MAX_LINE_BYTES:
        return f"is longer than {MAX_LINE_BYTES:,} bytes"
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        return f"is not UTF-8: byte 0x{raw[error.start]:02X} at position {error.start + 1:,}"
    return None


def read_csv(path: Path, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row and the line it begins on; cells may hold line breaks."""
    lines = (f"{line}\n" for _, line in read_lines(path, problems))
    reader = csv.reader(lines, strict=True)
    first_line = 1
    try:
        for cells in reader:
            yield first_line, cells
            first_line = reader.line_num + 1
    except csv.Error as error:
        problems.add(file_name(path), first_line, f"is not CSV: {error}; the rest was not read")


def score_of(text: str) -> int | None:
    """Return the score, or None if the text is not a whole number from 0 to 100."""
    match = _WHOLE_NUMBER.fullmatch(text)
    score = int(match[1]) if match else 101
    return score if score <= 100 else None


def as_datetime(seconds: float) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)
