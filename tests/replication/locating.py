"""Where the published data sets are that do not belong to this project; README.md here says which."""

import os
from pathlib import Path

from tests.subprocesses import CHECKOUT


def data_folder() -> Path:
    """The folder that DA_REPLICATION_DATA names, and without it `shared/data` beside the checkout."""
    named = os.environ.get("DA_REPLICATION_DATA")
    return Path(named) if named else CHECKOUT.parent / "shared" / "data"


def replication_data(*parts: str) -> Path:
    """Return the path of a published file or folder; skip the test where there is none."""
    # Not above: benchmarks, which weigh their memory, ask for the folder alone.
    import pytest

    path = data_folder().joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is not there; see tests/replication/README.md")
    return path
