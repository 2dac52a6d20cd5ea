"""API: import post-editions, have them checked, and rate outputs against references of their own."""

from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile

from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Line, Name
from hits.api.validation import refuse_unknown_fields
from hits.models import Campaign
from hits.people.access import Level, campaign_for, campaigns_of, user_of

from ..evaluation.uploading import raw_files
from ..models import GoldUpload
from .metrics import GoldUploadOut

router = Router(tags=["Post-editions"])


class ImportedIn(Input):
    """For a file without columns, one post-edition per line: the system whose outputs were edited."""

    system: Line = ""


class ImportedOut(Schema):
    """What was stored. `n_outputs` is the number of different texts that were edited."""

    n_post_editions: int
    n_editors: int
    n_outputs: int


class CheckIn(Input):
    """The name of the new campaign, and what checkers see next to a text."""

    name: Name
    shows: Literal[tuple(Campaign.Shows.values)] = "nothing"  # type: ignore[valid-type]


class CheckOut(Schema):
    """The new campaign, a draft. `n_left_out` counts post-editions that were emptied."""

    code: UUID
    name: str
    n_post_editions: int
    n_texts: int
    n_left_out: int


class OwnReferencesIn(Input):
    """The name of the new campaign; and, without a file, the campaign whose post-editions are its references."""

    name: Name
    post_editions_of: UUID | None = None


class RatedAgainstOut(Schema):
    """The new campaign, a draft, and how many outputs it rates."""

    code: UUID
    name: str
    n_outputs: int


class BringBackIn(Input):
    """A campaign that rated each of this one's outputs against its own reference."""

    rated: UUID


@router.post("/{uuid:code}/post-editions", response={201: ImportedOut}, auth=Needs(Scope.RUN))
def import_post_editions(
    request: HttpRequest, code: UUID, file: File[UploadedFile], form: Form[ImportedIn]
) -> Status[object]:
    """Store post-editions that were made elsewhere. The campaign, a draft for post-editing without HITs, is then closed.

    A table has the columns `system`, `segment` and `post_edition`, and optionally `editor` and `seconds`.
    """
    from ..post_editions.importing import import_post_editions

    campaign = campaign_for(request.user, code, Level.ADMIN)
    refuse_unknown_fields(request, ImportedIn, "file")
    stored = import_post_editions(
        campaign=campaign, source=raw_files([file])[0], system=form.system, actor=user_of(request)
    )
    return Status(201, stored)


@router.post("/{uuid:code}/post-editions/check", response={201: CheckOut}, auth=Needs(Scope.RUN))
def check_post_editions(
    request: HttpRequest, code: UUID, body: CheckIn
) -> Status[dict[str, object]]:
    """Create a campaign in which other workers check the post-editions by trusted editors, and may correct them.

    Post-editions that are in a check already are left out.
    """
    from hits.post_editing.checking import check_post_editions

    check = check_post_editions(
        campaign=campaign_for(request.user, code, Level.ADMIN),
        name=body.name,
        shows=body.shows,
        actor=user_of(request),
    )
    facts = {
        "code": check.campaign.code,
        "name": check.campaign.name,
        "n_post_editions": check.n_post_editions,
        "n_texts": check.n_texts,
        "n_left_out": check.n_left_out,
    }
    return Status(201, facts)


@router.post("/{uuid:code}/own-references", response={201: RatedAgainstOut}, auth=Needs(Scope.RUN))
def rate_against(
    request: HttpRequest,
    code: UUID,
    form: Form[OwnReferencesIn],
    file: Annotated[UploadedFile | None, File()] = None,
) -> Status[dict[str, object]]:
    """Create a campaign that rates each output of this one against its own reference.

    The file is a table with the columns `system`, `segment` and `reference` (or `post_edition`).
    """
    from ..post_editions.own_references import rate_against

    campaign = campaign_for(request.user, code, Level.ADMIN)
    refuse_unknown_fields(request, OwnReferencesIn, "file")
    edited_in = form.post_editions_of
    rated = rate_against(
        campaign=campaign,
        name=form.name,
        references=None if file is None else raw_files([file])[0],
        post_editions_of=_visible(request, edited_in) if edited_in else None,
        actor=user_of(request),
    )
    facts = {
        "code": rated.campaign.code,
        "name": rated.campaign.name,
        "n_outputs": rated.n_outputs,
    }
    return Status(201, facts)


@router.post(
    "/{uuid:code}/own-references/gold", response={201: GoldUploadOut}, auth=Needs(Scope.RUN)
)
def bring_back_gold(request: HttpRequest, code: UUID, body: BringBackIn) -> Status[GoldUpload]:
    """Store the newest gold of a campaign made by `rate_against` as gold of this one."""
    from ..post_editions.own_references import bring_back_newest_gold

    campaign = campaign_for(request.user, code, Level.ADMIN)
    gold = bring_back_newest_gold(
        rated=_visible(request, body.rated), campaign=campaign, actor=user_of(request)
    )
    return Status(201, gold)


def _visible(request: HttpRequest, code: UUID) -> Campaign:
    return get_object_or_404(campaigns_of(request.user), code=code)
