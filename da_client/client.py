"""A connection to a platform: its operations, jobs, files and errors."""

import json
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from shutil import make_archive
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import httpx

from .frames import frame
from .operations import Operation, read_operations

if TYPE_CHECKING:
    import pandas

DESCRIPTION = "/api/v1/openapi.json"
# The most that the API puts in a page.
PAGE_SIZE = 1000
POLL_SECONDS = 0.5
FINISHED = ("done", "failed", "cancelled")
# Operations that create a campaign, large ones in a job.
CREATING = {"create_campaign", "start_campaign_of_experiment"}
# Operations that answer with campaigns.
CAMPAIGNS = CREATING | {
    "duplicate_campaign",
    "get_campaign",
    "list_campaigns",
    "set_status",
}
# GET requests are sent again after these answers: too many requests, or a server that restarts.
PASSING = (429, 502, 503, 504)
N_RETRIES = 2
RETRY_SECONDS = 0.5
# The API counts requests per minute. If asked to wait longer than that, we raise the error.
LONGEST_PAUSE = 60


class Record(dict[str, Any]):
    """An answer of the API: a dict whose values can also be read as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"There is no {name!r}, only: {', '.join(self)}.") from None

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self]


class ApiError(Exception):
    """The platform refused: `status_code`, `detail`, and `problems` by file and line."""

    def __init__(self, response: httpx.Response) -> None:
        try:
            content = dict(response.json())
        except (TypeError, ValueError):
            content = {}
        self.status_code = response.status_code
        self.detail = str(content.get("detail", response.reason_phrase))
        self.problems: list[dict[str, Any]] = content.get("problems", [])
        seconds = response.headers.get("Retry-After", "")
        self.retry_after = int(seconds) if seconds.isdigit() else None
        super().__init__(f"{self.status_code}: {self.detail}")


class TooOften(ApiError):
    """Too many requests; try again after `retry_after` seconds."""


class JobFailed(Exception):
    """A job failed or was cancelled; `job` is its record."""

    def __init__(self, job: Record) -> None:
        self.job = job
        super().__init__(f"The job {job['kind']} was {job['state']}. {job['error']}".strip())


class Campaign(Record):
    """A campaign as the API describes it, with methods that return its data as pandas DataFrames."""

    def __init__(self, client: "Client", record: Record) -> None:
        super().__init__(record)
        self._client = client

    def ratings(self) -> "pandas.DataFrame":
        """Every rating, with its worker under a pseudonym, HIT, role, segment, systems and time."""
        return self._export("ratings")

    def segments(self, *, run: int | None = None) -> "pandas.DataFrame":
        """The score of each system's output for each segment in a gold run, or in the latest."""
        return self._export("segments", run=run)

    def documents(self, *, run: int | None = None) -> "pandas.DataFrame":
        """The score of each document of each system in a gold run, or in the latest."""
        return self._export("documents", run=run)

    def systems(self, *, run: int | None = None) -> "pandas.DataFrame":
        """The ranking of a gold run, or of the latest: scores, intervals, wins and clusters."""
        return self._export("systems", run=run)

    def evidence(self) -> "pandas.DataFrame":
        """The latest evidence about each worker."""
        return self._export("evidence")

    def rankings(self) -> "pandas.DataFrame":
        """Every rank of an output on a screen, of a campaign that ranks outputs, and why screens were skipped."""
        return self._export("rankings")

    def _export(self, kind: str, **options: Any) -> "pandas.DataFrame":
        return frame(self._client.download_export(self.code, kind, format="parquet", **options))


