"""Where an export goes: a file that is there complete or not at all, or standard output."""

import hashlib
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from .errors import ExportFailed, ExportRefused

STANDARD_OUTPUT = "-"


class HashingStream:
    """A binary stream to write to that keeps count and a SHA-256 of what went through."""

    closed = False

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._digest = hashlib.sha256()
        self._is_abandoned = False
        self.n_bytes = 0

    def write(self, block: bytes) -> int:
        if not self._is_abandoned:
            self._raw.write(block)
        self._digest.update(block)
        self.n_bytes += memoryview(block).nbytes
        return memoryview(block).nbytes

    def abandon(self) -> None:
        """Take what still comes without passing it on: the export has failed."""
        self._is_abandoned = True

    def tell(self) -> int:
        return self.n_bytes

    def flush(self) -> None:
        if not self._is_abandoned:
            self._raw.flush()

    def close(self) -> None:
        """Stay open: whoever opened the file closes it."""

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def as_file(self) -> BinaryIO:
        return cast(BinaryIO, self)


def meta_path_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.meta.json")


def refuse_to_overwrite(path: Path) -> None:
    for there in (path, meta_path_of(path)):
        if there.exists() or there.is_symlink():
            raise ExportRefused(f"{there} is there already; nothing was written.")


@contextmanager
def new_file(path: Path, *, force: bool, is_private: bool) -> Iterator[BinaryIO]:
    """Open a file under a temporary name beside `path`; it takes its name when all went well.

    Whatever goes wrong, an interrupt included, nothing stays behind and what stood there before
    still does. A private one is for the eyes of its owner only.
    """
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not the temporary file of the standard library: that one is private always.
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if is_private else 0o666
        )
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _give_name(temporary, path, force=force)
    except OSError as error:
        raise ExportFailed(
            f"{path} could not be written: {_plain_reason(error)}. Nothing was left behind."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _give_name(temporary: Path, path: Path, *, force: bool) -> None:
    """Name the finished file; without `force`, one that appeared meanwhile is spared."""
    if force:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links.
        if path.exists():
            raise FileExistsError("another file has taken the name meanwhile") from None
        os.rename(temporary, path)


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    stream = sys.stdout.buffer
    try:
        yield stream
        stream.flush()
    except BrokenPipeError as error:
        _silence_standard_output()
        raise ExportFailed(
            "Whoever was reading the export stopped before its end; it is incomplete."
        ) from error
    except OSError as error:
        _silence_standard_output()
        raise ExportFailed(
            f"The export could not be written to its end: {_plain_reason(error)}."
        ) from error


def _silence_standard_output() -> None:
    """Let Python's own flush at the end of the process go nowhere, instead of failing once more."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _plain_reason(error: OSError) -> str:
    return error.strerror or str(error)
