"""Calls about workers and how they come: looked at, decided about, invited."""

from collections.abc import Iterator, Sequence
from typing import Any

from .connection import Connection
from .models import (
    Assignment,
    Evidence,
    Invite,
    Job,
    Link,
    Preview,
    Recruiting,
    Sighting,
    Submission,
    Worker,
)


class WorkerCalls(Connection):
    def workers(self, code: str, **filters: Any) -> Iterator[Worker]:
        """Workers of a campaign; by `state`, `flag`, `decision`, `search`, in the order of `sort`."""
        for row in self._pages(f"/campaigns/{code}/workers", **filters):
            yield Worker.of(row)

    def worker(self, code: str, worker: str) -> Worker:
        return Worker.of(self._get(f"/campaigns/{code}/workers/{worker}"))

    def evidence(self, code: str, worker: str) -> Iterator[Evidence]:
        """All that was found about a worker, newest first."""
        for row in self._pages(f"/campaigns/{code}/workers/{worker}/evidence"):
            yield Evidence.of(row)

    def assignments(self, code: str, worker: str) -> Iterator[Assignment]:
        """The HITs that a worker took, newest first."""
        for row in self._pages(f"/campaigns/{code}/workers/{worker}/assignments"):
            yield Assignment.of(row)

    def preview(self, code: str, choice: str, workers: Sequence[str]) -> Preview:
        """What a decision would do: `exclude`, `reinstate`, or `evidence` to let that decide.

        About 500 workers at most at once.
        """
        body = {"choice": choice, "workers": list(workers)}
        return Preview.of(self._post(f"/campaigns/{code}/workers/preview", body))

    def decide(self, code: str, preview: Preview, *, reason: str) -> int:
        """Decide as previewed; return about how many workers there was something to decide.

        Whoever changed at the very moment is left alone and not among them.
        """
        body = {
            "choice": preview.choice,
            "workers": [change["worker"] for change in preview.changes],
            "reason": reason,
            "seen": preview.fingerprint,
        }
        answer = self._post(f"/campaigns/{code}/workers/decide", body)
        return int(answer["n_decided"])

    def recompute_workers(self, code: str) -> Job:
        return Job.of(self._post(f"/campaigns/{code}/workers/recompute"))

    # How they come ----------------------------------------------------------------------------

    def recruiting(self, code: str) -> Recruiting:
        return Recruiting.of(self._get(f"/campaigns/{code}/recruiting"))

    def set_recruiting(self, code: str, provider: str, **values: Any) -> Recruiting:
        body = {"provider": provider, "values": values}
        return Recruiting.of(self._send("PUT", f"/campaigns/{code}/recruiting", body))

    def invites(self, code: str) -> Iterator[Invite]:
        """The links that were made, newest first."""
        for row in self._pages(f"/campaigns/{code}/invites"):
            yield Invite.of(row)

    def make_links(self, code: str, n: int = 1, **options: Any) -> list[Link]:
        """Make invite links: `label`, `days`, `is_personal`, `max_uses`. They are told this once."""
        rows = self._post(f"/campaigns/{code}/invites", {"n": n, **options})
        return [Link.of(row) for row in rows]

    def revoke_links(self, code: str, ids: Sequence[int] | None = None) -> int:
        """Withdraw links by their ids, or all of them; return how many were good until now."""
        body = {"everything": True} if ids is None else {"ids": list(ids)}
        return int(self._post(f"/campaigns/{code}/invites/revoke", body)["n_revoked"])

    def create_study(self, code: str) -> Recruiting:
        return Recruiting.of(self._post(f"/campaigns/{code}/study"))

    def publish_study(self, code: str) -> str:
        """Return what Prolific says of its status."""
        return str(self._post(f"/campaigns/{code}/study/publish")["status"])

    def sync_submissions(self, code: str) -> Job:
        return Job.of(self._post(f"/campaigns/{code}/study/sync"))

    def raise_places(self, code: str) -> Job:
        """Ask Prolific for as many places as the campaign wants by now."""
        return Job.of(self._post(f"/campaigns/{code}/study/places"))

    def submissions(self, code: str) -> Iterator[Submission]:
        """The provider's submissions, newest first."""
        for row in self._pages(f"/campaigns/{code}/submissions"):
            yield Submission.of(row)

    def devices(self, code: str) -> Iterator[Sighting]:
        """Devices that several workers were seen with, worker by worker."""
        for row in self._pages(f"/campaigns/{code}/devices"):
            yield Sighting.of(row)
