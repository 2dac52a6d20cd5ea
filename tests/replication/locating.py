"""Finds published data, which is not part of the repository."""

import os
from pathlib import Path

import pytest

# Beside the checkout, unless DA_REPLICATION_DATA names another folder.
DEFAULT_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"


def replication_data(*parts: str) -> Path:
    """Return the path of a published file or folder, or skip the test when it is absent."""
    folder = Path(os.environ.get("DA_REPLICATION_DATA") or DEFAULT_FOLDER)
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"no {path}: set DA_REPLICATION_DATA to the folder of published data")
    return path
