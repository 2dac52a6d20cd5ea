"""A campaign's questions about its workers: write them on the form, upload a file, and see what was answered."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from ..campaigns.questionnaires import (
    N_BLANK,
    numbered,
    questions_from,
    rows_of,
    rows_sent,
    set_questionnaire,
)
from ..exceptions import EditRefused, QuestionsRefused, TextsRefused
from ..languages import direction
from ..models import Campaign
from ..people.access import for_campaign_admins, takes_files, user_of
from ..questionnaires.answering import questionnaire_of
from ..questionnaires.counting import count_answers
from ..questionnaires.questions import KINDS, LEVELS
from ..rating.own_texts import parse_texts

MAX_FILE_BYTES = 1_000_000
KIND_LABELS = dict(
    zip(
        KINDS,
        ("Native language", "Proficiency in a language", "Choice", "Number", "Text"),
        strict=True,
    )
)


@require_http_methods(["GET", "POST"])
@takes_files
@for_campaign_admins
def questionnaire(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    refusal, rows = None, []
    if request.method == "POST":
        rows = rows_sent(request.POST)
        try:
            name, given = _given(request, rows)
            set_questionnaire(campaign=campaign, actor=user_of(request), given=given, name=name)
        except (QuestionsRefused, TextsRefused, EditRefused) as error:
            refusal = error
        else:
            messages.success(request, "Saved.")
            return redirect("campaign_questionnaire", campaign.code)
    stored = questionnaire_of(campaign)
    language = request.POST.get("language") or stored.language
    context = {
        "campaign": campaign,
        "refusal": refusal,
        "rows": numbered([*rows, *({} for _ in range(N_BLANK))]) if rows else rows_of(stored),
        "language": language,
        "direction": direction(stored.language),
        "kinds": KIND_LABELS.items(),
        "levels": LEVELS,
        "counts": count_answers(campaign) if campaign.questionnaire else None,
    }
    return render(request, "hits/questionnaire.html", context, status=422 if refusal else 200)


def _given(request: HttpRequest, rows: list[dict[str, Any]]) -> tuple[str, Any]:
    """The name of the file, if one was uploaded, and the questions."""
    match request.POST.get("do"):
        case "upload":
            file = request.FILES.get("file")
            if file is None or file.size is None or file.size > MAX_FILE_BYTES:
                raise QuestionsRefused.of("Choose a JSON file of at most 1 MB.")
            return str(file.name), parse_texts(file.read(), name=str(file.name))
        case "remove":
            return "", {}
    return "", questions_from(rows, language=request.POST.get("language", "").strip())


@require_GET
@for_campaign_admins
def questionnaire_file(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """The questions as a file."""
    content = json.dumps(questionnaire_of(campaign).as_json(), ensure_ascii=False, indent=2)
    response = HttpResponse(content + "\n", content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="questions.json"'
    return response
