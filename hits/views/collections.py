"""Import a finished collection from uploaded files."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from hits.exceptions import ImportRefused

from ..archives.uploading import CollectionForm, import_uploaded
from ..people.access import for_admins, takes_files, user_of


@takes_files
@require_http_methods(["GET", "POST"])
@for_admins
def import_collection(request: HttpRequest) -> HttpResponse:
    """Ask for the files, and import them in a job."""
    form = CollectionForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
    refusal = None
    if request.method == "POST" and form.is_valid():
        try:
            job = import_uploaded(form=form, actor=user_of(request))
            return redirect("job", job.code)
        except ImportRefused as error:
            refusal = error
    context = {"form": form, "refusal": refusal}
    status = 422 if request.method == "POST" else 200
    return render(request, "hits/import_collection.html", context, status=status)
