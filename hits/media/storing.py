"""Keeping media in the data folder, one folder a campaign, each file under its random code."""

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings

from ..models import Campaign, MediaFile
from .detecting import FileType

logger = logging.getLogger(__name__)

COPIED = ("name", "kind", "content_type", "n_bytes", "sha256")
# An import may be writing into a folder whose campaign is not stored yet.
KEPT_WITHOUT_CAMPAIGN = timedelta(days=1)


def folder_of(campaign: Campaign) -> Path:
    return Path(settings.MEDIA_DIR) / campaign.code.hex


def store_media(
    campaign: Campaign, root: Path, types: Mapping[str, FileType]
) -> dict[str, MediaFile]:
    """Copy these files of an upload into the campaign's folder; return their rows by name.

    If the import fails after all, nothing refers to the copies, and they are dropped later.
    """
    if not types:
        return {}
    folder_of(campaign).mkdir(parents=True, exist_ok=True)
    rows = []
    for name, found in types.items():
        row = MediaFile(
            campaign=campaign, name=name, kind=found.kind, content_type=found.content_type
        )
        shutil.copyfile(root / name, row.path)
        with row.path.open("rb") as file:
            row.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        row.n_bytes = row.path.stat().st_size
        rows.append(row)
    return {row.name: row for row in MediaFile.objects.bulk_create(rows)}


def copy_media(original: Campaign, copy: Campaign) -> None:
    """Give a duplicate files of its own, with the names of the original's."""
    files = list(original.media_files.all())
    if not files:
        return
    folder_of(copy).mkdir(parents=True, exist_ok=True)
    twins = []
    for row in files:
        facts = {name: getattr(row, name) for name in COPIED}
        twin = MediaFile(campaign=copy, **facts)
        _copy_or_link(row.path, twin.path)
        twins.append(twin)
    MediaFile.objects.bulk_create(twins)
    Campaign.objects.filter(pk=copy.pk).update(has_media=True)
    copy.has_media = True


def _copy_or_link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def delete_media(campaign: Campaign) -> None:
    """Delete a campaign's files and their rows. Its segments must be gone."""
    campaign.media_files.all().delete()
    shutil.rmtree(folder_of(campaign), ignore_errors=True)


def drop_orphaned_media() -> int:
    """Delete the folders of campaigns that do not exist or have no media; return how many."""
    root = Path(settings.MEDIA_DIR)
    if not root.is_dir():
        return 0
    kept = {code.hex for code in _codes_with_media()}
    oldest = time.time() - KEPT_WITHOUT_CAMPAIGN.total_seconds()
    n_dropped = 0
    for folder in root.iterdir():
        with suppress(FileNotFoundError):
            if folder.name not in kept and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
                n_dropped += 1
    return n_dropped


def _codes_with_media() -> list[UUID]:
    return list(MediaFile.objects.values_list("campaign__code", flat=True).distinct())
