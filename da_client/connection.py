"""What all calls share: one address, one token, pages, files and errors."""

import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from .models import Job

PAGE_SIZE = 500
# Between two looks at a job.
POLL_SECONDS = 0.5


class ApiError(Exception):
    """The platform refused: its status code, what it said, and what is wrong with which file."""

    def __init__(self, answer: httpx.Response) -> None:
        self.status_code = answer.status_code
        try:
            content = answer.json()
        except ValueError:
            content = {}
        self.detail = str(content.get("detail", answer.reason_phrase))
        self.problems: list[dict[str, Any]] = content.get("problems", [])
        super().__init__(f"{self.status_code}: {self.detail}")


class JobFailed(Exception):
    """A job that was waited for failed or was cancelled."""

    def __init__(self, job: Job) -> None:
        self.job = job
        super().__init__(f"The job {job.kind} was {job.state}. {job.error}".strip())


class Connection:
    """An address and a token; the calls are in the classes made of it."""

    def __init__(self, address: str, token: str, *, timeout: float = 60.0) -> None:
        self._http = httpx.Client(
            base_url=f"{address.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    # Jobs -------------------------------------------------------------------------------------

    def jobs(self, **filters: Any) -> Iterator[Job]:
        """Jobs, newest first; `state` and `campaign` narrow them down."""
        for row in self._pages("/jobs", **filters):
            yield Job.of(row)

    def job(self, code: str) -> Job:
        return Job.of(self._get(f"/jobs/{code}"))

    def cancel_job(self, code: str) -> Job:
        return Job.of(self._post(f"/jobs/{code}/cancel"))

    def retry_job(self, code: str) -> Job:
        return Job.of(self._post(f"/jobs/{code}/retry"))

    def wait(self, job: Job, *, seconds: float = 600.0) -> Job:
        """Wait until a job is finished. One that failed is returned, not raised."""
        deadline = time.monotonic() + seconds
        while not job.is_finished:
            if time.monotonic() > deadline:
                raise TimeoutError(f"The job {job.code} was not finished in {seconds:g} s.")
            time.sleep(POLL_SECONDS)
            job = self.job(job.code)
        return job

    def result_of(self, job: Job, *, seconds: float = 600.0) -> dict[str, Any]:
        """Wait for a job and return its result; raise `JobFailed` if there is none."""
        done = self.wait(job, seconds=seconds)
        if done.state != "done":
            raise JobFailed(done)
        return done.result or {}

    # Under all calls --------------------------------------------------------------------------

    def _get(self, path: str, **query: Any) -> Any:
        return self._answer(self._http.get(path, params=query))

    def _post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        return self._send("POST", path, body)

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return self._answer(self._http.request(method, path, json=body or {}))

    def _upload(
        self, path: str, files: list[tuple[str, Path]], fields: dict[str, Any]
    ) -> httpx.Response:
        """Send files under the names of their fields; what is None is left out."""
        data = {name: value for name, value in fields.items() if value is not None}
        opened = [(field, (file.name, file.open("rb"))) for field, file in files]
        try:
            answer = self._http.post(path, data=data, files=opened)
        finally:
            for _, (_, stream) in opened:
                stream.close()
        if answer.is_error:
            raise ApiError(answer)
        return answer

    def _download(self, path: str, target: Path | str, **query: Any) -> Path:
        written = Path(target)
        with self._http.stream("GET", path, params=query) as answer:
            if answer.is_error:
                answer.read()
                raise ApiError(answer)
            with written.open("wb") as file:
                for chunk in answer.iter_bytes():
                    file.write(chunk)
        return written

    def _pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        offset = 0
        while True:
            page = self._get(path, limit=PAGE_SIZE, offset=offset, **query)
            yield from page["items"]
            offset += PAGE_SIZE
            if offset >= page["count"]:
                return

    @staticmethod
    def _answer(answer: httpx.Response) -> Any:
        if answer.is_error:
            raise ApiError(answer)
        return answer.json()
