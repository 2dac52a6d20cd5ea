"""The minimum for Django: store a row and look one up, with the ORM or raw cursors, and show a page."""

from secrets import token_hex
from uuid import uuid4

from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import Context, Template
from django.urls import path
from django.utils import timezone

from .bare_models import BareItem, BareWorker

_INSERT = """
    INSERT INTO hits_worker (code, provider, external_id, created_at) VALUES (%s, %s, %s, %s)
"""
_SELECT = "SELECT text FROM hits_item WHERE id = %s"
_PAGE = Template("<!doctype html><title>Bare</title><p>{{ item.text }}")


def bare_orm(request: HttpRequest) -> JsonResponse:
    with transaction.atomic():
        BareWorker.objects.create(provider="bare", external_id=token_hex(8))
    item = BareItem.objects.get(pk=1)
    return _saved(item.text)


def bare_cursor(request: HttpRequest) -> JsonResponse:
    code = uuid4()
    stored_code = code if connection.features.has_native_uuid_field else code.hex
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with connection.cursor() as cursor:
        with transaction.atomic():
            cursor.execute(_INSERT, [stored_code, "bare", token_hex(8), now])
        cursor.execute(_SELECT, [1])
        (text,) = cursor.fetchone()
    return _saved(text)


def _saved(text: str) -> JsonResponse:
    response = JsonResponse({"saved": 1, "text": text})
    # Django's middleware would set it. Without it the response would be chunked.
    response["Content-Length"] = str(len(response.content))
    return response


def bare_page(request: HttpRequest) -> HttpResponse:
    # Not rendered for the request: no context processor adds to it.
    return HttpResponse(_PAGE.render(Context({"item": BareItem.objects.get(pk=1)})))


urlpatterns = [
    path("", bare_page),
    path("bare/orm/", bare_orm),
    path("bare/cursor/", bare_cursor),
]
