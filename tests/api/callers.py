"""Callers of the API with different permissions."""

from typing import Any

from django.test import Client

from hits.models import ApiToken, Campaign
from hits.people.tokens import make_token
from tests.people import make_person

ALL_SCOPES = tuple(ApiToken.Scope.values)


def secret_of(
    role: str, campaign: Campaign | None = None, scopes: tuple[str, ...] = ALL_SCOPES
) -> str:
    """Create a person with a token and return its secret."""
    return make_token(user=make_person(role, campaign), name="test", scopes=scopes)[1]


class Caller:
    """Calls the API with a token, or without one."""

    def __init__(self, secret: str = "") -> None:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        self.client = Client(headers=headers)

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"/api/v1{path}", query)

    def post(self, path: str, body: Any = None) -> Any:
        return self.send("post", path, body)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send JSON by any method."""
        call = getattr(self.client, method)
        return call(f"/api/v1{path}", body or {}, content_type="application/json")

    def upload(self, path: str, fields: dict[str, Any]) -> Any:
        """Send a form with files."""
        return self.client.post(f"/api/v1{path}", fields)


def caller(
    role: str, campaign: Campaign | None = None, scopes: tuple[str, ...] = ALL_SCOPES
) -> Caller:
    return Caller(secret_of(role, campaign, scopes))
