"""Remove the example campaigns, after a confirmation."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from hits.campaigns.demo import DRAFT_NAME
from hits.exceptions import RemovalRefused
from hits.models import Campaign, CampaignDraft
from hits.people.access import for_admins, user_of

from ..examples.removing import remove_examples


@require_http_methods(["GET", "POST"])
@for_admins
def remove(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        try:
            if remove_examples(actor=user_of(request)):
                messages.success(request, "The examples were removed.")
        except RemovalRefused as error:
            messages.error(request, str(error))
        return redirect("home")
    context = {
        "campaigns": Campaign.objects.examples(),
        "drafts": CampaignDraft.objects.filter(basics__name=DRAFT_NAME),
    }
    return render(request, "analysis/remove_examples.html", context)
