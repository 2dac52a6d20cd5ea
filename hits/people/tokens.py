"""Making, checking and revoking API tokens."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from ..exceptions import PeopleRefused
from ..models import ApiToken
from .audit import record

# Says what it is when it turns up where it should not, for people and for secret scanners.
PREFIX = "dap_"
DEFAULT_DAYS, MAX_DAYS = 90, 365
# That work at once, for one person. Each script can have its own; what is forgotten is not left lying about.
MAX_TOKENS = 20
# "Last used" is for people: once in so long is exact enough, and saves a write on each request.
USE_NOTED_EVERY = timedelta(minutes=5)


@transaction.atomic
def make_token(
    *, user: User, name: str, scopes: Collection[str], days: int = DEFAULT_DAYS
) -> tuple[ApiToken, str]:
    """Make a token and return it with its secret, which is shown this once and kept nowhere."""
    if not 1 <= days <= MAX_DAYS:
        raise ValueError(f"A token lives between 1 and {MAX_DAYS} days.")
    # Of those who ask at the same time each sees what the others have made.
    User.objects.select_for_update().get(pk=user.pk)
    if user.api_tokens.valid().count() >= MAX_TOKENS:
        raise PeopleRefused(
            f"You have {MAX_TOKENS} tokens that work, and there cannot be more. Revoke one first."
        )
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        digest=_digest(secret),
        scopes=sorted({ApiToken.Scope(scope).value for scope in scopes}),
        expires_at=timezone.now() + timedelta(days=days),
    )
    record("make_token", actor=user, token=str(token.code), name=name, scopes=token.scopes)
    return token, secret


def token_of(secret: str) -> ApiToken | None:
    """Find the valid token with this secret, and note that it was used."""
    token = ApiToken.objects.valid().filter(digest=_digest(secret)).first()
    if token:
        now = timezone.now()
        is_due = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_NOTED_EVERY)
        if token.last_used_at is None or token.last_used_at < now - USE_NOTED_EVERY:
            ApiToken.objects.filter(is_due, pk=token.pk).update(last_used_at=now)
    return token


@transaction.atomic
def revoke_token(*, token: ApiToken, actor: User) -> None:
    """End a token's life. A second time changes nothing."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        record("revoke_token", actor=actor, token=str(token.code), name=token.name)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
