"""Staff accounts: who may log in, and what they may do."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from da_platform.sessions import end_sessions_of

from ..exceptions import PeopleRefused
from ..models import Campaign, Membership
from .audit import record


@dataclass(frozen=True, slots=True)
class Part:
    """A level of access, in one campaign or, without one, in all."""

    level: str
    campaign: Campaign | None = None

    def __str__(self) -> str:
        return f"{self.level} in {self.campaign or 'every campaign'}"


@transaction.atomic
def invite(*, username: str, email: str, part: Part, actor: User) -> User:
    """Create a person, who can log in after setting a password through `password_link`."""
    user = User(username=username, email=email)
    user.set_unusable_password()
    user.full_clean(exclude=["password"])
    user.save()
    Membership.objects.create(user=user, level=part.level, campaign=part.campaign)
    record("person invited", actor=actor, campaign=part.campaign, person=username, part=str(part))
    return user


def password_path(user: User) -> str:
    """Return the URL where a person sets their password. It works once, for as many days as the settings allow."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    return reverse("password_reset_confirm", args=[uid, token])


def make_password_link(*, user: User, actor: User) -> str:
    """Return the URL where a person sets a new password, and record who asked for it."""
    record("password link made", actor=actor, person=user.get_username())
    return password_path(user)


@transaction.atomic
def give_part(*, user: User, part: Part, actor: User) -> None:
    """Give a person a level in a campaign or everywhere, replacing the one they have there."""
    Membership.objects.update_or_create(
        user=user, campaign=part.campaign, defaults={"level": part.level}
    )
    record(
        "part given",
        actor=actor,
        campaign=part.campaign,
        person=user.get_username(),
        part=str(part),
    )


@transaction.atomic
def take_part_away(*, membership: Membership, actor: User) -> None:
    record(
        "part taken away",
        actor=actor,
        campaign=membership.campaign,
        person=membership.user.get_username(),
        part=str(Part(membership.level, membership.campaign)),
    )
    membership.delete()


@transaction.atomic
def set_active(*, user: User, is_active: bool, actor: User) -> None:
    """Allow or forbid logins. Existing sessions end, so that none becomes valid again later."""
    if user == actor and not is_active:
        raise PeopleRefused("You cannot lock yourself out.")
    changed = User.objects.filter(pk=user.pk).exclude(is_active=is_active)
    if changed.update(is_active=is_active):
        end_sessions_of(user)
        deed = "person let in again" if is_active else "person deactivated"
        record(deed, actor=actor, person=user.get_username())


@transaction.atomic
def log_out_everywhere(*, user: User, actor: User) -> int:
    """End all sessions of a person and return how many there were. Django does this when a password changes."""
    n_ended = end_sessions_of(user)
    record("person logged out", actor=actor, person=user.get_username(), n_sessions=n_ended)
    return n_ended
