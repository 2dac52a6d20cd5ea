"""Make more example campaigns, or remove all of them after a confirmation."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from da_platform.jobs.running import start_job
from hits.campaigns.demo import DRAFT_NAME, TASK_EXAMPLES_JOB
from hits.exceptions import RemovalRefused
from hits.models import Campaign, CampaignDraft
from hits.people.access import for_admins, user_of

from ..examples.removing import remove_examples


@require_POST
@for_admins
def make(request: HttpRequest) -> HttpResponse:
    """Make an example of each task that the first examples do not show, in a job."""
    job = start_job(kind=TASK_EXAMPLES_JOB, started_by=user_of(request))
    return redirect("job", job.code)


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
