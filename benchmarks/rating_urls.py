"""The platform's pages, and the least that a view can do which stores a row and looks one up."""

from django.contrib.auth.decorators import login_not_required
from django.db import connection, transaction
from django.http import HttpRequest, JsonResponse
from django.urls import include, path


@login_not_required
def bare(request: HttpRequest) -> JsonResponse:
    with connection.cursor() as cursor:
        with transaction.atomic():
            cursor.execute("INSERT INTO benchmark_bare (score) VALUES (%s)", [50])
        cursor.execute("SELECT text FROM hits_item WHERE id = %s", [1])
        row = cursor.fetchone()
    return JsonResponse({"saved": 1, "text": row[0]})


urlpatterns = [path("bare/", bare), path("", include("da_platform.urls"))]
