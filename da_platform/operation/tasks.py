"""What Celery does for operation: thin, and harmless when done twice."""

from typing import Any

from celery import shared_task  # type: ignore[import-untyped]


@shared_task(name="operation.give_sign", bind=True)
def give_sign(self: Any) -> None:
    from .signs import give_sign

    give_sign(self.request.hostname or "a worker")
