"""A person's own API tokens: what there is, a new one, shown once, and an end to one."""

from uuid import UUID

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from ..access import for_members
from ..exceptions import PeopleRefused
from ..models import ApiToken
from ..people.tokens import DEFAULT_DAYS, MAX_DAYS, make_token, revoke_token


class TokenForm(forms.Form):
    name = forms.CharField(max_length=100, label="What it is for")
    scopes = forms.MultipleChoiceField(
        choices=ApiToken.Scope.choices,
        initial=[ApiToken.Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        label="What it may do",
        help_text="Never more than you may do yourself.",
    )
    days = forms.IntegerField(
        min_value=1, max_value=MAX_DAYS, initial=DEFAULT_DAYS, label="Days until it expires"
    )


@require_http_methods(["GET", "POST"])
@for_members
def tokens(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    form, secret = TokenForm(request.POST or None), None
    if form.is_valid():
        try:
            _, secret = make_token(user=request.user, **form.cleaned_data)
            form = TokenForm()
        except PeopleRefused as refusal:
            form.add_error(None, str(refusal))
    own = request.user.api_tokens.all()
    context = {"form": form, "secret": secret, "tokens": own}
    return render(request, "hits/tokens.html", context)


@require_POST
@for_members
def revoke(request: HttpRequest, token: UUID) -> HttpResponse:
    assert isinstance(request.user, User)
    # Other people's tokens do not exist here.
    own = get_object_or_404(request.user.api_tokens.all(), code=token)
    revoke_token(token=own, actor=request.user)
    return redirect("api_tokens")
