"""The parts of Prolific's API that we use: https://docs.prolific.com/api-reference."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
from django.conf import settings

from ...exceptions import ProviderFailed, ProviderRefused

TIMEOUT_SECONDS = 10.0
PAGE_SIZE = 100
# More than the submissions of any study: guards against a list that never ends.
MAX_PAGES = 1_000


class ProlificAPI:
    """One method for each request. All raise `ProviderFailed` with a message for an admin."""

    def create_study(self, study: dict[str, Any]) -> dict[str, Any]:
        return self._request("POST", "studies/", study)

    def study(self, study: str) -> dict[str, Any]:
        return self._request("GET", f"studies/{_quoted(study)}/")

    def delete_study(self, study: str) -> None:
        self._request("DELETE", f"studies/{_quoted(study)}/")

    def publish(self, study: str) -> dict[str, Any]:
        return self._request("POST", f"studies/{_quoted(study)}/transition/", {"action": "PUBLISH"})

    def pause(self, study: str) -> dict[str, Any]:
        return self._request("POST", f"studies/{_quoted(study)}/transition/", {"action": "PAUSE"})

    def start(self, study: str) -> dict[str, Any]:
        """Resume a paused study."""
        return self._request("POST", f"studies/{_quoted(study)}/transition/", {"action": "START"})

    def set_places(self, study: str, n_places: int) -> dict[str, Any]:
        return self._request(
            "PATCH", f"studies/{_quoted(study)}/", {"total_available_places": n_places}
        )

    def submissions(self, study: str) -> Iterator[dict[str, Any]]:
        for number in range(1, MAX_PAGES + 1):
            page = self._request(
                "GET", f"submissions/?study={_quoted(study)}&page={number}&page_size={PAGE_SIZE}"
            )
            yield from page["results"]
            if len(page["results"]) < PAGE_SIZE:
                return
        raise ProviderFailed("Prolific's list of submissions did not end.")

    def submission(self, reference: str) -> dict[str, Any]:
        return self._request("GET", f"submissions/{_quoted(reference)}/")

    def approve(self, reference: str) -> dict[str, Any]:
        return self._request(
            "POST", f"submissions/{_quoted(reference)}/transition/", {"action": "APPROVE"}
        )

    def reject(self, reference: str, *, category: str, message: str) -> dict[str, Any]:
        return self._request(
            "POST",
            f"submissions/{_quoted(reference)}/transition/",
            {"action": "REJECT", "message": message, "rejection_category": category},
        )

    def prepare_bonuses(self, study: str, csv_bonuses: str) -> dict[str, Any]:
        return self._request(
            "POST",
            "submissions/bonus-payments/",
            {"study_id": study, "csv_bonuses": csv_bonuses},
        )

    def pay_bonuses(self, prepared: str) -> None:
        """Pay what was prepared. Calling it again pays again."""
        self._request("POST", f"bulk-bonus-payments/{_quoted(prepared)}/pay/", {})

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        if not settings.PROLIFIC_API_TOKEN:
            raise ProviderFailed(
                "DA_PROLIFIC_API_TOKEN is not set, so Prolific's API cannot be used."
            )
        try:
            response = httpx.request(
                method,
                f"{settings.PROLIFIC_API_URL}/api/v1/{path}",
                json=body,
                headers={"Authorization": f"Token {settings.PROLIFIC_API_TOKEN}"},
                timeout=TIMEOUT_SECONDS,
            )
        except httpx.HTTPError as error:
            raise ProviderFailed(f"Prolific could not be reached: {error}") from error
        if response.is_client_error:
            raise ProviderRefused(
                f"Prolific refused ({response.status_code}): {_error_message(response)}"
            )
        if not response.is_success:
            raise ProviderFailed(
                f"Prolific failed ({response.status_code}): {_error_message(response)}"
            )
        return _content(response)


def _content(response: httpx.Response) -> Any:
    if not response.content:
        return {}
    try:
        return response.json()
    except ValueError as error:
        raise ProviderFailed("Prolific sent a response that is not JSON.") from error


def _error_message(response: httpx.Response) -> str:
    """The error message from Prolific, shortened."""
    try:
        error = response.json()["error"]
        reason = error.get("detail") or error.get("title")
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = response.text
    return str(reason)[:500] or "no reason given"


def _quoted(part: str) -> str:
    return quote(part, safe="")
