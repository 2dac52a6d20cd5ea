"""Wait for something that happens in another process or thread."""

import time
from collections.abc import Callable
from typing import Any

# Long enough for a busy machine.
PATIENCE_SECONDS = 120.0


def eventually(
    condition: Callable[[], Any],
    *,
    meanwhile: Callable[[], Any] = lambda: None,
    within: float = PATIENCE_SECONDS,
) -> Any:
    """Wait until the condition is true and return its value; fail if it takes too long."""
    deadline = time.monotonic() + within
    while not (result := condition()):
        assert time.monotonic() < deadline, f"the condition did not hold within {within} seconds"
        meanwhile()
        time.sleep(0.02)
    return result
