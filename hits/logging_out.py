"""Logging a person out in every browser: Django itself does so when a password changes."""

from django.contrib.auth.models import User
from django.db import transaction

from da_platform.sessions import end_sessions_of

from .audit import record


@transaction.atomic
def log_out_everywhere(*, user: User, actor: User) -> int:
    """End all sessions of a person, and say how many there were."""
    n_ended = end_sessions_of(user)
    record("person logged out", actor=actor, person=user.get_username(), n_sessions=n_ended)
    return n_ended
