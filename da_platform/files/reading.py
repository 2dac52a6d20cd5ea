"""Read the lines of uploaded files within limits, collecting all problems."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from .mending import Mender
from .problems import Fix, Problems

# Several times the longest text, with every character written as two JSON escapes.
MAX_LINE_BYTES = 1_000_000

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

LEADS_OUT = "is a link to a place outside the campaign's folder"

# Options of an import, and what they mend.
_FIXED_MARKS = Fix("clean", (), "byte order marks")
_FIXED_LINE_ENDS = Fix("clean", (), "files with CR LF line ends")
_FIXED_BYTES = Fix("encoding", (), "lines that are not UTF-8", needs_choice=True)

# Line number and text without the line end; None if the line could not be read.
Line = tuple[int, str | None]


class ReadingLimits:
    """Limits on the number of lines of a file and the time to read it, which starts now."""

    _LINES_BETWEEN_CHECKS = 1_000

    def __init__(self) -> None:
        self._ends_at = time.monotonic() + settings.MAX_READING_SECONDS
        # Looking up a setting takes longer than reading a line.
        self._most_lines = settings.MAX_FILE_LINES

    def fault_at(self, number: int) -> str | None:
        if number > self._most_lines:
            return (
                f"exceeds the limit of {self._most_lines:,} lines per file; the rest was not read"
            )
        return self.fault_in_time() if number % self._LINES_BETWEEN_CHECKS == 0 else None

    def fault_in_time(self) -> str | None:
        if time.monotonic() > self._ends_at:
            return f"was not reached in {settings.MAX_READING_SECONDS:,} seconds; the rest was not read"
        return None


@dataclass(frozen=True)
class CampaignFolder:
    """The file or folder that an import may read."""

    path: Path

    def shown(self, path: Path) -> str:
        """Return the printable path of a file relative to the folder."""
        base = self.path if path != self.path and path.is_relative_to(self.path) else path.parent
        return printable(path.relative_to(base).as_posix())

    def holds(self, path: Path) -> bool:
        """Return whether a file is really in this folder, and not a link to elsewhere."""
        # Unlike `Path.resolve`, this handles circular links.
        real_path = Path(os.path.realpath(path))
        return real_path.is_relative_to(os.path.realpath(self.path))

    @contextmanager
    def opened(self, path: Path, problems: Problems) -> Iterator[BinaryIO | None]:
        """Open a regular file of this folder; add a problem and yield None if that is impossible."""
        name = self.shown(path)
        if not path.exists():
            problems.add(name, None, "does not exist")
        elif not self.holds(path):
            problems.add(name, None, LEADS_OUT)
        elif not path.is_file():
            problems.add(name, None, "is not a regular file")
        else:
            try:
                file = path.open("rb")
            except OSError as error:
                problems.add(name, None, f"cannot be read: {error.strerror}")
            else:
                with file:
                    yield file
                return
        yield None


def printable(text: str) -> str:
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def read_lines(
    folder: CampaignFolder,
    path: Path,
    problems: Problems,
    *,
    may_have_crlf: bool = False,
    mender: Mender | None = None,
) -> Iterator[Line]:
    """Yield the lines of a UTF-8 file, adding a problem for each that is not valid.

    Lines end with LF, or with CR LF in formats that allow it; the last line may have no end. Unlike
    `str.splitlines`, this does not split at other line breaks.
    """
    with folder.opened(path, problems) as file:
        if file is not None:
            name = folder.shown(path)
            yield from decoded_lines(
                file, name, problems, may_have_crlf=may_have_crlf, mender=mender
            )


def decoded_lines(
    file: BinaryIO,
    name: str,
    problems: Problems,
    *,
    may_have_crlf: bool = False,
    mender: Mender | None = None,
) -> Iterator[Line]:
    """Yield the lines of an open file, as `read_lines` does. `name` is used in problems."""
    mender = mender or Mender()
    n_crlf = number = 0
    limits = ReadingLimits()
    for number, (offset, raw) in enumerate(_raw_lines(file), start=1):
        if fault := limits.fault_at(number):
            problems.add(name, number, fault)
            return
        if number == 1:
            if raw.startswith(_UTF16_MARKS):
                problems.add(name, 1, "is UTF-16; save the file as UTF-8")
                return
            raw = _without_mark(raw, name, problems, mender)
        if raw.endswith(b"\r\n") and not may_have_crlf:
            if n_crlf == 0 and not mender.cleans:
                reason = "ends with CR LF, as other lines may; convert them to LF"
                problems.add(name, number, reason, _FIXED_LINE_ENDS)
            n_crlf += 1
        text = raw.removesuffix(b"\r\n" if raw.endswith(b"\r\n") else b"\n")
        yield number, _decode(text, name, number, offset, problems, mender)
    if n_crlf and mender.cleans:
        mender.add(name, None, f"changed CR LF to LF at the end of {n_crlf:,} lines")
    if number == 0:
        problems.add(name, None, "has no lines")


def _raw_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its offset, including its end; only the beginning if it is too long."""
    offset = 0
    while raw := file.readline(MAX_LINE_BYTES + 1):
        yield offset, raw
        offset += len(raw)
        chunk = raw
        while len(chunk) > MAX_LINE_BYTES and not chunk.endswith(b"\n"):
            chunk = file.readline(MAX_LINE_BYTES + 1)
            offset += len(chunk)


def _without_mark(raw: bytes, name: str, problems: Problems, mender: Mender) -> bytes:
    """Take the byte order mark off the first line; add a problem if that is not allowed."""
    if not raw.startswith(_UTF8_MARK):
        return raw
    if mender.cleans:
        mender.add(name, 1, "removed the byte order mark (BOM)")
    else:
        reason = "begins with a byte order mark (BOM); save the file as UTF-8 without one"
        problems.add(name, 1, reason, _FIXED_MARKS)
    return raw.removeprefix(_UTF8_MARK)


def _decode(
    raw: bytes, name: str, number: int, offset: int, problems: Problems, mender: Mender
) -> str | None:
    if len(raw) > MAX_LINE_BYTES:
        problems.add(name, number, f"is longer than {MAX_LINE_BYTES:,} bytes")
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        if (text := mender.decoded(raw, name, number)) is not None:
            return text
        place = f"byte 0x{raw[error.start]:02X} at offset {offset + error.start:,}"
        what = f"neither UTF-8 nor {mender.encoding}" if mender.encoding else "not UTF-8"
        problems.add(name, number, f"is {what}: {place}", _FIXED_BYTES)
        return None


def files_in(folder: Path) -> list[Path]:
    """List a folder by name, without hidden files, READMEs and licences."""
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    return [folder / name for name in names if not _is_note(name)]


def _is_note(name: str) -> bool:
    return name.startswith(".") or name.upper().startswith(("README", "LICENSE", "LICENCE"))
