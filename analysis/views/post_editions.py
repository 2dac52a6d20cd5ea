"""The post-editions that workers made, word by word, next to the outputs."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from hits.languages import is_spaced
from hits.models import Campaign
from hits.people.access import for_campaign_researchers
from hits.post_editing.arrays import load_edited_outputs

from ..exporting.service import TABLE_FORMATS

EDITS_PER_PAGE = 50


@require_GET
@for_campaign_researchers
def post_editions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """List post-editions with their editor, time and changed words."""
    from ..post_editions.collected import agreement_of_editors, edit_row

    search = request.GET.get("search", "").replace("\x00", "")
    edits = [
        edit
        for edit in load_edited_outputs(campaign)
        if not search or search in (edit.segment, *edit.systems)
    ]
    page = Paginator(edits, EDITS_PER_PAGE).get_page(request.GET.get("page"))
    spaced = is_spaced(campaign.target_language)
    context = {
        "campaign": campaign,
        "page": page,
        "rows": [edit_row(edit, spaced=spaced) for edit in page],
        "agreement": agreement_of_editors(campaign),
        "search": search,
        "table_formats": TABLE_FORMATS,
    }
    return render(request, "analysis/post_editions.html", context)
