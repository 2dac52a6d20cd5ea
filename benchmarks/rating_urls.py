"""The platform's pages, and the least that a Django view can do which stores a row and looks one up."""

from secrets import token_hex

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.urls import include, path

from hits.models import Item, Worker


@login_not_required
def bare(request: HttpRequest) -> JsonResponse:
    with transaction.atomic():
        Worker.objects.create(provider="bare", external_id=token_hex(8))
    item = Item.objects.get(pk=1)
    return JsonResponse({"saved": 1, "text": item.text})


urlpatterns = [path("bare/", bare), path("", include("da_platform.urls"))]
