"""Find the published research data that replication tests compare with; it is not shipped."""

import os
from pathlib import Path

import pytest

VARIABLE = "DA_REPLICATION_DATA"
BESIDE_THE_CHECKOUT = Path(__file__).parents[3] / "shared" / "data"


def replication_data(folder: str) -> Path:
    """Return the folder of one data set, or skip the test that asks for it."""
    root = Path(os.environ.get(VARIABLE, BESIDE_THE_CHECKOUT))
    path = root / folder
    if not path.is_dir():
        pytest.skip(f"No replication data in {path}; set {VARIABLE} to the folder that holds it.")
    return path
