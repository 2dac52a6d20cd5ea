"""Store uploaded files under their own names, within limits and only in their folder."""

import io
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import IO, Any
from uuid import UUID

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from da_platform.files.problems import Problems
from da_platform.files.reading import printable
from da_platform.files.texts import fault_in_name
from hits.exceptions import ImportRefused

from ..models import CampaignDraft
from .importing.mt_metrics_eval import OUTPUTS_FOLDER
from .importing.plain_text import REFERENCE_NAMES, SOURCE_NAMES, SYSTEM_FOLDERS

MAX_FILES = 500
# Of all files together, unpacked: far more than any test set needs.
MAX_BYTES = 200_000_000
# Text compresses to about a tenth. Anything that compresses a hundred times better is not text.
MAX_RATIO = 1_000
RATIO_COUNTS_FROM = 10_000_000
MAX_PATH_BYTES = 200
CHUNK = 1 << 20
# Of all zips together: files, folders, and the extra files that packers add.
MAX_ENTRIES = 4 * MAX_FILES
# Of a zip's central directory: enough for that many entries with the longest names.
MAX_DIRECTORY_BYTES = 2 * CHUNK
# Methods that unpack in chunks. Others unpack a whole block at once: a gigabyte from 500 bytes.
_BOUNDED_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# What `zipfile` raises for damaged files; ValueError for a negative offset.
_UNREADABLE_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    EOFError,
    OSError,
    ValueError,
)
KEPT_FOR = timedelta(days=7)
CAMPAIGN_FOLDERS = {*SYSTEM_FOLDERS, *SOURCE_NAMES, *REFERENCE_NAMES, OUTPUTS_FOLDER}

# Added by packers, and ignored.
_LEFT_BY_PACKERS = ("__MACOSX", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file, and its path in the campaign's folder."""

    path: str
    file: UploadedFile


def folder_of(draft: CampaignDraft) -> Path:
    return Path(settings.UPLOADS_DIR) / str(draft.code)


def campaign_path(draft: CampaignDraft) -> Path:
    """Return what to import: the only file, or the folder of the campaign's files."""
    path, entries = folder_of(draft), list(folder_of(draft).iterdir())
    # Zips often contain a single folder with everything in it.
    while len(entries) == 1 and entries[0].is_dir() and entries[0].name not in CAMPAIGN_FOLDERS:
        path, entries = entries[0], list(entries[0].iterdir())
    if len(entries) == 1 and entries[0].is_file() and entries[0].suffix.lower() != ".txt":
        return entries[0]
    return path


def keep_files(*, draft: CampaignDraft, uploads: Iterable[Upload]) -> None:
    """Replace the draft's files, or raise `ImportRefused` and leave them unchanged."""
    problems = Problems()
    with _new_folder() as folder:
        files = _write_all(folder, uploads, problems)
        if not files and not problems.total:
            problems.add("", None, "No files were chosen.")
        problems.refuse_if_any(ImportRefused)
        drop_files(draft)
        folder.rename(folder_of(draft))
    draft.files = files
    draft.save(update_fields=["files"])


def drop_files(draft: CampaignDraft) -> None:
    shutil.rmtree(folder_of(draft), ignore_errors=True)


def drop_old_drafts(*, at: datetime | None = None) -> int:
    """Delete old drafts with their files, and old files without a draft; return the number of drafts."""
    limit = (at or timezone.now()) - KEPT_FOR
    old = list(CampaignDraft.objects.filter(created_at__lt=limit))
    for draft in old:
        drop_files(draft)
        draft.delete()
    root = Path(settings.UPLOADS_DIR)
    if old or not root.is_dir():
        return len(old)
    for folder in root.iterdir():
        if _is_older(folder, limit) and not _has_draft(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def _is_older(folder: Path, limit: datetime) -> bool:
    try:
        return folder.stat().st_mtime < limit.timestamp()
    except FileNotFoundError:
        # The upload has just been finished or deleted.
        return False


def _has_draft(name: str) -> bool:
    try:
        return CampaignDraft.objects.filter(code=UUID(name)).exists()
    except ValueError:
        return False


# Writing -------------------------------------------------------------------------------------


@contextmanager
def _new_folder() -> Iterator[Path]:
    """Make a temporary folder on the same disk, which can be moved to its final place."""
    root = Path(settings.UPLOADS_DIR)
    root.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".new-", dir=root))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Budget:
    """How much may still be written."""

    def __init__(self) -> None:
        self.files, self.bytes, self.entries = MAX_FILES, MAX_BYTES, MAX_ENTRIES

    def exceeded(self) -> str | None:
        if self.files < 0:
            return f"has more than {MAX_FILES} files"
        if self.entries < 0:
            return f"has more than {MAX_ENTRIES:,} files and folders in zips"
        if self.bytes < 0:
            return f"has more than {MAX_BYTES:,} bytes, unpacked"
        return None


