"""Invite links: made in numbers, shown once, kept as hashes."""

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

# 16 bytes, 128 bits: nobody guesses one.
TOKEN_BYTES = 16
MAX_INVITES = 5_000

ALL_USED = gettext_noop(
    "This link has already been used by the maximum number of people. Thank you for your interest."
)


@dataclass(frozen=True, slots=True)
class NewInvite:
    """An invite together with its token, which nobody can look up later."""

    invite: Invite
    token: str


def hash_of(token: str) -> str:
    # A plain hash is enough: what cannot be guessed cannot be tried out either.
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
    """Make links: each for one person, or for as many as may follow it."""
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
    """Withdraw links, or all of a campaign. Who has come in by one stays in."""
    invites = Invite.objects.filter(campaign=campaign, revoked_at=None)
    if pks is not None:
        invites = invites.filter(pk__in=list(pks))
    n_revoked = invites.update(revoked_at=timezone.now())
    if n_revoked:
        record("invites revoked", actor=actor, campaign=campaign, n=n_revoked)
    return n_revoked


def invite_with(token: str) -> Invite:
    """Find the invite of a token that is still good for something."""
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

    A personal link is its worker's from then on. Two who agree at the same moment by one personal
    link are one worker: the conditional UPDATE lets one of them make it.
    """
    invite = (
        Invite.objects.usable()
        .select_related("worker", "campaign__recruitment")
        .filter(pk=invite.pk)
        .first()
        or _gone()
    )
    if invite.worker:
        return invite.worker
    if worker and not invite.is_personal and _is_in(invite.campaign, worker):
        return worker
    if worker is None or invite.is_personal or worker.provider != Recruitment.Provider.LINK:
        # Whatever worker used this browser before: a personal link is for a person, not for a browser, and
        # someone of a provider would have to be sent by it.
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
    # Made in vain a moment ago: the link is personal.
    worker.delete()
    return invite.worker


def _is_in(campaign: Campaign, worker: Worker) -> bool:
    """Whether a worker can work here without a link: sent by the provider, or having agreed before."""
    recruitment = recruitment_of(campaign)
    if provider_of(recruitment, worker).has_submissions:
        return current_submission(recruitment, worker) is not None
    return Participation.objects.filter(campaign=campaign, worker=worker).exists()


def _gone() -> Invite:
    raise ArrivalRefused(EXPIRED)


def links_csv(rows: Iterable[tuple[str, str, str]]) -> str:
    """Rows of label, link and expiry as CSV, with cells that no spreadsheet takes for a formula."""
    # Here and not above: exports load more than a worker's page needs.
    from da_platform.files.cells import defuse

    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["label", "link", "expires_at"])
    writer.writerows([[defuse(cell) for cell in row] for row in rows])
    return file.getvalue()
