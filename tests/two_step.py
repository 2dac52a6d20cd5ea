"""People with a second factor, and the codes that their app would show."""

from datetime import datetime

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django_otp.oath import TOTP

from hits.models import Authenticator
from hits.people.second_factor import begin, turn_on
from hits.people.second_step import MARK

PASSWORD = "correct horse battery"  # pragma: allowlist secret


def code_of(authenticator: Authenticator, at: datetime | None = None) -> str:
    """What the app shows now, or at another moment."""
    clock = TOTP(authenticator.bin_key, authenticator.step)
    clock.time = (at or timezone.now()).timestamp()
    return f"{clock.token():06}"


def give_second_factor(user: User) -> tuple[Authenticator, list[str]]:
    """Turn it on, as if the code for it had been given long ago."""
    authenticator, codes = turn_on(user=user, code=code_of(begin(user=user)))
    Authenticator.objects.update(last_t=-1)
    return authenticator, codes


def client_with_second_factor(user: User) -> Client:
    """A browser in which that person is logged in by password and code."""
    authenticator, _ = give_second_factor(user)
    client = Client()
    client.force_login(user)
    session = client.session
    session[MARK] = authenticator.pk
    session.save()
    return client
