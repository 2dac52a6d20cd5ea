"""Forgotten ids that a provider's list or a results file may contain again: they are ignored.

Only a keyed hash is stored, linked to no worker. With the key and an id, one can check whether it was forgotten.
"""

from collections.abc import Iterable

from django.conf import settings
from django.utils.crypto import salted_hmac

from ..models import HIT, ForgottenMark, Recruitment


def visit(recruitment: Recruitment, reference: str) -> str:
    """Identify a visit by the provider's reference."""
    return f"visit {recruitment.campaign.code} {reference}"


def work(hit: HIT, provider: str, external_id: str) -> str:
    """Identify a worker's work on one HIT."""
    return f"work {hit.code} {provider} {external_id}"


def mark_as_forgotten(names: Iterable[str]) -> None:
    marks = [ForgottenMark(mark=_mark(name, settings.SECRET_KEY)) for name in names]
    ForgottenMark.objects.bulk_create(marks, ignore_conflicts=True)


def is_forgotten(name: str) -> bool:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return ForgottenMark.objects.filter(mark__in=[_mark(name, key) for key in keys]).exists()


def _mark(name: str, key: str) -> str:
    return salted_hmac("hits.forgotten", name, secret=key, algorithm="sha256").hexdigest()