class Client:
    """A connection to a platform, with a method for each operation of its API.

    `dir(client)` lists the operations and `help(client.build_gold)` describes one. Parts of the
    address, such as a campaign's code, can be given by position, everything else by name. Answers
    are records, lists are read page by page to their end (or to `limit`), and downloads return
    bytes, or write the file that `save_to` names. A file argument is a path (folders are zipped)
    or a pandas DataFrame, which is sent as CSV.

    Parameters
    ----------
    url : str
        Such as `https://da.example.org`. The API's description is read from it once, here.
    token : str
        Create one on the platform under API tokens.
    timeout : float
        Seconds to wait for an answer.
    transport : httpx.BaseTransport, optional
        In place of the network, for tests.

    Examples
    --------
    >>> with Client("http://localhost:8000", token) as da:  # doctest: +SKIP
    ...     campaign = da.list_campaigns()[0]
    ...     job = da.wait(da.build_gold(campaign.code, minimum=1))
    ...     scores = campaign.segments(run=job.result.run)
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout,
            transport=transport,
        )
        description = self._send("GET", DESCRIPTION).json()
        self._calls = {
            operation.name: self._function(operation) for operation in read_operations(description)
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        calls = self.__dict__.get("_calls", {})
        if name not in calls:
            raise AttributeError(
                f"The API has no operation {name!r}. Its operations are: {', '.join(calls)}."
            )
        return calls[name]

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._calls]

    def wait(self, job: Record, *, seconds: float = 600.0) -> Record:
        """Wait until a job is done and return it, with its `result`; raise `JobFailed` if it failed."""
        deadline = time.monotonic() + seconds
        while job["state"] not in FINISHED:
            if time.monotonic() > deadline:
                raise TimeoutError(f"The job {job['code']} was not finished in {seconds:g} s.")
            time.sleep(POLL_SECONDS)
            job = self.get_job(job["code"])
        if job["state"] != "done":
            raise JobFailed(job)
        return job

    # Records, or a downloaded CSV or Parquet file, as a pandas DataFrame.
    frame = staticmethod(frame)

    def campaign(self, name: str) -> "Campaign":
        """Return the campaign with this name; its methods give its ratings and results as frames."""
        campaigns = [found for found in self.list_campaigns(search=name) if found.name == name]
        if len(campaigns) != 1:
            raise LookupError(f"There are {len(campaigns)} campaigns called {name!r}, not one.")
        return campaigns[0]

    def _function(self, operation: Operation) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._call(operation, operation.bind(*args, **kwargs))

        call.__name__ = call.__qualname__ = operation.name
        call.__doc__ = operation.doc
        call.__signature__ = operation.signature  # type: ignore[attr-defined]
        return call

    def _call(self, operation: Operation, arguments: dict[str, Any]) -> Any:
        fields = {place: operation.sent_in(place, arguments) for place in operation.places.values()}
        quoted = {
            name: quote(str(value), safe="") for name, value in fields.get("path", {}).items()
        }
        path = operation.path.format(**quoted)
        query = fields.get("query", {})
        if "offset" in operation.places:
            return self._with_frames(operation, self._rows(path, **query))
        if "save_to" in operation.places:
            return self._download(path, query, arguments.get("save_to"))
        content: dict[str, Any] = {"params": query, "data": fields.get("form")}
        if operation.method != "GET":
            content["json"] = fields.get("json", {})
        with ExitStack() as stack:
            files = [
                (field, _opened(file, stack))
                for field, value in fields.get("file", {}).items()
                for file in (value if isinstance(value, list | tuple) else [value])
            ]
            response = self._send(operation.method, path, files=files, **content)
        if operation.name in CREATING and response.status_code == 202:
            # A job reads large files; its result names the campaign.
            return self.get_campaign(self.wait(_read(response))["result"]["campaign"])
        return self._with_frames(operation, _read(response))

    def _with_frames(self, operation: Operation, answer: Any) -> Any:
        """Return campaigns with their methods, and any other answer as it is."""
        if operation.name not in CAMPAIGNS:
            return answer
        if isinstance(answer, list):
            return [Campaign(self, record) for record in answer]
        return Campaign(self, answer)

    def _rows(
        self, path: str, *, limit: int | None = None, offset: int = 0, **query: Any
    ) -> list[Record]:
        rows: list[Record] = []
        while True:
            size = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit - len(rows))
            params = {**query, "limit": size, "offset": offset + len(rows)}
            page = _read(self._send("GET", path, params=params))
            rows += page["items"]
            is_last = not page["items"] or offset + len(rows) >= page["count"]
            if is_last or len(rows) == limit:
                return rows

    def _download(
        self, path: str, query: dict[str, Any], save_to: Path | str | None
    ) -> bytes | Path:
        with closing(self._send("GET", path, stream=True, params=query)) as response:
            if save_to is None:
                return response.read()
            with Path(save_to).open("wb") as file:
                for chunk in response.iter_bytes():
                    file.write(chunk)
        return Path(save_to)

    def _send(
        self, method: str, path: str, *, stream: bool = False, **content: Any
    ) -> httpx.Response:
        """Return a successful response or raise `ApiError`; a GET is tried up to three times."""
        request = self._http.build_request(method, path, **content)
        for attempt in range(N_RETRIES if method == "GET" else 0):
            pause = RETRY_SECONDS * 2**attempt
            try:
                return self._send_once(request, stream)
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                pass
            except ApiError as error:
                pause = error.retry_after or pause
                if error.status_code not in PASSING or pause > LONGEST_PAUSE:
                    raise
            time.sleep(pause)
        return self._send_once(request, stream)

    def _send_once(self, request: httpx.Request, stream: bool) -> httpx.Response:
        response = self._http.send(request, stream=stream)
        if response.is_success:
            return response
        response.read()
        raise TooOften(response) if response.status_code == 429 else ApiError(response)


def _read(response: httpx.Response) -> Any:
    return json.loads(response.content, object_hook=Record)


def _opened(file: Any, stack: ExitStack) -> tuple[str, Any]:
    """Return a file's name and its content, open until the stack closes."""
    if hasattr(file, "to_csv"):
        return "table.csv", file.to_csv(index=False)
    path = Path(file).resolve()
    if path.is_dir():
        folder = stack.enter_context(TemporaryDirectory())
        path = Path(make_archive(f"{folder}/{path.name}", "zip", path.parent, path.name))
    return path.name, stack.enter_context(path.open("rb"))
