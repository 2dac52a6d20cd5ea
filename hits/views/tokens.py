"""A user's own API tokens: list, create and revoke."""

from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from ..exceptions import PeopleRefused
from ..models import ApiToken
from ..people.access import for_members, user_of
from ..people.tokens import DEFAULT_DAYS, MAX_DAYS, make_token, revoke_token


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, label="Name", help_text="What the token is for.")
    scopes = forms.MultipleChoiceField(
        choices=ApiToken.Scope.choices,
        initial=[ApiToken.Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        label="Scopes",
        help_text="A token can never do more than you can.",
    )
    days = forms.IntegerField(
        min_value=1, max_value=MAX_DAYS, initial=DEFAULT_DAYS, label="Days until it expires"
    )


@require_http_methods(["GET", "POST"])
@for_members
def tokens(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    form, secret = TokenForm(request.POST or None), None
    if form.is_valid():
        try:
            _, secret = make_token(user=user, **form.cleaned_data)
            form = TokenForm()
        except PeopleRefused as refusal:
            form.add_error(None, str(refusal))
    context = {"form": form, "secret": secret, "tokens": user.api_tokens.all()}
    return render(request, "hits/tokens.html", context)


@require_POST
@for_members
def revoke(request: HttpRequest, token: UUID) -> HttpResponse:
    user = user_of(request)
    revoke_token(token=get_object_or_404(user.api_tokens.all(), code=token), actor=user)
    return redirect("api_tokens")
