"""Where the real data are: beside the checkout, or where DA_REPLICATION_DATA says."""

import os
from pathlib import Path

import pytest

BESIDE_THE_CHECKOUT = Path(__file__).parents[3] / "shared" / "data"


def replication_data(*parts: str) -> Path:
    """Return the path of a real file or folder; skip the test where there is none."""
    root = Path(os.environ.get("DA_REPLICATION_DATA") or BESIDE_THE_CHECKOUT)
    path = root.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there; set DA_REPLICATION_DATA to the folder of real data")
    return path
