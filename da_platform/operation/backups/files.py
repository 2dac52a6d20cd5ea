"""Files in the data folder other than the database: uploads and exports."""

import tarfile
from fnmatch import fnmatchcase
from pathlib import Path

from django.conf import settings
from django.db import connection

FILES = "files.tar"
# Not in a backup: messages and schedules (recreated), other backups, and the key, which must not be stored with
# the data it protects.
LEFT_OUT = (
    "queue",
    "cache",
    "backups",
    "secret_key",
    ".secret_key-*",
    "beat-schedule*",
    "static",
    "matplotlib",
)
# Files that SQLite keeps next to a database, named after it.
_BESIDE_SQLITE = ("", "-wal", "-shm", "-journal")


def pack(folder: Path) -> None:
    """Put the files into one archive in the folder."""
    with tarfile.open(folder / FILES, "w") as archive:
        for path in _included():
            _add(archive, path, path.name)


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    """Add a file or folder recursively. Files deleted meanwhile are left out: drafts come and go."""
    try:
        archive.add(path, arcname=name, recursive=False)
        inside = sorted(path.iterdir()) if path.is_dir() else []
    except FileNotFoundError:
        return
    for below in inside:
        _add(archive, below, f"{name}/{below.name}")


def unpack(folder: Path) -> None:
    """Restore files that do not exist; nothing is overwritten and nothing is written outside the folder."""
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / FILES) as archive:
        fresh = [member for member in archive if not (settings.DATA_DIR / member.name).exists()]
        archive.extractall(settings.DATA_DIR, members=fresh, filter="data")  # noqa: S202


def _included() -> list[Path]:
    if not settings.DATA_DIR.is_dir():
        return []
    elsewhere = {settings.BACKUP_DIR.resolve(), *_database_files()}
    return [
        path
        for path in sorted(settings.DATA_DIR.iterdir())
        if not any(fnmatchcase(path.name, left_out) for left_out in LEFT_OUT)
        and path.resolve() not in elsewhere
    ]


def _database_files() -> set[Path]:
    """The database's own files, which are copied separately. None for a database server."""
    if connection.vendor != "sqlite":
        return set()
    name = settings.DATABASES["default"]["NAME"]
    return {Path(f"{name}{ending}").resolve() for ending in _BESIDE_SQLITE}
