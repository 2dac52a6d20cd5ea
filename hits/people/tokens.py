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

# Makes a leaked token recognisable, to people and to secret scanners.
PREFIX = "dap_"
DEFAULT_DAYS, MAX_DAYS = 90, 365
# Valid tokens per person: enough for each script to have its own, few enough to keep track of.
MAX_TOKENS = 20
# "Last used" need not be more exact than this, which saves a write on most requests.
USE_NOTED_EVERY = timedelta(minutes=5)


@transaction.atomic
def make_token(
    *, user: User, name: str, scopes: Collection[str], days: int = DEFAULT_DAYS
) -> tuple[ApiToken, str]:
    """Create a token and return it with its secret, which is shown once and not stored."""
    if not 1 <= days <= MAX_DAYS:
        raise ValueError(f"A token is valid for between 1 and {MAX_DAYS} days.")
    # Locked, so that concurrent requests see each other's tokens.
    User.objects.select_for_update().get(pk=user.pk)
    if user.api_tokens.valid().count() >= MAX_TOKENS:
        raise PeopleRefused(
            f"You have {MAX_TOKENS} valid tokens, which is the maximum. Revoke one first."
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
    """Find the valid token with this secret, and record that it was used."""
    token = ApiToken.objects.valid().filter(digest=_digest(secret)).first()
    if token:
        now = timezone.now()
        is_due = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_NOTED_EVERY)
        if token.last_used_at is None or token.last_used_at < now - USE_NOTED_EVERY:
            ApiToken.objects.filter(is_due, pk=token.pk).update(last_used_at=now)
    return token


@transaction.atomic
def revoke_token(*, token: ApiToken, actor: User) -> None:
    """Revoke a token. Revoking it twice has no effect."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        record("revoke_token", actor=actor, token=str(token.code), name=token.name)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
