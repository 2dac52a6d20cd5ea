"""How a running job reports progress and learns that it should stop."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.utils import timezone

from ..exceptions import PlatformError
from .models import Job

# How often progress is stored and a request to cancel is looked for.
LOOK_SECONDS = 0.4
# How many signs of life a job gives in the time after which it counts as dead.
BEATS_BEFORE_STALE = 6
# Keeps a runaway loop from filling the table.
MAX_LOG_LINES = 1_000


UNEXPECTED = "Something went wrong; the administrators can see the details."


class JobCancelled(Exception):
    """Raised in a job that should stop: it was cancelled, or another attempt has taken over."""


def log_line(text: str) -> str:
    return f"{timezone.now():%Y-%m-%d %H:%M:%S} {text}\n"


def appended(line: str) -> Concat:
    """The log of a job with one more line, for an UPDATE."""
    return Concat(F("log"), Value(line))


class JobTookTooLong(PlatformError):
    """Raised in a job that exceeds the time limit."""

    def __init__(self) -> None:
        super().__init__(
            f"The job was stopped after {settings.JOB_MAX_SECONDS:,} seconds, the time limit for jobs. "
            "Do less at once, or raise DA_JOB_MAX_SECONDS."
        )


class Report:
    """Progress and log of one attempt at a job. Reporting is cheap: call it in every loop.

    A thread with its own connection stores the reports, so that they are visible while the job is in a
    long transaction, and gives a sign of life when there are none. On SQLite it has to wait while the
    job itself is writing.
    """

    def __init__(
        self, job: Job, *, listener: Callable[[int, int | None], None] | None = None
    ) -> None:
        self._own = Job.objects.unfinished().filter(pk=job.pk, attempt=job.attempt)
        self._listener = listener
        self._lock = threading.Lock()
        self._n_done = 0
        self._n_total: int | None = None
        self._n_lines = 0
        self._lines: list[str] = []
        self._is_news = False
        self._has_to_stop = False
        self._began_at = self._looked_at = self._beat_at = time.monotonic()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._keep_saving, daemon=True)

    def __enter__(self) -> Self:
        if _is_visible_elsewhere():
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def progress(self, n_done: int, n_total: int | None = None) -> None:
        """Report progress. Raises `JobCancelled` if the job should stop here."""
        self._n_done = n_done
        self._n_total = n_total if n_total is not None else self._n_total
        self._is_news = True
        if self._listener:
            self._listener(self._n_done, self._n_total)
        self.check()

    def advance(self, n: int) -> None:
        """Report that `n` more are done."""
        self.progress(self._n_done + n)

    def log(self, text: str) -> None:
        """Add a line to the log on the job's page."""
        with self._lock:
            self._n_lines += 1
            if self._n_lines <= MAX_LOG_LINES:
                self._lines.append(log_line(text))
            elif self._n_lines == MAX_LOG_LINES + 1:
                self._lines.append(log_line("Further lines are omitted."))
        self._is_news = True

    def check(self) -> None:
        """Raise `JobCancelled` if the job should stop."""
        if self._thread.ident is None and time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self._sync()
        if self._has_to_stop:
            raise JobCancelled
        if time.monotonic() - self._began_at > settings.JOB_MAX_SECONDS:
            raise JobTookTooLong

    def unsaved(self) -> dict[str, Any]:
        """What has not been stored yet, as fields of the job."""
        with self._lock:
            text, self._lines = "".join(self._lines), []
        fields: dict[str, Any] = {"n_done": self._n_done, "n_total": self._n_total}
        return fields | ({"log": appended(text)} if text else {})

    def _keep_saving(self) -> None:
        try:
            while not self._is_over.wait(LOOK_SECONDS):
                self._sync()
        finally:
            connection.close()

    def _sync(self) -> None:
        self._looked_at = time.monotonic()
        beat_seconds = settings.JOB_STALE_SECONDS / BEATS_BEFORE_STALE
        try:
            if self._is_news or self._looked_at - self._beat_at > beat_seconds:
                self._save()
            if not self._own.filter(cancel_requested_at=None).exists():
                self._has_to_stop = True
        except DatabaseError:
            # The database is busy or down. Try again next time; the job itself will fail if it matters.
            self._is_news = True

    def _save(self) -> None:
        """Store new reports. Sets the state too, since the job may just have been taken for dead."""
        self._is_news = False
        with self._lock:
            lines = list(self._lines)
        fields: dict[str, Any] = {"log": appended("".join(lines))} if lines else {}
        self._own.update(
            state=Job.State.RUNNING,
            heartbeat_at=timezone.now(),
            n_done=self._n_done,
            n_total=self._n_total,
            **fields,
        )
        # Only once they are stored.
        with self._lock:
            del self._lines[: len(lines)]
        self._beat_at = time.monotonic()


def _is_visible_elsewhere() -> bool:
    """Whether other connections can see the job: not within a transaction or with an in-memory database."""
    is_in_memory = getattr(connection, "is_in_memory_db", lambda: False)
    return not connection.in_atomic_block and not is_in_memory()
