"""A campaign's own texts for workers: write them next to the English, upload them, or take another campaign's."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from ..campaigns.worker_texts import form_rows, progress_of, set_texts, texts_file, texts_sent
from ..exceptions import EditRefused, TextsRefused
from ..models import Campaign
from ..people.access import (
    Level,
    campaigns_of,
    for_campaign_admins,
    has_level,
    takes_files,
    user_of,
)
from ..rating.own_texts import parse_texts

MAX_FILE_BYTES = 1_000_000


@require_http_methods(["GET", "POST"])
@takes_files
@for_campaign_admins
def worker_texts(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    refusal = None
    if request.method == "POST":
        try:
            _change(request, campaign)
        except (TextsRefused, EditRefused) as error:
            refusal = error
        else:
            messages.success(request, "Saved.")
            return redirect("campaign_worker_texts", campaign.code)
    context = {
        "campaign": campaign,
        "refusal": refusal,
        "progress": progress_of(campaign),
        "donors": _donors(request, campaign),
        **form_rows(campaign),
    }
    return render(request, "hits/worker_texts.html", context, status=422 if refusal else 200)


def _change(request: HttpRequest, campaign: Campaign) -> None:
    """Do what the pressed button says."""
    name, texts = "", texts_sent(campaign, request.POST)
    match request.POST.get("do"):
        case "upload":
            name, texts = _uploaded(request)
        case "copy":
            donors = _donors(request, campaign)
            donor = get_object_or_404(Campaign, code=request.POST.get("donor") or None)
            texts = donor.guidance if donor in donors else {}
        case "remove":
            texts = {}
    set_texts(campaign=campaign, actor=user_of(request), texts=texts, name=name)


def _uploaded(request: HttpRequest) -> tuple[str, Any]:
    file = request.FILES.get("file")
    if file is None or file.size is None or file.size > MAX_FILE_BYTES:
        raise TextsRefused.of("Choose a JSON file of at most 1 MB.")
    return str(file.name), parse_texts(file.read(), name=str(file.name))


def _donors(request: HttpRequest, campaign: Campaign) -> list[Campaign]:
    """Other campaigns into this language that have texts of their own, if the user is an admin of them."""
    others = campaigns_of(request.user).exclude(pk=campaign.pk).exclude(guidance={})
    others = others.filter(target_language=campaign.target_language)
    return [other for other in others if has_level(request.user, Level.ADMIN, other)]


@require_GET
@for_campaign_admins
def worker_texts_file(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The texts as a file: what is there, and empty strings for the rest."""
    content = json.dumps(texts_file(campaign), ensure_ascii=False, indent=2)
    response = HttpResponse(content + "\n", content_type="application/json; charset=utf-8")
    name = f"texts-{campaign.target_language}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
