"""Access to pages: every view has one of these decorators, and a test checks that none is missing.

The decorator sets `access_rule` on the view. Visitors get a 404 for a campaign they do not belong to, and a
403 if a page of their campaign needs a higher level.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from ..models import Campaign, Membership

Level = Membership.Level
View = Callable[..., Any]
Visitor = AbstractBaseUser | AnonymousUser

# A higher level includes the lower ones.
_AT_LEAST = {Level.RESEARCHER: (Level.RESEARCHER, Level.ADMIN), Level.ADMIN: (Level.ADMIN,)}


# Questions -----------------------------------------------------------------------------------


def is_superuser(user: Visitor) -> bool:
    return isinstance(user, User) and user.is_active and user.is_superuser


def is_member(user: Visitor) -> bool:
    """Whether the person belongs to any campaign or to the platform."""
    return is_superuser(user) or bool(_levels(user))


def has_level(user: Visitor, level: Level, campaign: Campaign | None = None) -> bool:
    """Whether a person has this level or a higher one in a campaign, or everywhere if none is given."""
    levels = _levels(user)
    granted = {levels.get(None), levels.get(campaign.pk) if campaign else None}
    return is_superuser(user) or not granted.isdisjoint(_AT_LEAST[level])


def campaigns_of(user: Visitor, level: Level = Level.RESEARCHER) -> QuerySet[Campaign]:
    """The campaigns in which a person has this level or a higher one."""
    if has_level(user, level):
        return Campaign.objects.kept()
    campaigns = [pk for pk, granted in _levels(user).items() if pk and granted in _AT_LEAST[level]]
    return Campaign.objects.kept().filter(pk__in=campaigns)


def _levels(user: Visitor) -> dict[int | None, str]:
    """A person's level in each campaign, and under None the platform-wide one. Looked up once per request."""
    if not isinstance(user, User) or not user.is_active or user.is_superuser:
        return {}
    if not hasattr(user, "_levels"):
        user._levels = dict(user.memberships.values_list("campaign", "level"))  # type: ignore[attr-defined]
    return user._levels  # type: ignore[attr-defined]


def user_of(request: HttpRequest) -> User:
    """Return the logged-in user; only for views and operations that require a login."""
    assert isinstance(request.user, User)
    return request.user


def campaign_for(user: Visitor, code: UUID, level: Level) -> Campaign:
    """Fetch a campaign for a person, or raise a 404 if they are not a member of it."""
    campaign = campaigns_of(user).filter(code=code).first()
    if campaign is None:
        raise Http404("No such campaign.")
    if not has_level(user, level, campaign):
        raise PermissionDenied("This needs an admin of the campaign.")
    return campaign


@dataclass(frozen=True)
class Standing:
    """What the menu shows. Evaluated only by pages with a menu."""

    user: Visitor

    @cached_property
    def is_member(self) -> bool:
        return is_member(self.user)

    @cached_property
    def is_admin(self) -> bool:
        return has_level(self.user, Level.ADMIN)

    @cached_property
    def runs_campaigns(self) -> bool:
        """Whether they are an admin, even of a single campaign."""
        return self.is_admin or Level.ADMIN in _levels(self.user).values()

    @property
    def is_superuser(self) -> bool:
        return is_superuser(self.user)


def standing(request: HttpRequest) -> dict[str, Standing]:
    """A context processor. An error page may be rendered before the user is known."""
    return {"standing": Standing(getattr(request, "user", AnonymousUser()))}


# Decorators ----------------------------------------------------------------------------------


def for_anyone(view: View) -> View:
    """Mark a page that needs no login."""
    return _ruled(login_not_required(view), "anyone")


def for_workers(view: View) -> View:
    """Mark a worker's page: no login, never cached. The view itself checks whose work it is."""
    return _ruled(login_not_required(never_cache(view)), "workers")


def for_logged_in(view: View) -> View:
    """Let in every logged-in user, for pages about the login itself."""
    return _ruled(never_cache(view), "logged in")


def for_members(view: View) -> View:
    """Let in members of any campaign or of the platform; the view limits what they see."""
    return _guarded(view, "members", is_member)


def for_admins(view: View) -> View:
    """Let in platform-wide admins."""
    return _guarded(view, "admins", lambda user: has_level(user, Level.ADMIN))


def for_runners(view: View) -> View:
    """Let in admins, even of a single campaign; the view limits what they see."""
    return _guarded(view, "runners", lambda user: Standing(user).runs_campaigns)


def for_superusers(view: View) -> View:
    return _guarded(view, "superusers", is_superuser)


def for_campaign_researchers(view: View) -> View:
    """Pass the view the campaign in the URL, if the visitor is a member of it."""
    return _in_campaign(view, "campaign_researchers", Level.RESEARCHER)


def for_campaign_admins(view: View) -> View:
    """Pass the view the campaign in the URL, if the visitor is an admin of it."""
    return _in_campaign(view, "campaign_admins", Level.ADMIN)


def takes_files(view: View) -> View:
    """Mark a page that accepts uploads. Other pages accept only small bodies: see `da_platform.bodies`."""
    view.takes_files = True  # type: ignore[attr-defined]
    return view


def _ruled(view: View, rule: str) -> View:
    view.access_rule = rule  # type: ignore[attr-defined]
    return view


def _guarded(view: View, rule: str, may: Callable[[Visitor], bool]) -> View:
    @never_cache
    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not may(request.user):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return _ruled(inner, rule)


def _in_campaign(view: View, rule: str, level: Level) -> View:
    @never_cache
    @wraps(view)
    def inner(request: HttpRequest, code: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        return view(request, campaign_for(request.user, code, level), *args, **kwargs)

    return _ruled(inner, rule)
