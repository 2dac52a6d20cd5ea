"""Login with or without a second step, password change and reset: Django's views with rate limits."""

import logging
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate, login
from django.contrib.auth import views as auth
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, PasswordResetForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from ..exceptions import CodeRefused, CodeTooSoon, TooOften
from ..models import Authenticator
from ..people.guards import (
    check_login,
    check_mail_to,
    check_reset,
    check_second_step,
    count_wrong_code,
    is_locked_out,
    page_of,
)
from ..people.logins import log_failed_login, log_login, person_named
from ..people.second_factor import authenticator_of, check_code
from ..people.second_step import PENDING_SECONDS, PendingLogin, mark

logger = logging.getLogger(__name__)


class Login(auth.LoginView):
    """The only login page, also for Django's admin, so that its limits cannot be bypassed."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            check_login(request)
        except TooOften as error:
            return _refused(request, error)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Log in, or ask for the code first; the user is not logged in until it is right."""
        user = form.get_user()
        if authenticator_of(user):
            PendingLogin.begin(self.request, user)
            return redirect(self._code_url())
        _log_in(self.request, user, None, by="password")
        return HttpResponseRedirect(self.get_success_url())

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        person = person_named(form.cleaned_data.get("username", ""))
        log_failed_login(self.request, person, by="password")
        return super().form_invalid(form)

    def _code_url(self) -> str:
        # Empty for a URL on another site.
        next_url = self.get_redirect_url()
        query = f"?{urlencode({self.redirect_field_name: next_url})}" if next_url else ""
        return reverse("login_code") + query


class CodeForm(forms.Form):
    """An app code or recovery code of a user who has just entered their password."""

    code = forms.CharField(max_length=40)

    def __init__(self, request: HttpRequest, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.is_wrong = False

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        try:
            self.authenticator = check_code(user=self.user, code=code)
        except CodeRefused as refusal:
            self.is_wrong = not isinstance(refusal, CodeTooSoon)
            raise ValidationError(str(refusal)) from refusal
        return code


class LoginCode(auth.LoginView):
    """The second step, for a user who has just entered their password."""

    template_name = "registration/login_code.html"
    form_class = CodeForm  # type: ignore[assignment]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        pending = PendingLogin.of(request)
        self.person = pending.user() if pending else None
        if self.person is None:
            return self._without_password(request)
        return super().dispatch(request, *args, **kwargs)

    def _without_password(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            return HttpResponseRedirect(self.get_success_url())
        context = {"next": self.get_redirect_url(), "minutes": PENDING_SECONDS // 60}
        return render(request, "registration/login_again.html", context)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        assert self.person
        try:
            check_second_step(request)
        except TooOften as error:
            return _refused(request, error)
        if is_locked_out(request, self.person):
            # django-axes replaces this response with its own.
            return HttpResponse(status=429)
        return super().post(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"user": self.person}

    def form_valid(self, form: Any) -> HttpResponse:
        _log_in(self.request, form.user, form.authenticator, by="password and code")
        return HttpResponseRedirect(self.get_success_url())

    def form_invalid(self, form: Any) -> HttpResponse:
        if form.is_wrong:
            count_wrong_code(self.request, form.user)
            log_failed_login(self.request, form.user.pk, by="code")
        return super().form_invalid(form)


class OwnPasswordForm(PasswordChangeForm):
    """Counts wrong passwords like the login does, in case a browser was left open."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_old_password(self) -> str:
        password: str = self.cleaned_data["old_password"]
        if authenticate(self.request, username=self.user.get_username(), password=password) is None:
            raise ValidationError(
                self.error_messages["password_incorrect"], code="password_incorrect"
            )
        return password


class PasswordChange(auth.PasswordChangeView):
    form_class = OwnPasswordForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"request": self.request}


class PasswordReset(auth.PasswordResetView):
    extra_email_context = {"days": settings.PASSWORD_RESET_DAYS}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            check_reset(request)
        except TooOften as error:
            return _refused(request, error)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        try:
            check_mail_to(form.cleaned_data["email"])
        except TooOften:
            # The usual response, so that it does not reveal which addresses have an account.
            logger.warning("Password reset mail not sent: the limit for this address is reached.")
            return HttpResponseRedirect(self.get_success_url())
        return super().form_valid(form)


def _log_in(
    request: HttpRequest, user: User, authenticator: Authenticator | None, *, by: str
) -> None:
    login(request, user)
    # Django keeps the session key when the same user logs in again; a stolen key would stay valid.
    request.session.cycle_key()
    mark(request, authenticator)
    log_login(request, user, by=by)


def _refused(request: HttpRequest, error: TooOften) -> HttpResponse:
    logger.warning("Rate limit exceeded at %s.", page_of(request))
    minutes = -(-error.seconds // 60)
    response = render(request, "registration/too_often.html", {"minutes": minutes}, status=429)
    response["Retry-After"] = str(error.seconds)
    return response
