from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulators.mturk import MTurk, running_mturk


@pytest.fixture
def mturk(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[MTurk]:
    """Mechanical Turk on loopback, with work submitted by alice and bob."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with running_mturk() as service:
        settings.MTURK_ENDPOINT = service.endpoint
        settings.PAYMENT_GRACE_SECONDS = 0
        service.submit("visitalice", "alice")
        service.submit("visitbob", "bob")
        yield service