def _write_all(folder: Path, uploads: Iterable[Upload], problems: Problems) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = []
    budget = _Budget()
    for upload in uploads:
        name = upload.file.name or ""
        if name.lower().endswith(".zip"):
            files += _unpack(folder, upload.file, budget, problems)
        elif target := _target(folder, upload.path, problems):
            files += _write(folder, target, upload.file, budget, problems)
        if budget.exceeded():
            break
    return files


def _target(folder: Path, path: str, problems: Problems) -> Path | None:
    """Return where a file goes; report a problem and return None if its name is unsafe or invalid."""
    parts = PurePosixPath(path).parts
    fault = None
    if not parts or path.startswith("/") or ".." in parts or "\\" in path or ":" in parts[0]:
        fault = "has a name that leads out of the campaign's folder"
    elif len(path.encode(errors="replace")) > MAX_PATH_BYTES:
        fault = f"has a name longer than {MAX_PATH_BYTES} bytes"
    else:
        fault = next((fault for part in parts if (fault := fault_in_name(part))), None)
        fault = fault and f"has a name that {fault}"
    target = folder.joinpath(*parts)
    if fault is None and target.exists():
        fault = "appears twice"
    if fault:
        problems.add(printable(path)[:MAX_PATH_BYTES], None, fault)
        return None
    return target


def _write(
    folder: Path, target: Path, file: IO[bytes] | UploadedFile, budget: _Budget, problems: Problems
) -> list[dict[str, Any]]:
    """Write a file within the budget; return its name and size, in a list, if it was written."""
    name = target.relative_to(folder).as_posix()
    budget.files -= 1
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            while budget.exceeded() is None and (chunk := file.read(CHUNK)):
                budget.bytes -= len(chunk)
                out.write(chunk)
    except (FileExistsError, NotADirectoryError):
        problems.add(name, None, "appears twice, or has the same name as a folder")
        return []
    if fault := budget.exceeded():
        problems.add("", None, f"The upload {fault}.")
        return []
    return [{"name": name, "size": target.stat().st_size}]


class _BoundedReads(io.RawIOBase):
    """Limits the size of reads, because `zipfile` reads the whole central directory at once."""

    def __init__(self, file: UploadedFile) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY_BYTES:
            raise zipfile.BadZipFile("it has too many entries")
        return self._file.read(MAX_DIRECTORY_BYTES if size < 0 else size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._file.seek(offset, whence)
        return self._file.tell()

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True


def _unpack(
    folder: Path, upload: UploadedFile, budget: _Budget, problems: Problems
) -> list[dict[str, Any]]:
    name = printable(upload.name or "")
    files: list[dict[str, Any]] = []
    try:
        with zipfile.ZipFile(_BoundedReads(upload)) as archive:
            budget.entries -= len(archive.infolist())
            if fault := budget.exceeded():
                problems.add("", None, f"The upload {fault}.")
                return []
            for entry in archive.infolist():
                files += _unpack_entry(folder, archive, entry, budget, problems)
                if _is_bomb(budget, upload.size or 0):
                    problems.add(
                        name, None, "unpacks to far more data than text would; it was not read"
                    )
                    budget.bytes = -1
                if budget.exceeded():
                    break
    except _UNREADABLE_ZIP as error:
        problems.add(name, None, f"is not a readable zip file: {error}")
    return files


def _is_bomb(budget: _Budget, packed: int) -> bool:
    unpacked = MAX_BYTES - budget.bytes
    return unpacked > RATIO_COUNTS_FROM and unpacked > MAX_RATIO * max(packed, 1)


def _unpack_entry(
    folder: Path,
    archive: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    budget: _Budget,
    problems: Problems,
) -> list[dict[str, Any]]:
    # The raw name from the zip: `filename` has been sanitised.
    path = entry.orig_filename
    parts = path.split("/")
    if entry.is_dir() or parts[0] in _LEFT_BY_PACKERS or parts[-1] in _LEFT_BY_PACKERS:
        return []
    is_hidden = any(part.startswith(".") and part not in {".", ".."} for part in parts)
    if is_hidden and "\\" not in path:
        return []
    if fault := _fault_in_entry(entry):
        problems.add(printable(path)[:MAX_PATH_BYTES], None, fault)
        return []
    target = _target(folder, path, problems)
    if target is None:
        return []
    with archive.open(entry) as file:
        return _write(folder, target, file, budget, problems)


def _fault_in_entry(entry: zipfile.ZipInfo) -> str | None:
    if entry.flag_bits & 0x1:
        return "is encrypted"
    if entry.compress_type not in _BOUNDED_METHODS:
        return "uses an unsupported compression method; use deflate instead"
    mode = entry.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "is a link or a device, not a file"
    return None
