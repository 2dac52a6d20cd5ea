"""API: accounts and their access, for superusers."""

from typing import Annotated
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from ninja.pagination import paginate
from pydantic import Field

from ..models import Membership
from ..people.access import is_superuser, user_of
from ..people.accounts import give_part, invite, password_path, set_active, take_part_away
from ..people.forms import InviteForm, PartForm
from .auth import Needs, Scope
from .field_types import Input, Name, Number, Text
from .validation import checked

router = Router(tags=["People"])


class PartOut(Schema):
    """A level of access, in one campaign or, if that is null, in all."""

    id: int
    level: str
    campaign: UUID | None

    @staticmethod
    def resolve_campaign(part: Membership) -> UUID | None:
        return part.campaign.code if part.campaign else None


class PersonOut(Schema):
    id: int
    username: str
    email: str
    is_active: bool
    is_superuser: bool
    parts: list[PartOut]

    @staticmethod
    def resolve_parts(user: User) -> list[Membership]:
        return list(user.memberships.all())


class InvitedOut(Schema):
    """A new person and the link to set their password, which is shown only once."""

    person: PersonOut
    password_url: str


class PartIn(Input):
    level: Membership.Level
    campaign: UUID | None = None


class InviteIn(PartIn):
    username: Annotated[Name, Field(max_length=150)]
    email: Text = ""


class PeopleFilter(Schema):
    search: Text = ""


class ActiveIn(Input):
    is_active: bool


@router.get("", response=list[PersonOut], auth=Needs(Scope.PEOPLE))
@paginate
def list_people(request: HttpRequest, filters: Query[PeopleFilter]) -> QuerySet[User]:
    """List everyone with an account, by username."""
    words = filters.search
    return _people(request).filter(Q(username__icontains=words) | Q(email__icontains=words))


@router.post("", response={201: InvitedOut}, auth=Needs(Scope.PEOPLE))
def invite_person(request: HttpRequest, payload: InviteIn) -> Status[dict[str, object]]:
    """Create an account with access, and a link to set its password."""
    people = _people(request)
    form = InviteForm(_values(payload))
    cleaned = checked(form)
    user = invite(
        username=cleaned["username"],
        email=cleaned["email"],
        part=form.part(),
        actor=user_of(request),
    )
    url = request.build_absolute_uri(password_path(user))
    return Status(201, {"person": people.get(pk=user.pk), "password_url": url})


@router.get("/{person}", response=PersonOut, auth=Needs(Scope.PEOPLE))
def get_person(request: HttpRequest, person: Number) -> User:
    """Get one person and their access."""
    return get_object_or_404(_people(request), pk=person)


@router.post(
    "/{person}/parts", response=PersonOut, auth=Needs(Scope.PEOPLE), operation_id="give_part"
)
def give(request: HttpRequest, person: Number, payload: PartIn) -> User:
    """Give access to one campaign or to all, replacing the level they had there."""
    user = get_person(request, person)
    form = PartForm(_values(payload))
    checked(form)
    give_part(user=user, part=form.part(), actor=user_of(request))
    return get_person(request, person)


@router.delete(
    "/{person}/parts/{part}",
    response=PersonOut,
    auth=Needs(Scope.PEOPLE),
    operation_id="take_part_away",
)
def take_away(request: HttpRequest, person: Number, part: Number) -> User:
    """Remove access."""
    user = get_person(request, person)
    memberships = Membership.objects.select_related("user", "campaign")
    membership = get_object_or_404(memberships, pk=part, user=user)
    take_part_away(membership=membership, actor=user_of(request))
    return get_person(request, person)


@router.post(
    "/{person}/active", response=PersonOut, auth=Needs(Scope.PEOPLE), operation_id="set_active"
)
def let_in(request: HttpRequest, person: Number, payload: ActiveIn) -> User:
    """Activate or deactivate an account, but not your own."""
    user = get_person(request, person)
    set_active(user=user, is_active=payload.is_active, actor=user_of(request))
    return get_person(request, person)


def _people(request: HttpRequest) -> QuerySet[User]:
    if not is_superuser(request.user):
        raise PermissionDenied("Only superusers may do this.")
    return User.objects.prefetch_related("memberships__campaign").order_by("username")


def _values(payload: PartIn) -> dict[str, object]:
    return payload.model_dump(exclude_none=True, mode="json")
