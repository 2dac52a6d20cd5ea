"""Backups with a manifest, against which they are checked when restored.

A backup is a folder: the database as its own tool writes it, the files of the data folder, and a manifest
with the checksum of each file and, for each table, the number of rows and a checksum over them. It is consistent
even if others write meanwhile, and gets its name only when it is complete.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone

from da_platform import __version__

from ..exceptions import BackupRefused
from . import files, postgresql, sqlite
from .manifest import Manifest, Table, check_files, read_manifest, stored_file

__all__ = [
    "BackupRefused",
    "Manifest",
    "back_up",
    "contents",
    "has_backup_since",
    "newest_backup",
    "prune",
    "restore",
]

_PREFIX = "da-"
# Longer than a backup takes: an older draft was left behind by a crash or power cut.
STALE_DRAFT = timedelta(days=1)
_TOOLS = {"sqlite": sqlite, "postgresql": postgresql}


@dataclass(frozen=True, slots=True)
class Backup:
    folder: Path
    manifest: Manifest


def back_up(parent: Path | None = None) -> Backup:
    """Make a backup in a new folder in `parent`, by default the configured one."""
    parent = parent or settings.BACKUP_DIR
    made_at = timezone.now()
    folder = parent / _name(made_at)
    with _for_owner_only():
        parent.mkdir(parents=True, exist_ok=True)
        _remove_drafts(parent, begun_before=made_at - STALE_DRAFT)
        draft = parent / f".{folder.name}"
        draft.mkdir()
        try:
            manifest = _fill(draft, made_at)
            draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return Backup(folder, manifest)


def _name(made_at: datetime) -> str:
    """Name a backup so that names sort by time."""
    return f"{_PREFIX}{made_at:%Y%m%dT%H%M%S%fZ}"


def _remove_drafts(parent: Path, *, begun_before: datetime) -> None:
    for draft in parent.glob(f".{_PREFIX}*Z"):
        if draft.name < f".{_name(begun_before)}":
            shutil.rmtree(draft, ignore_errors=True)


def _fill(draft: Path, made_at: datetime) -> Manifest:
    tool = _TOOLS[connection.vendor]
    tables = tool.dump(draft)
    files.pack(draft)
    names = (tool.DATABASE_FILE, files.FILES)
    manifest = Manifest(
        made_at=made_at,
        vendor=connection.vendor,
        platform_version=__version__,
        files={name: stored_file(draft / name) for name in names},
        tables=tables,
    )
    manifest.write(draft)
    return manifest


def restore(folder: Path) -> Manifest:
    """Restore a backup to an empty database and check it against the manifest."""
    manifest = read_manifest(folder)
    if manifest.vendor != connection.vendor:
        raise BackupRefused(f"This is a backup of {manifest.vendor}, not of {connection.vendor}.")
    check_files(folder, manifest)
    with connection.cursor() as cursor:
        if connection.introspection.table_names(cursor):
            raise BackupRefused("The database is not empty. Restore a backup to a new one.")
    restored = _TOOLS[connection.vendor].load(folder)
    if wrong := sorted(
        name
        for name in manifest.tables.keys() | restored.keys()
        if manifest.tables.get(name) != restored.get(name)
    ):
        raise BackupRefused(
            f"Restored, but it differs from the backup: {', '.join(wrong)}. Do not use it."
        )
    files.unpack(folder)
    return manifest


def contents() -> dict[str, Table]:
    """Count and checksum the rows of every table now, as in a manifest."""
    return _TOOLS[connection.vendor].contents()


def newest_backup(parent: Path | None = None) -> Manifest | None:
    """Read the manifest of the latest backup, by default in the configured folder; raise if it is not readable."""
    folders = _backups(parent or settings.BACKUP_DIR)
    return read_manifest(folders[-1]) if folders else None


def has_backup_since(moment: datetime, parent: Path | None = None) -> bool:
    """Whether the latest backup was started after this moment. An unreadable backup does not count."""
    try:
        newest = newest_backup(parent)
    except BackupRefused:
        return False
    return newest is not None and newest.made_at > moment


def prune(keep: int, parent: Path | None = None) -> int:
    """Delete all but the latest backups. Return how many were deleted."""
    old = _backups(parent or settings.BACKUP_DIR)[:-keep]
    for folder in old:
        shutil.rmtree(folder)
    return len(old)


def _backups(parent: Path) -> list[Path]:
    return sorted(parent.glob(f"{_PREFIX}*Z")) if parent.is_dir() else []


@contextmanager
def _for_owner_only() -> Iterator[None]:
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)
