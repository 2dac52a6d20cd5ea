"""Staff sessions with a limited lifetime: Django's database sessions, with the time they began.

Django ends a session that is not renewed for `SESSION_COOKIE_AGE`. Here it is renewed while the user is active,
and ends after `SESSION_MAX_SECONDS` in any case. Workers have no sessions.
"""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

BEGAN, SEEN = "began_at", "seen_at"
# How often activity is recorded, which saves a write on most pages.
SEEN_EVERY_SECONDS = 5 * 60


class SessionStore(DatabaseStore):
    def load(self) -> dict[str, Any]:
        data: dict[str, Any] = super().load()
        now = int(time.time())
        if data and now - data.get(BEGAN, 0) > settings.SESSION_MAX_SECONDS:
            self.delete(self.session_key)
            self._session_key = None
            return {}
        if data and now - data.get(SEEN, 0) > SEEN_EVERY_SECONDS:
            # A modified session is saved after the request, with a new expiry date.
            data[SEEN] = now
            self.modified = True
        return data

    def save(self, must_create: bool = False) -> None:
        now = int(time.time())
        # As in Django: a session to be created is not looked up first.
        data = self._get_session(no_load=must_create)  # type: ignore[attr-defined]
        data.setdefault(BEGAN, now)
        data.setdefault(SEEN, now)
        super().save(must_create=must_create)


def asked_by_a_script(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Mark a view that an open page polls by itself, which does not count as activity."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        request.session.modified = False
        return response

    return inner


def drop_expired_sessions() -> int:
    """Delete expired sessions. Return how many."""
    return Session.objects.filter(expire_date__lt=timezone.now()).delete()[0]


def end_sessions_of(user: User) -> int:
    """Log a user out in every browser. Return in how many."""
    running = Session.objects.filter(expire_date__gt=timezone.now())
    # The user is stored inside the session data. There are few sessions.
    own_sessions = [row.pk for row in running if row.get_decoded().get(SESSION_KEY) == str(user.pk)]
    return Session.objects.filter(pk__in=own_sessions).delete()[0]
