"""The signed token that Prolific can add to a launch, and the keys that sign it."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
import jwt
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from ...exceptions import ArrivalRefused, ProviderFailed
from .base import EXPIRED, INVALID

ISSUER = "https://www.prolific.com"
ALGORITHMS = ["RS256"]
# How long a token is accepted: launches are followed at once.
LIFETIME = timedelta(minutes=2)
# Allow for small differences between clocks.
LEEWAY = timedelta(seconds=10)

TIMEOUT_SECONDS = 5.0
# Keys are fetched at least daily, as Prolific asks, and for an unknown key id, but then at most once a minute.
KEYS_SECONDS = 12 * 60 * 60
RENEWAL_SECONDS = 60


def verified_ids(token: str, *, url: str) -> dict[str, str]:
    """Return the ids in a token that is signed by Prolific, recent, and meant for this URL."""
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        claims = jwt.decode(
            token,
            _key_named(kid),
            algorithms=ALGORITHMS,
            issuer=ISSUER,
            leeway=LEEWAY,
            options={"require": ["exp", "iat", "iss", "aud", "sub"], "verify_aud": False},
        )
    except jwt.ExpiredSignatureError as error:
        raise ArrivalRefused(EXPIRED) from error
    except jwt.PyJWTError as error:
        raise ArrivalRefused(INVALID) from error
    # Even if the token claims a later expiry.
    if timezone.now().timestamp() - claims["iat"] > (LIFETIME + LEEWAY).total_seconds():
        raise ArrivalRefused(EXPIRED)
    if _place(str(claims["aud"])) != _place(url):
        raise ArrivalRefused(INVALID)
    ids = claims.get("prolific")
    if not isinstance(ids, dict) or ids.get("SESSION_ID") != claims["sub"]:
        raise ArrivalRefused(INVALID)
    return {name: str(value) for name, value in ids.items()}


def _place(url: str) -> tuple[str, str, str]:
    """A URL without its parameters, which hold the ids and are compared separately."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower(), parts.path.rstrip("/")


def _key_named(kid: str | None) -> Any:
    for keys in (_keys, _renewed_keys):
        for key in keys():
            if kid and key.get("kid") == kid:
                return jwt.PyJWK(key, algorithm="RS256").key
    raise ArrivalRefused(INVALID)


def _cache_key(what: str) -> str:
    return f"prolific-{what}:{settings.PROLIFIC_KEYS_URL}"


def _keys() -> list[dict[str, Any]]:
    return cache.get(_cache_key("keys")) or _fetched_keys()


def _renewed_keys() -> list[dict[str, Any]]:
    """Fetch the keys again, but not too often: anyone can send unknown key ids."""
    if not cache.add(_cache_key("renewal"), True, RENEWAL_SECONDS):
        return []
    return _fetched_keys()


def _fetched_keys() -> list[dict[str, Any]]:
    try:
        answer = httpx.get(settings.PROLIFIC_KEYS_URL, timeout=TIMEOUT_SECONDS)
        answer.raise_for_status()
        keys = answer.json()["keys"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        raise ProviderFailed(f"Prolific's keys could not be fetched: {error}") from error
    cache.set(_cache_key("keys"), keys, KEYS_SECONDS)
    return list(keys)
