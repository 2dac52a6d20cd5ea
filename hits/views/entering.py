"""Logging in and asking for a new password: Django's views, with limits on how often."""

import logging
from typing import Any

from django.contrib.auth import views as auth
from django.contrib.auth.forms import PasswordResetForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from ..exceptions import TooOften
from ..guards import check_login, check_mail_to, check_reset

logger = logging.getLogger(__name__)


class Login(auth.LoginView):
    """One for the platform and for Django's admin: there is no second door to try passwords at."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            check_login(request)
        except TooOften as error:
            return _refused(request, error)
        return super().post(request, *args, **kwargs)


class PasswordReset(auth.PasswordResetView):
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
            # The same answer as ever: it tells neither who is known here nor who was written to.
            logger.warning("A mailbox was sent enough mails for now.")
            return HttpResponseRedirect(self.get_success_url())
        return super().form_valid(form)


def _refused(request: HttpRequest, error: TooOften) -> HttpResponse:
    logger.warning("Refused a rush at %s.", request.path)
    minutes = -(-error.seconds // 60)
    response = render(request, "registration/too_often.html", {"minutes": minutes}, status=429)
    response["Retry-After"] = str(error.seconds)
    return response
