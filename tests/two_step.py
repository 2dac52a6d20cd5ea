"""People with a second factor, and the codes that their app shows."""

from datetime import datetime

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django_otp.oath import TOTP

from hits.models import Authenticator
from hits.people.second_factor import begin, turn_on
from hits.people.second_step import MARK
from tests.people import browser_of

PASSWORD = "correct horse battery"  # pragma: allowlist secret


def code_of(authenticator: Authenticator, at: datetime | None = None) -> str:
    """The code that the app shows now, or at another time."""
    clock = TOTP(authenticator.bin_key, authenticator.step)
    clock.time = (at or timezone.now()).timestamp()
    return f"{clock.token():06}"


def give_second_factor(user: User) -> tuple[Authenticator, list[str]]:
    """Turn it on, and allow the same code to be used again."""
    authenticator, codes = turn_on(user=user, code=code_of(begin(user=user)))
    Authenticator.objects.update(last_t=-1)
    return authenticator, codes


def client_with_second_factor(user: User) -> Client:
    """A browser in which this person is logged in with password and code."""
    authenticator, _ = give_second_factor(user)
    client = browser_of(user)
    session = client.session
    session[MARK] = authenticator.pk
    session.save()
    return client
