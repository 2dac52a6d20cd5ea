"""A view that stores a row and looks one up with cursors of its own, and needs nothing of the platform."""

from secrets import token_hex
from uuid import uuid4

from django.contrib.auth.decorators import login_not_required
from django.db import connection, transaction
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.utils import timezone

_INSERT = """
    INSERT INTO hits_worker (code, provider, external_id, created_at) VALUES (%s, %s, %s, %s)
"""
_SELECT = "SELECT text FROM hits_item WHERE id = %s"


@login_not_required
def bare_cursor(request: HttpRequest) -> JsonResponse:
    code = uuid4()
    stored_code = code if connection.features.has_native_uuid_field else code.hex
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with connection.cursor() as cursor:
        with transaction.atomic():
            cursor.execute(_INSERT, [stored_code, "bare", token_hex(8), now])
        cursor.execute(_SELECT, [1])
        (text,) = cursor.fetchone()
    return JsonResponse({"saved": 1, "text": text})


urlpatterns = [path("", bare_cursor), path("bare/cursor/", bare_cursor)]
