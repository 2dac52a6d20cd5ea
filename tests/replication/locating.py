"""Finds the published data sets; README.md in this folder lists them."""

import os
from pathlib import Path

from tests.subprocesses import CHECKOUT


def data_folder() -> Path:
    """Return DA_REPLICATION_DATA, or `shared/data` next to the checkout."""
    named = os.environ.get("DA_REPLICATION_DATA")
    return Path(named) if named else CHECKOUT.parent / "shared" / "data"


def replication_data(*parts: str) -> Path:
    """Return the path of a published file or folder, or skip the test if it is missing."""
    # Imported here because benchmarks, which measure memory, need only the folder.
    import pytest

    path = data_folder().joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there; see tests/replication/README.md")
    return path
