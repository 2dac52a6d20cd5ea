"""Authentication by token, with scopes and rate limits."""

from collections.abc import Iterable
from uuid import UUID

from django.http import HttpRequest
from ninja.errors import HttpError
from ninja.security import HttpBearer

from ..models import ApiToken, Campaign
from ..people.access import Level, campaign_for
from ..people.guards import check_call, check_wrong_token
from ..people.tokens import token_of

Scope = ApiToken.Scope


def check_scopes(token: ApiToken, scopes: Iterable[Scope]) -> None:
    if missing := [scope.value for scope in scopes if scope not in token.scopes]:
        raise HttpError(403, f"This token lacks the scope {' and '.join(map(repr, missing))}.")


class Needs(HttpBearer):
    """Require a token with these scopes; the operation itself checks its user's permissions."""

    openapi_name = "Token"

    def __init__(self, *scopes: Scope) -> None:
        super().__init__()
        self.scopes = scopes

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        api_token = token_of(token)
        if api_token is None:
            check_wrong_token(request)
            return None
        # Before the scopes, so that refused calls count towards the limit too.
        check_call(api_token.user)
        check_scopes(api_token, self.scopes)
        # Overrides the user of the browser's session, if any.
        request.user = api_token.user
        return api_token


def own_campaign(request: HttpRequest, code: UUID) -> Campaign:
    """Return the campaign, or raise `Http404` unless the user is one of its admins."""
    return campaign_for(request.user, code, Level.ADMIN)
