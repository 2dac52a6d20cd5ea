"""Make example campaigns, or remove all of them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from da_platform.jobs.running import start_job
from hits.campaigns.demo import EXAMPLES_JOB, TASK_EXAMPLES_JOB
from hits.exceptions import RemovalRefused
from hits.people.access import for_admins, user_of

from ..examples.removing import remove_examples


@require_POST
@for_admins
def make(request: HttpRequest) -> HttpResponse:
    """Make an example of each task that the first examples do not show, or the first ones again, in a job."""
    is_again = request.POST.get("which") == "removed"
    kind, arguments = (EXAMPLES_JOB, {"again": True}) if is_again else (TASK_EXAMPLES_JOB, {})
    job = start_job(kind=kind, arguments=arguments, started_by=user_of(request))
    return redirect("job", job.code)


@require_POST
@for_admins
def remove(request: HttpRequest) -> HttpResponse:
    """Remove the examples at once: they contain nobody's work, and can be made again."""
    try:
        if remove_examples(actor=user_of(request)):
            messages.success(request, "The examples were removed.")
    except RemovalRefused as error:
        messages.error(request, str(error))
    return redirect("home")
