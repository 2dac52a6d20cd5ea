"""What Celery does for operation: thin, and harmless when done twice."""

from celery import shared_task  # type: ignore[import-untyped]


@shared_task(name="operation.give_sign")
def give_sign() -> None:
    """Asked for by beat, done by a worker: the schedule is kept."""
    from .signs import give_sign

    give_sign("beat")
