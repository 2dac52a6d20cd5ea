"""Names for workers and assignments that tell nobody who they are.

A plain hash would not do: whoever knows a list of ids (and every crowd platform's requesters do) can hash
them all and look. So the names are keyed with the platform's secret. The campaign is part of what is
hashed: a worker has one name throughout a campaign, and another in every other.
"""

from collections.abc import Sequence

from django.utils.crypto import salted_hmac

from hits.models import Campaign

# 80 bits: among a million workers the chance that any two share a name is below one in a trillion.
NAME_DIGITS = 20
_SALT = "analysis.exporting.pseudonyms"
# Enough for every HIT under way at once; then the memory is given back.
_MAX_REMEMBERED = 50_000


class Pseudonyms:
    """Turns ids of one sort, such as workers, into the names they have in a campaign's exports."""

    def __init__(self, campaign: Campaign, sort: str) -> None:
        self._context = f"{campaign.code.hex}\0{sort}\0"
        self._prefix = sort[0]
        self._known: dict[str, str] = {}

    def name(self, real_id: str) -> str:
        if (known := self._known.get(real_id)) is not None:
            return known
        if len(self._known) >= _MAX_REMEMBERED:
            self._known.clear()
        made = f"{self._prefix}{_keyed_digest(self._context + real_id)}"
        self._known[real_id] = made
        return made

    def names(self, real_ids: Sequence[str]) -> list[str]:
        return [self.name(real_id) for real_id in real_ids]


def key_fingerprint() -> str:
    """Tell whether two exports were named with the same secret, and nothing more about it."""
    return _keyed_digest("key fingerprint")[:8]


def _keyed_digest(text: str) -> str:
    return salted_hmac(_SALT, text, algorithm="sha256").hexdigest()[:NAME_DIGITS]
