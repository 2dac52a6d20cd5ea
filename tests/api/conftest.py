from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Make the requests of the fuzzing tests, which takes seconds, only if they are run."""
    is_left_out = "not slow" in config.option.markexpr
    return True if is_left_out and collection_path.name == "test_fuzzing.py" else None
