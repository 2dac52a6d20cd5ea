"""The bytes and lines of a score file, with a limit on its size."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from da_platform.files.mending import Mender
from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, Line, decoded_lines

# Room for more than a million rows of a WMT segment file.
MAX_FILE_BYTES = 64 * 2**20

_ARCHIVE_MARKS = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file that was uploaded or read from disk."""

    name: str
    content: bytes = field(repr=False)

    @property
    def sha256(self) -> str:
        return sha256(self.content).hexdigest()

    def lines(self, problems: Problems, *, may_have_crlf: bool = False) -> Iterator[Line]:
        """Yield the lines without a byte order mark and CR LF, which say nothing about scores."""
        file = BytesIO(self.content)
        return decoded_lines(
            file,
            self.name,
            problems,
            may_have_crlf=may_have_crlf,
            mender=Mender(cleans=True),
        )


def load(path: Path, problems: Problems, *, max_bytes: int = MAX_FILE_BYTES) -> RawFile | None:
    """Read a whole file; add a problem and return None if it cannot be read or is too large."""
    folder = CampaignFolder(path)
    with folder.opened(path, problems) as file:
        if file is None:
            return None
        raw = RawFile(folder.shown(path), file.read(max_bytes + 1))
    return raw if is_usable(raw, problems, max_bytes=max_bytes) else None


def is_usable(raw: RawFile, problems: Problems, *, max_bytes: int = MAX_FILE_BYTES) -> bool:
    """Return whether a file can hold scores; add a problem if it cannot."""
    fault = None
    if not raw.content:
        fault = "is empty"
    elif len(raw.content) > max_bytes:
        fault = f"is larger than {max_bytes:,} bytes"
    else:
        for mark, kind in _ARCHIVE_MARKS.items():
            if raw.content.startswith(mark):
                fault = f"is compressed ({kind}); unpack it first"
    if fault:
        problems.add(raw.name, None, fault)
    return fault is None
