"""Wait for what comes about by itself, in another process or thread."""

import time
from collections.abc import Callable
from typing import Any

# On a busy machine. Nothing that a test waits for takes nearly as long on an idle one.
PATIENCE_SECONDS = 120.0


def eventually(
    condition: Callable[[], Any],
    *,
    meanwhile: Callable[[], Any] = lambda: None,
    within: float = PATIENCE_SECONDS,
) -> Any:
    """Ask until it holds, and return what it is then; fail if it does not come to pass in time."""
    deadline = time.monotonic() + within
    while not (found := condition()):
        assert time.monotonic() < deadline, f"it did not come to pass within {within} seconds"
        meanwhile()
        time.sleep(0.02)
    return found
