"""Log every login and failed login: who, and from where, but never the name that was typed.

People sometimes type their password into the name field. So a person is logged by account number, and an
unknown name is logged as nobody.
"""

import logging

from django.contrib.auth.models import User
from django.http import HttpRequest

from .guards import client_address

# The only logger that keeps addresses: see da_platform/operation/logs.py.
logger = logging.getLogger("hits.logins")


def log_login(request: HttpRequest, user: User, *, by: str) -> None:
    _log(logging.INFO, request, user.pk, f"logged in by {by}")


def log_failed_login(request: HttpRequest, person: int | None, *, by: str) -> None:
    _log(logging.WARNING, request, person, f"failed to log in by {by}")


def person_named(username: str) -> int | None:
    return User.objects.filter(username=username).values_list("pk", flat=True).first()


def _log(level: int, request: HttpRequest, person: int | None, what: str) -> None:
    facts = {"person": person, "address": client_address(request)}
    logger.log(level, "Person %s %s.", person or "unknown", what, extra=facts)
