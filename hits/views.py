from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


@login_not_required
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "hits/home.html")


@login_not_required
def landing(request: HttpRequest, code: UUID) -> HttpResponse:
    return render(request, "hits/home.html")
