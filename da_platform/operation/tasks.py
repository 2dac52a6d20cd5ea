"""Signs of life: of the schedule, by a task, and of each Celery worker, from its main process."""

import logging
from threading import Thread
from typing import Any

from celery import bootsteps, current_app, shared_task  # type: ignore[import-untyped]
from django.conf import settings
from django.db import DatabaseError, connections

from . import signs

logger = logging.getLogger(__name__)


@shared_task(name="operation.give_sign")
def give_sign() -> None:
    """Sent by beat and run by a worker, so it shows that the schedule works."""
    signs.give_sign("beat")


class GiveSigns(bootsteps.StartStopStep):
    """Record twice a minute that this worker is alive, and which queues it serves.

    From its main process and not by a task: a worker that is busy for hours runs no other task, and one
    that serves only jobs would never get it. Without a broker it records nothing, as it can do nothing.
    """

    # By name, because web processes, which only send, need not load the worker's code.
    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, consumer: Any, **options: Any) -> None:
        self.entry: Any = None
        self.thread: Thread | None = None
        super().__init__(consumer, **options)

    def start(self, consumer: Any) -> None:
        self._sign(consumer)
        self.entry = consumer.timer.call_repeatedly(settings.SIGN_SECONDS, self._sign, (consumer,))

    def stop(self, consumer: Any) -> None:
        if self.entry:
            consumer.timer.cancel(self.entry)
            self.entry = None

    def _sign(self, consumer: Any) -> None:
        # In a thread, so that a slow database delays no messages, and only one at a time.
        if self.thread is None or not self.thread.is_alive():
            signed = (consumer.hostname, list(consumer.app.amqp.queues.consume_from))
            self.thread = Thread(target=_give_sign, args=signed, daemon=True)
            self.thread.start()


def _give_sign(name: str, queues: list[str]) -> None:
    try:
        signs.give_sign(name, queues)
    except DatabaseError as error:
        logger.warning("A sign of life could not be stored: %s.", type(error).__name__)
    finally:
        connections.close_all()


current_app.steps["consumer"].add(GiveSigns)
