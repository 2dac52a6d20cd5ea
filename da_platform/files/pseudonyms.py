"""Pseudonyms for workers and assignments.

They are keyed with the platform's secret, because anyone with a list of ids could reverse a plain hash.
The campaign is part of the hash: a worker has the same pseudonym throughout a campaign, and a different
one in every other.
"""

from collections.abc import Sequence
from uuid import UUID

from django.utils.crypto import salted_hmac

# 80 bits: the chance that any two of a million workers share one is below one in a trillion.
NAME_DIGITS = 20
_SALT = "analysis.exporting.pseudonyms"
# Limits the memory for pseudonyms in use.
_MAX_CACHED = 50_000


class Pseudonyms:
    """Maps ids of one sort, such as workers, to their pseudonyms in a campaign's exports."""

    def __init__(self, campaign_code: UUID, sort: str) -> None:
        self._context = f"{campaign_code.hex}\0{sort}\0"
        self._prefix = sort[0]
        self._cache: dict[str, str] = {}

    def name(self, real_id: str) -> str:
        if (cached := self._cache.get(real_id)) is not None:
            return cached
        if len(self._cache) >= _MAX_CACHED:
            self._cache.clear()
        name = f"{self._prefix}{_keyed_digest(self._context + real_id)}"
        self._cache[real_id] = name
        return name

    def names(self, real_ids: Sequence[str]) -> list[str]:
        # An empty id has no pseudonym.
        return [self.name(real_id) if real_id else "" for real_id in real_ids]


def key_fingerprint() -> str:
    """Return a fingerprint that shows whether two exports used the same secret."""
    return _keyed_digest("key fingerprint")[:8]


def _keyed_digest(text: str) -> str:
    return salted_hmac(_SALT, text, algorithm="sha256").hexdigest()[:NAME_DIGITS]
