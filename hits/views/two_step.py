"""A user's own two-step login: turn it on or off, and get new recovery codes."""

from base64 import b32encode
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from da_platform.exceptions import SealBroken

from ..exceptions import CodeRefused, PeopleRefused
from ..models import Authenticator
from ..people.access import for_logged_in, user_of
from ..people.second_factor import (
    authenticator_in_making,
    authenticator_of,
    begin,
    make_recovery_codes,
    n_recovery_codes,
    turn_off,
    turn_on,
)
from ..people.second_step import mark, must_set_up


class PasswordForm(forms.Form):
    """Asks for the password before a change, in case a browser was left open."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        # `authenticate` counts wrong passwords, as at the login.
        name = user_of(self.request).get_username()
        if authenticate(self.request, username=name, password=password) is None:
            raise ValidationError("That is not your password.")
        return password


class ConfirmForm(forms.Form):
    code = forms.CharField(
        max_length=40,
        label="Current code from the app",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
@for_logged_in
def two_step(request: HttpRequest) -> HttpResponse:
    """Show whether two-step login is on; with the password, set it up, turn it off or renew codes."""
    form = PasswordForm(request.POST or None, request=request)
    if form.is_valid():
        return _change(request, request.POST.get("deed", ""))
    user = user_of(request)
    authenticator = authenticator_of(user)
    context = {
        "form": form,
        "authenticator": authenticator,
        "n_codes": n_recovery_codes(user) if authenticator else 0,
        "is_required": must_set_up(user),
    }
    return render(request, "hits/two_step.html", context, status=422 if form.errors else 200)


def _change(request: HttpRequest, action: str) -> HttpResponse:
    user = user_of(request)
    try:
        if action == "begin":
            begin(user=user)
            return redirect("two_step_set_up")
        if action == "codes":
            return _show_codes(request, make_recovery_codes(user=user))
        if action == "off":
            turn_off(user=user)
            mark(request, None)
            messages.success(
                request, "Two-step login is off. You now log in with your password only."
            )
    except PeopleRefused as refusal:
        messages.error(request, str(refusal))
    return redirect("two_step")


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
@for_logged_in
def set_up(request: HttpRequest) -> HttpResponse:
    """Show the key for the app, and turn two-step login on after a valid code."""
    user = user_of(request)
    authenticator = authenticator_in_making(user)
    if authenticator is None:
        return redirect("two_step")
    form = ConfirmForm(request.POST or None)
    if form.is_valid() and (codes := _turned_on(request, user, form)):
        return _show_codes(request, codes)
    try:
        context = {
            "form": form,
            "key": _grouped_key(authenticator),
            "qr": _qr_code(authenticator.config_url),
        }
    except SealBroken:
        # The encryption key has changed since the setup began: start again.
        authenticator.delete()
        return redirect("two_step")
    return render(request, "hits/two_step_set_up.html", context, status=422 if form.errors else 200)


def _turned_on(request: HttpRequest, user: User, form: ConfirmForm) -> list[str]:
    try:
        authenticator, codes = turn_on(user=user, code=form.cleaned_data["code"])
    except (CodeRefused, PeopleRefused) as refusal:
        form.add_error("code", str(refusal))
        return []
    mark(request, authenticator)
    return codes


def _show_codes(request: HttpRequest, codes: list[str]) -> HttpResponse:
    return render(request, "hits/recovery_codes.html", {"codes": codes})


def _grouped_key(authenticator: Authenticator) -> str:
    """Return the key in groups of four letters, for typing into an app."""
    key = b32encode(authenticator.bin_key).decode()
    return " ".join(key[start : start + 4] for start in range(0, len(key), 4))


def _qr_code(text: str) -> SafeString:
    """Return an SVG element without styles, which our content policy would refuse."""
    # Imported here because it would slow down every start.
    import segno

    code = segno.make(text, error="m", micro=False)
    svg = code.svg_inline(light="#fff", omitsize=True, svgclass=None, lineclass=None)
    # There are only numbers and colours in it.
    return mark_safe(svg)  # nosec B308 B703
