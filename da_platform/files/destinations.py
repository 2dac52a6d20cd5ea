"""Write an export to standard output, or to a file that appears only when it is complete."""

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
    """A writable binary stream that computes the size and SHA-256 of its content."""

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
        """Discard everything written from now on, because the export has failed."""
        self._is_abandoned = True

    def tell(self) -> int:
        return self.n_bytes

    def flush(self) -> None:
        if not self._is_abandoned:
            self._raw.flush()

    def close(self) -> None:
        """Do nothing: the caller closes the underlying file."""

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
    for existing in (path, meta_path_of(path)):
        if existing.exists() or existing.is_symlink():
            raise ExportRefused(f"{existing} already exists. Nothing was written.")


@contextmanager
def new_file(path: Path, *, force: bool, is_private: bool) -> Iterator[BinaryIO]:
    """Open a temporary file next to `path`, which is renamed to `path` on success.

    If anything goes wrong, even an interrupt, the temporary file is deleted and an existing file
    is kept. Only its owner can read a private file.
    """
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not a temporary file of the standard library, which would always be private.
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if is_private else 0o666
        )
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _rename(temporary, path, force=force)
    except OSError as error:
        raise ExportFailed(
            f"Could not write {path}: {_plain_reason(error)}. No partial file was left."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _rename(temporary: Path, path: Path, *, force: bool) -> None:
    """Rename the finished file; without `force`, do not replace one that has appeared meanwhile."""
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
            raise FileExistsError("a file of this name was created meanwhile") from None
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
            "The reader closed the pipe before the end; the export is incomplete."
        ) from error
    except OSError as error:
        _silence_standard_output()
        raise ExportFailed(f"Could not write the whole export: {_plain_reason(error)}.") from error


def _silence_standard_output() -> None:
    """Redirect standard output, so that Python's flush at exit does not fail again."""
    with suppress(OSError, ValueError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)


def _plain_reason(error: OSError) -> str:
    return error.strerror or str(error)
