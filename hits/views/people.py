"""Accounts and their access, for superusers."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from ..exceptions import PeopleRefused
from ..models import Membership
from ..people.access import for_superusers, user_of
from ..people.accounts import (
    give_part,
    invite,
    log_out_everywhere,
    make_password_link,
    password_path,
    set_active,
    take_part_away,
)
from ..people.forms import InviteForm, PartForm
from ..people.second_factor import authenticator_of, reset

PEOPLE_PER_PAGE = 50
# The session key of a new password link until the next page shows it.
LINK_KEY = "password_link"


@require_http_methods(["GET", "POST"])
@for_superusers
def people(request: HttpRequest) -> HttpResponse:
    form = InviteForm(request.POST or None)
    if form.is_valid():
        user = invite(
            username=form.cleaned_data["username"],
            email=form.cleaned_data["email"],
            part=form.part(),
            actor=user_of(request),
        )
        return _with_link(request, user, password_path(user))
    words = request.GET.get("q", "").strip()
    users = User.objects.prefetch_related("memberships__campaign").order_by("username")
    if words:
        users = users.filter(Q(username__icontains=words) | Q(email__icontains=words))
    page = Paginator(users, PEOPLE_PER_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "form": form, "words": words}
    return render(request, "hits/people.html", context, status=422 if form.errors else 200)


@require_GET
@for_superusers
def one_person(request: HttpRequest, pk: int) -> HttpResponse:
    user = get_object_or_404(User, pk=pk)
    return _show(request, user, link=request.session.pop(LINK_KEY, ""))


def _show(request: HttpRequest, user: User, **context: Any) -> HttpResponse:
    context = {
        "person": user,
        "memberships": user.memberships.select_related("campaign"),
        "form": PartForm(),
        "has_second_factor": authenticator_of(user) is not None,
        "link_days": settings.PASSWORD_RESET_DAYS,
    } | context
    return render(request, "hits/person.html", context)


@require_POST
@for_superusers
def make_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a link with which the user can set a new password."""
    user = get_object_or_404(User, pk=pk, is_active=True)
    return _with_link(request, user, make_password_link(user=user, actor=user_of(request)))


def _with_link(request: HttpRequest, user: User, path: str) -> HttpResponse:
    # In the session, because URLs end up in histories and logs.
    request.session[LINK_KEY] = request.build_absolute_uri(path)
    return redirect("person", user.pk)


@require_POST
@for_superusers
def add_part(request: HttpRequest, pk: int) -> HttpResponse:
    user = get_object_or_404(User, pk=pk)
    form = PartForm(request.POST)
    if form.is_valid():
        give_part(user=user, part=form.part(), actor=user_of(request))
        messages.success(request, "Saved.")
    else:
        messages.error(request, "Choose a level and a campaign from the lists.")
    return redirect("person", user.pk)


@require_POST
@for_superusers
def remove_part(request: HttpRequest, pk: int, membership: int) -> HttpResponse:
    part = get_object_or_404(
        Membership.objects.select_related("user", "campaign"), pk=membership, user=pk
    )
    take_part_away(membership=part, actor=user_of(request))
    messages.success(request, "Access removed.")
    return redirect("person", pk)


@require_POST
@for_superusers
def change_activity(request: HttpRequest, pk: int) -> HttpResponse:
    user = get_object_or_404(User, pk=pk)
    try:
        set_active(
            user=user, is_active=request.POST.get("is_active") == "1", actor=user_of(request)
        )
    except PeopleRefused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "Saved.")
    return redirect("person", pk)


@require_POST
@for_superusers
def log_out(request: HttpRequest, pk: int) -> HttpResponse:
    """End all sessions of a user, for example after a theft."""
    user = get_object_or_404(User, pk=pk)
    n_ended = log_out_everywhere(user=user, actor=user_of(request))
    if user != request.user:
        browsers = "1 browser" if n_ended == 1 else f"{n_ended} browsers"
        messages.success(request, f"Logged out in {browsers}.")
    return redirect("person", pk)


@require_POST
@for_superusers
def reset_second_factor(request: HttpRequest, pk: int) -> HttpResponse:
    """Turn off two-step login for a user who has lost their phone and recovery codes."""
    user = get_object_or_404(User, pk=pk)
    try:
        reset(user=user, actor=user_of(request))
    except PeopleRefused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "Two-step login is off for this person.")
    return redirect("person", pk)
