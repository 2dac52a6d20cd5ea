"""The second login step: logins that wait for a code, and sessions that were opened with one."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from ..models import Authenticator
from .access import Standing, Visitor
from .second_factor import authenticator_of

# The session key for the second factor that was used. Absent if there was none.
MARK = "second_factor"
PENDING = "login_waits_for_code"
# Time to find the phone.
PENDING_SECONDS = 600

# Open to people who still have to set up a second factor: its pages, and those for logging in and out.
OPEN_BEFORE = {"two_step", "two_step_set_up", "login", "admin_login", "login_code", "logout"}
# Access rules of pages that ignore staff sessions.
NOT_OF_STAFF = {"workers", "tokens"}


# Logins that wait for a code -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """A login with the right password, kept in a session in which nobody is logged in yet."""

    person: int
    backend: str
    # Derived from the password: changing it ends the pending login.
    session_hash: str
    at: float

    @classmethod
    def begin(cls, request: HttpRequest, user: User) -> None:
        pending = cls(
            person=user.pk,
            backend=user.backend,
            session_hash=user.get_session_auth_hash(),
            at=timezone.now().timestamp(),
        )
        request.session[PENDING] = asdict(pending)

    @classmethod
    def of(cls, request: HttpRequest) -> Self | None:
        fields = request.session.get(PENDING)
        return cls(**fields) if fields else None

    def user(self) -> User | None:
        """The user, unless it took too long or they may no longer log in."""
        user = User.objects.filter(pk=self.person, is_active=True).first()
        is_fresh = timezone.now().timestamp() - self.at < PENDING_SECONDS
        if user is None or not is_fresh:
            return None
        if not constant_time_compare(user.get_session_auth_hash(), self.session_hash):
            return None
        user.backend = self.backend
        return user


# Sessions ------------------------------------------------------------------------------------


def mark(request: HttpRequest, authenticator: Authenticator | None) -> None:
    """Record in the session which second factor it was opened with, if any."""
    request.session.pop(PENDING, None)
    request.session.pop(MARK, None)
    if authenticator:
        request.session[MARK] = authenticator.pk


class SecondStep:
    """Middleware: treat a session as anonymous unless it was opened with the user's current second factor.

    So turning it on or off, or resetting it, ends all sessions except the one in which it was done.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Lazy, because worker pages never need it.
        request.user = SimpleLazyObject(partial(_visitor, request, request.user))  # type: ignore[assignment]
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], *_: Any
    ) -> HttpResponse | None:
        if not settings.REQUIRE_TWO_FACTOR or getattr(view, "access_rule", "") in NOT_OF_STAFF:
            return None
        match = request.resolver_match
        if (match and match.view_name in OPEN_BEFORE) or not must_set_up(request.user):
            return None
        return redirect("two_step")


def _visitor(request: HttpRequest, user: Visitor) -> Visitor:
    if not isinstance(user, User):
        return user
    authenticator = authenticator_of(user)
    if request.session.get(MARK) != (authenticator and authenticator.pk):
        return AnonymousUser()
    user.has_second_factor = authenticator is not None  # type: ignore[attr-defined]
    return user


def must_set_up(user: Visitor) -> bool:
    """Whether someone who may administer or pay lacks the second factor that the settings require."""
    if not settings.REQUIRE_TWO_FACTOR or getattr(user, "has_second_factor", False):
        return False
    standing = Standing(user)
    return standing.is_superuser or standing.runs_campaigns
