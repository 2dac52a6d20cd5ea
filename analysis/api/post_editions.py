"""API: import post-editions, have them checked, and rate outputs against references of their own."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile
from ninja.pagination import paginate

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Line, Name
from hits.api.jobs import JobOut
from hits.api.validation import refuse_unknown_fields
from hits.models import Campaign
from hits.people.access import Level, campaign_for, campaigns_of, user_of
from hits.post_editing.arrays import edited_outputs, edits_of

from ..evaluation.uploading import raw_files
from ..models import GoldUpload
from ..post_editions.agreement import KIND, latest_agreement_of_editors
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
    """The name of the new campaign, what checkers see next to a text, and whether only native speakers, who say so, get a HIT."""

    name: Name
    shows: Literal[tuple(Campaign.Shows.values)] = "nothing"  # type: ignore[valid-type]
    asks_native: bool = True


class CheckOut(Schema):
    """The new campaign, a draft. `n_left_out` counts post-editions that were emptied."""

    code: UUID
    name: str
    n_post_editions: int
    n_texts: int
    n_left_out: int


class OwnReferencesIn(Input):
    """The name of the new campaign; and, without a file, the campaign whose post-editions are its references.

    Post-editions whose editors saw the reference are refused, unless `even_from_reference` is true.
    """

    name: Name
    post_editions_of: UUID | None = None
    even_from_reference: bool = False


class RatedAgainstOut(Schema):
    """The new campaign, a draft, and how many outputs it rates."""

    code: UUID
    name: str
    n_outputs: int


class BringBackIn(Input):
    """A campaign that rated each of this one's outputs against its own reference."""

    rated: UUID


class PostEditionOut(Schema):
    """A post-edition in a HIT that counts, of an output and not of a hidden item, with what it says about the output.

    `text` is what the editor wrote, and `checked_text` what another worker made of it, if one did; then the measures
    are those of that text. `pet` is the time of editing in seconds, and `per` that time per word of the output. Gold is
    made from those with `is_trusted`.
    """

    segment: str
    document: str
    systems: list[str]
    editor: UUID
    is_trusted: bool
    output: str
    text: str
    checked_text: str | None
    pet: float | None
    per: float | None
    hter: float
    hbleu: float
    hwer: float
    hper: float
    hcder: float


class EditorAgreementOut(Schema):
    """How far apart two trusted editors of an output are: HTER of each text against the other, mean over both ways and all pairs."""

    job: UUID
    measured_at: datetime
    n_pairs: int
    n_outputs: int
    n_editors: int
    mean: float | None
    share_equal: float | None
    signature: str


class _MeasuredPage(Sequence[dict[str, Any]]):
    """The post-editions of a campaign, of which only those on a page are loaded and measured."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign, self._edits = campaign, edits_of(campaign)

    def __len__(self) -> int:
        return self._edits.count()

    def __getitem__(self, places: Any) -> Any:
        from ..post_editions.collected import rows_of

        rows = rows_of(self._campaign, edited_outputs(self._campaign, list(self._edits[places])))
        return [_post_edition(row) for row in rows]


def _post_edition(row: Any) -> dict[str, Any]:
    edit, measured = row.edit, row.measured
    return {
        "segment": edit.segment,
        "document": edit.document,
        "systems": list(edit.systems),
        "editor": edit.worker_code,
        "is_trusted": edit.is_trusted,
        "output": edit.shown,
        "text": edit.text,
        "checked_text": None if edit.check is None else edit.check.text,
        "pet": measured.seconds,
        "per": measured.seconds_per_word,
    } | {name.lower(): score for name, score in measured.scores.items()}


@router.get("/{uuid:code}/post-editions", response=list[PostEditionOut], auth=Needs(Scope.READ))
@paginate
def list_post_editions(request: HttpRequest, code: UUID) -> Sequence[dict[str, Any]]:
    """List the post-editions of a campaign's outputs, by segment and editor."""
    return _MeasuredPage(campaign_for(request.user, code, Level.RESEARCHER))


@router.post("/{uuid:code}/post-editions/agreement", response={202: JobOut}, auth=Needs(Scope.RUN))
def measure_editor_agreement(request: HttpRequest, code: UUID) -> Status[Job]:
    """Start a job that measures how well editors of the same output agree."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    return Status(202, start_job(kind=KIND, campaign=campaign, started_by=user_of(request)))


@router.get(
    "/{uuid:code}/post-editions/agreement", response=EditorAgreementOut, auth=Needs(Scope.READ)
)
def get_editor_agreement(request: HttpRequest, code: UUID) -> dict[str, Any]:
    """Return the latest measurement of agreement between editors, or 404 if there is none."""
    job = latest_agreement_of_editors(campaign_for(request.user, code, Level.RESEARCHER))
    if job is None:
        raise Http404("Agreement between editors has not been measured yet.")
    return {"job": job.code, "measured_at": job.finished_at} | (job.result or {})


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
        even_from_reference=form.even_from_reference,
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
