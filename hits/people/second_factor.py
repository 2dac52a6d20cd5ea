"""The second factor of a login: codes from an app, and recovery codes in case it is lost."""

import logging
from base64 import urlsafe_b64encode
from datetime import datetime
from math import ceil
from string import ascii_lowercase, digits

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import get_random_string, salted_hmac
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken

from da_platform.exceptions import SealBroken
from da_platform.sealing import accepted_keys

from ..exceptions import CodeRefused, CodeTooSoon, PeopleRefused
from ..models import Authenticator
from .audit import record

logger = logging.getLogger(__name__)

N_RECOVERY_CODES = 10
# Without characters that are easily confused. Twelve of them are 59 bits, which cannot be guessed.
_LETTERS = "".join(sorted({*ascii_lowercase, *digits} - {*"ilo01"}))
_RECOVERY_LENGTH = 12
# Short enough, as text, for the column where django-otp keeps recovery codes.
_DIGEST_BYTES = 12
_APP_CODE_LENGTH = 6

WRONG = "That code is wrong or was already used. Codes change every half minute: try the next one."
UNREADABLE = "The platform can no longer read the key of your app. Ask a superuser to reset your two-step login."


# Questions -----------------------------------------------------------------------------------


def authenticator_of(user: User) -> Authenticator | None:
    """The authenticator a person logs in with."""
    return Authenticator.objects.filter(user=user, confirmed=True).first()


def authenticator_in_making(user: User) -> Authenticator | None:
    return Authenticator.objects.filter(user=user, confirmed=False).first()


def n_recovery_codes(user: User) -> int:
    return StaticToken.objects.filter(device__user=user).count()


# Turning it on and off -----------------------------------------------------------------------


@transaction.atomic
def begin(*, user: User) -> Authenticator:
    """Create a key to put into the app. It has no effect until `turn_on` has checked a code."""
    _lock(user)
    _check_is_off(user)
    Authenticator.objects.filter(user=user).delete()
    authenticator = Authenticator(user=user, name="app", confirmed=False)
    authenticator.draw_key()
    authenticator.save()
    return authenticator


def turn_on(*, user: User, code: str) -> tuple[Authenticator, list[str]]:
    """Activate the key from `begin` once a code from the app is right; return it with the recovery codes."""
    with transaction.atomic():
        _lock(user)
        _check_is_off(user)
        authenticator = authenticator_in_making(user)
        if authenticator is None:
            raise CodeRefused("There is no key to confirm. Please start again.")
        refusal = _refusal(authenticator, _normalised(code))
        codes = [] if refusal else _confirm(authenticator)
    # Outside the transaction, so that the count of wrong codes is saved.
    if refusal:
        raise refusal
    return authenticator, codes


def _confirm(authenticator: Authenticator) -> list[str]:
    user = authenticator.user
    authenticator.confirmed = True
    authenticator.save(update_fields=["confirmed"])
    record("two-step login turned on", actor=user, person=user.get_username())
    return _draw_codes(user)


@transaction.atomic
def make_recovery_codes(*, user: User) -> list[str]:
    """Replace all recovery codes. They are shown once and only their hashes are stored."""
    _lock(user)
    if authenticator_of(user) is None:
        raise PeopleRefused("Turn two-step login on first.")
    codes = _draw_codes(user)
    record("recovery codes made", actor=user, person=user.get_username())
    return codes


@transaction.atomic
def turn_off(*, user: User) -> None:
    if _remove(user):
        record("two-step login turned off", actor=user, person=user.get_username())


@transaction.atomic
def reset(*, user: User, actor: User | None, reason: str = "") -> None:
    """Remove the second factor of someone who lost it. Without an actor, a command did it."""
    if user == actor:
        raise PeopleRefused("To turn off your own two-step login, use its page and your password.")
    if _remove(user):
        record("two-step login reset", actor=actor, reason=reason, person=user.get_username())


def _remove(user: User) -> bool:
    _lock(user)
    was_on = authenticator_of(user) is not None
    Authenticator.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()
    return was_on


def _draw_codes(user: User) -> list[str]:
    StaticDevice.objects.filter(user=user).delete()
    codes = [get_random_string(_RECOVERY_LENGTH, _LETTERS) for _ in range(N_RECOVERY_CODES)]
    device = StaticDevice.objects.create(user=user, name="recovery codes")
    StaticToken.objects.bulk_create(
        StaticToken(device=device, token=_digests(user, code)[0]) for code in codes
    )
    return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in codes]


def _check_is_off(user: User) -> None:
    if authenticator_of(user):
        raise PeopleRefused("Two-step login is already on. Turn it off to set it up again.")


def _lock(user: User) -> None:
    """Make concurrent changes, such as from two tabs, wait for each other."""
    User.objects.select_for_update().get(pk=user.pk)


# Codes ---------------------------------------------------------------------------------------


def check_code(*, user: User, code: str) -> Authenticator:
    """Accept a code from the app or a recovery code, each of which works once; otherwise raise `CodeRefused`.

    django-otp counts wrong codes per person, from any address, and doubles the waiting time after each.
    """
    typed = _normalised(code)
    with transaction.atomic():
        _lock(user)
        authenticator = authenticator_of(user)
        if authenticator is None:
            raise CodeRefused(WRONG)
        if typed.isdecimal() and len(typed) == _APP_CODE_LENGTH:
            refusal = _refusal(authenticator, typed)
        else:
            refusal = _recovery_refusal(user, typed)
    if refusal:
        raise refusal
    return authenticator


def _recovery_refusal(user: User, typed: str) -> CodeRefused | None:
    device = StaticDevice.objects.get(user=user)
    digests = _digests(user, typed)
    token = device.token_set.filter(token__in=digests).values_list("token", flat=True).first()
    refusal = _refusal(device, token or digests[0])
    if not refusal:
        n_left = device.token_set.count()
        record("recovery code used", actor=user, person=user.get_username(), left=n_left)
    return refusal


def _refusal(device: Device, token: str) -> CodeRefused | None:
    """Verify a token; return why it is refused, or None."""
    is_allowed, details = device.verify_is_allowed()
    if not is_allowed:
        wait = _wait(details["locked_until"])
        return CodeTooSoon(f"After a wrong code, wait {wait}, then try again.")
    try:
        return None if device.verify_token(token) else CodeRefused(WRONG)
    except SealBroken:
        logger.error("An app's key cannot be read. Is an earlier DA_SECRET_KEY missing?")
        return CodeRefused(UNREADABLE)


def _wait(until: datetime) -> str:
    seconds = ceil((until - timezone.now()).total_seconds())
    if seconds <= 90:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    return f"{-(-seconds // 60)} minutes"


def _normalised(code: str) -> str:
    """Normalise a typed code: remove spaces and hyphens, and use lower case."""
    return "".join(code.split()).replace("-", "").lower()


def _digests(user: User, code: str) -> list[str]:
    """The hash under the secret key, then those under earlier keys."""
    return [_digest(user, code, key) for key in accepted_keys()]


def _digest(user: User, code: str, key: str) -> str:
    # Keyed, so that the database alone is not enough to try out codes.
    mac = salted_hmac(f"hits.recovery_code.{user.pk}", code, secret=key, algorithm="sha256")
    return urlsafe_b64encode(mac.digest()[:_DIGEST_BYTES]).decode()
