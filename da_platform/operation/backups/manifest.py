"""The manifest of a backup: what it holds, and how to check that it is complete."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from ..exceptions import BackupRefused

MANIFEST = "manifest.json"
FORMAT = 1
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class StoredFile:
    n_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Table:
    """The number of rows in a table, and a checksum that does not depend on their order."""

    n_rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    made_at: datetime
    vendor: str
    platform_version: str
    files: dict[str, StoredFile]
    tables: dict[str, Table]

    @property
    def n_bytes(self) -> int:
        return sum(file.n_bytes for file in self.files.values())

    def write(self, folder: Path) -> None:
        content = asdict(self) | {"format": FORMAT, "made_at": self.made_at.isoformat()}
        (folder / MANIFEST).write_text(json.dumps(content, indent=1) + "\n")


def read_manifest(folder: Path) -> Manifest:
    try:
        content = json.loads((folder / MANIFEST).read_text())
        if content["format"] != FORMAT:
            raise BackupRefused(f"{folder} was made by another version of the platform.")
        return Manifest(
            made_at=datetime.fromisoformat(content["made_at"]),
            vendor=content["vendor"],
            platform_version=content["platform_version"],
            files={name: StoredFile(**file) for name, file in content["files"].items()},
            tables={name: Table(**table) for name, table in content["tables"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupRefused(f"{folder} contains no readable {MANIFEST}: {error}") from error


def stored_file(path: Path) -> StoredFile:
    return StoredFile(path.stat().st_size, _sha256(path))


def check_files(folder: Path, manifest: Manifest) -> None:
    """Refuse a backup if a file is missing or changed."""
    for name, file in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise BackupRefused(f"{name} is missing from {folder}.")
        if stored_file(path) != file:
            raise BackupRefused(
                f"{name} is damaged: its size or checksum differs from the manifest."
            )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
