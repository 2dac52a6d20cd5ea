"""Invite links: created in bulk, shown once, stored as hashes."""

import csv
import io
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_noop

from hits.rating.joining import find_or_make_worker

from ..exceptions import ArrivalRefused
from ..models import Campaign, Invite, Participation, Recruitment, Worker
from ..people.audit import record
from .arrivals import current_submission, provider_of, recruitment_of
from .providers.base import EXPIRED

# 16 bytes, 128 bits: cannot be guessed.
TOKEN_BYTES = 16
MAX_INVITES = 5_000

ALL_USED = gettext_noop(
    "This link has already been used by the maximum number of people. Thank you for your interest."
)


@dataclass(frozen=True, slots=True)
class NewInvite:
    """An invite with its token, which cannot be looked up later."""

    invite: Invite
    token: str


def hash_of(token: str) -> str:
    # A plain hash is enough, because the token cannot be guessed.
    return sha256(token.encode()).hexdigest()


@transaction.atomic
def make_invites(
    *,
    campaign: Campaign,
    n: int,
    actor: User | None,
    label: str = "",
    is_personal: bool = True,
    max_uses: int | None = None,
    expires_at: datetime | None = None,
) -> list[NewInvite]:
    """Create links, each for one person or for up to `max_uses`."""
    tokens = [secrets.token_urlsafe(TOKEN_BYTES) for _ in range(n)]
    invites = [
        Invite(
            campaign=campaign,
            token_hash=hash_of(token),
            label=f"{label} {number}" if label and n > 1 else label,
            is_personal=is_personal,
            max_uses=1 if is_personal else max_uses,
            expires_at=expires_at,
        )
        for number, token in enumerate(tokens, start=1)
    ]
    Invite.objects.bulk_create(invites)
    record("invites made", actor=actor, campaign=campaign, n=n, is_personal=is_personal)
    return [NewInvite(invite, token) for invite, token in zip(invites, tokens, strict=True)]


def revoke_invites(*, campaign: Campaign, pks: Iterable[int] | None, actor: User | None) -> int:
    """Revoke links, or all links of a campaign. Workers who used one keep their access."""
    invites = Invite.objects.filter(campaign=campaign, revoked_at=None)
    if pks is not None:
        invites = invites.filter(pk__in=list(pks))
    n_revoked = invites.update(revoked_at=timezone.now())
    if n_revoked:
        record("invites revoked", actor=actor, campaign=campaign, n=n_revoked)
    return n_revoked


def invite_with(token: str) -> Invite:
    """Find the valid invite with this token."""
    invite = (
        Invite.objects.usable()
        .filter(token_hash=hash_of(token))
        .select_related("campaign", "worker")
        .first()
    )
    if invite is None:
        raise ArrivalRefused(EXPIRED)
    if invite.worker is None and not Invite.objects.with_room().filter(pk=invite.pk).exists():
        raise ArrivalRefused(ALL_USED)
    return invite


@transaction.atomic
def accept_invite(*, invite: Invite, worker: Worker | None) -> Worker:
    """Use an invite for someone who has just agreed to take part, and return the worker.

    A personal link belongs to its worker from then on. If two people use one at the same moment, they
    become the same worker: the conditional UPDATE lets only one of them create it.
    """
    usable = Invite.objects.usable().select_related("worker", "campaign__recruitment")
    try:
        invite = usable.get(pk=invite.pk)
    except Invite.DoesNotExist:
        raise ArrivalRefused(EXPIRED) from None
    if invite.worker:
        return invite.worker
    if worker and not invite.is_personal and _is_in(invite.campaign, worker):
        return worker
    if worker is None or invite.is_personal or worker.provider != Recruitment.Provider.LINK:
        # Ignore which worker used this browser before: a personal link is for a person, not a browser, and
        # a provider's worker has to be sent by the provider.
        worker = find_or_make_worker(
            provider=Recruitment.Provider.LINK, external_id=secrets.token_urlsafe(16)
        )
    owner = worker if invite.is_personal else None
    free = Invite.objects.usable().with_room().filter(pk=invite.pk, worker=None)
    if free.update(n_uses=F("n_uses") + 1, worker=owner):
        return worker
    invite.refresh_from_db()
    if invite.worker is None:
        raise ArrivalRefused(ALL_USED)
    # Delete the worker just created: someone else has used the personal link.
    worker.delete()
    return invite.worker


def _is_in(campaign: Campaign, worker: Worker) -> bool:
    """Whether a worker can work here without a link: sent by the provider, or agreed earlier."""
    recruitment = recruitment_of(campaign)
    if provider_of(recruitment, worker).has_submissions:
        return current_submission(recruitment, worker) is not None
    return Participation.objects.filter(campaign=campaign, worker=worker).exists()


def links_csv(rows: Iterable[tuple[str, str, str]]) -> str:
    """Return label, link and expiry as CSV, with cells escaped for spreadsheets."""
    # Imported here because exports load more than a worker's page needs.
    from da_platform.files.cells import defuse

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["label", "link", "expires_at"])
    writer.writerows([[defuse(cell) for cell in row] for row in rows])
    return file.getvalue()
