"""Who calls: a token, what it may do, and how often."""

from collections.abc import Iterable

from django.http import HttpRequest
from ninja.errors import HttpError
from ninja.security import HttpBearer

from ..guards import check_call, check_wrong_token
from ..models import ApiToken
from ..people.tokens import token_of

Scope = ApiToken.Scope


def check_scopes(token: ApiToken, scopes: Iterable[Scope]) -> None:
    if lacking := [scope.value for scope in scopes if scope not in token.scopes]:
        raise HttpError(403, f"This token lacks the scope {' and '.join(map(repr, lacking))}.")


class Needs(HttpBearer):
    """Take a token that has these scopes. What its person may do is asked by the operation itself."""

    openapi_name = "Token"

    def __init__(self, *scopes: Scope) -> None:
        super().__init__()
        self.scopes = scopes

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        found = token_of(token)
        if found is None:
            check_wrong_token(request)
            return None
        # Whatever comes of it counts, a scope that is lacking too.
        check_call(found.user)
        check_scopes(found, self.scopes)
        # From here on the request is that person's; the browser's session plays no part.
        request.user = found.user
        return found
