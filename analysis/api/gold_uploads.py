"""API: upload gold from elsewhere, such as HTER or MQM, to evaluate a campaign's metrics against."""

from datetime import datetime
from pathlib import PurePath
from typing import Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile
from ninja.pagination import paginate

from da_platform.files.reading import printable
from hits.api.auth import Needs, Scope
from hits.api.field_types import Input, Name
from hits.api.validation import refuse_unknown_fields
from hits.people.access import Level, campaign_for, user_of

from ..evaluation.uploading import GoldReading, store_uploaded_gold
from ..models import GoldUpload
from ..scores.formats import FORMATS
from ..scores.raw_files import MAX_FILE_BYTES, RawFile
from ..scores.score_tables import GoldKind

router = Router(tags=["Gold"])


class GoldUploadOut(Schema):
    """Gold from a file. Name its `code` as `upload` among the golds of an evaluation."""

    code: UUID
    name: str
    kind: str
    level: str
    higher_is_better: bool
    n_scores: int
    file_name: str
    sha256: str
    signature: str
    created_at: datetime


class GoldUploadIn(Input):
    """What the gold measures and its direction, which is never guessed; and details as for scores.

    `column` chooses one of several columns with gold.
    """

    kind: GoldKind
    higher_is_better: bool
    name: Name | None = None
    column: Name | None = None
    format: Literal[FORMATS] | None = None  # type: ignore[valid-type]
    language_pair: Name | None = None
    testset: Name | None = None
    reference: Name | None = None
    system: Name | None = None
    replace: bool = False

    @property
    def reading(self) -> GoldReading:
        only = self.model_dump(include={"language_pair", "testset", "reference"})
        return GoldReading(
            kind=self.kind,
            higher_is_better=self.higher_is_better,
            format=self.format,
            name=self.name,
            column=self.column,
            system=self.system or "",
            only={role: value for role, value in only.items() if value},
        )


@router.get("/{uuid:code}/gold/uploads", response=list[GoldUploadOut], auth=Needs(Scope.READ))
@paginate
def list_gold_uploads(request: HttpRequest, code: UUID) -> QuerySet[GoldUpload]:
    """List the gold that was uploaded for a campaign."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    return campaign.gold_uploads.defer("table").order_by("pk")


@router.post(
    "/{uuid:code}/gold/uploads", response={201: list[GoldUploadOut]}, auth=Needs(Scope.RUN)
)
def add_gold(
    request: HttpRequest,
    code: UUID,
    file: File[UploadedFile],
    form: Form[GoldUploadIn],
    documents: File[UploadedFile | None] = None,
    texts: File[UploadedFile | None] = None,
) -> Status[list[GoldUpload]]:
    """Store the gold in a file. Uploading the same file again changes nothing.

    `documents` and `texts` name the document and the text of each segment, one per line.
    """
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    refuse_unknown_fields(request, GoldUploadIn, "file", "documents", "texts")
    stored = store_uploaded_gold(
        files=[_raw(file)],
        home=campaign,
        reading=form.reading,
        documents=None if documents is None else _raw(documents),
        texts=None if texts is None else _raw(texts),
        replace=form.replace,
        uploaded_by=user_of(request),
    )
    return Status(201, stored)


def _raw(file: UploadedFile) -> RawFile:
    name = printable(PurePath(file.name or "gold").name)[:255]
    # One byte more than allowed is enough to refuse a file that is too large.
    return RawFile(name, file.read(MAX_FILE_BYTES + 1))
