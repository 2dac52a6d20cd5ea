"""The platform's pages, and the least that a Django view can do which stores a row and looks one up."""

from secrets import token_hex

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import engines
from django.urls import include, path

from hits.models import Item, Worker

from .bare_urls import bare_cursor

_PAGE = engines["django"].from_string("<!doctype html><title>Bare</title><p>{{ item.text }}")


@login_not_required
def bare_orm(request: HttpRequest) -> JsonResponse:
    with transaction.atomic():
        Worker.objects.create(provider="bare", external_id=token_hex(8))
    item = Item.objects.get(pk=1)
    return JsonResponse({"saved": 1, "text": item.text})


@login_not_required
def bare_page(request: HttpRequest) -> HttpResponse:
    return HttpResponse(_PAGE.render({"item": Item.objects.get(pk=1)}, request))


urlpatterns = [
    path("bare/orm/", bare_orm),
    path("bare/cursor/", bare_cursor),
    path("bare/page/", bare_page),
    path("", include("da_platform.urls")),
]
