"""The documentation inside the platform. Everyone may read it: it is published with the code."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET

from . import pages

MAX_SEARCH_LENGTH = 100


@require_GET
def page(request: HttpRequest, name: str = pages.CONTENTS) -> HttpResponse:
    if name not in pages.files():
        raise Http404("No such page.")
    shown = pages.page(name, root=reverse("help"))
    context = {"shown": shown, "contents": pages.contents()}
    return render(request, "help/page.html", context)


@require_GET
def search(request: HttpRequest) -> HttpResponse:
    text = request.GET.get("q", "")[:MAX_SEARCH_LENGTH]
    hits = pages.search(text, root=reverse("help"))
    context = {"search": text, "hits": hits, "contents": pages.contents()}
    return render(request, "help/search.html", context)


@require_GET
@cache_control(max_age=3600)
def picture(request: HttpRequest, name: str) -> FileResponse:
    if name not in pages.pictures():
        raise Http404("No such picture.")
    return FileResponse(pages.pictures()[name].open("rb"))
