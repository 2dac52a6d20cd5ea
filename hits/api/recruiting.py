"""API: recruiting settings, invite links, and the study at Prolific."""

from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from ninja import Router, Schema, Status
from ninja.pagination import paginate
from pydantic import Field

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job

from ..models import Campaign, DeviceSighting, Invite, Recruitment, Submission
from ..people.access import user_of
from ..people.guards import shared_devices
from ..recruiting.arrivals import recruitment_of, save_recruitment, settings_form
from ..recruiting.invites import MAX_INVITES, NewInvite, make_invites, revoke_invites
from ..recruiting.studies import create_study, places_wanted, publish_study
from .auth import Needs, Scope, own_campaign
from .field_types import Input, Name, Number, Text
from .jobs import JobOut
from .validation import checked

router = Router(tags=["Recruiting"])

Whole = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]
Setting = bool | Whole | Text | list[Name]


class RecruitingOut(Schema):
    """How workers are recruited. Settings contain names of environment variables, never secrets."""

    provider: str
    is_open: bool
    study: str
    n_places: int
    n_places_wanted: int
    synced_at: datetime | None
    settings: dict[str, Any]
    landing_url: str
    # The ExternalURL for Mechanical Turk.
    question_url: str | None

    @staticmethod
    def resolve_n_places_wanted(recruitment: Recruitment) -> int:
        return places_wanted(recruitment) if recruitment.pk else 0

    @staticmethod
    def resolve_landing_url(recruitment: Recruitment, context: Any) -> str:
        return _landing_url(context["request"], recruitment.campaign)

    @staticmethod
    def resolve_question_url(recruitment: Recruitment, context: Any) -> str | None:
        if recruitment.provider != Recruitment.Provider.MTURK:
            return None
        path = reverse("external_question", args=[recruitment.campaign.code])
        return str(context["request"].build_absolute_uri(path))


class RecruitingIn(Input):
    """A provider and its settings, named as in the form on the page."""

    provider: Recruitment.Provider
    values: Annotated[dict[Name, Setting], Field(max_length=50)] = {}


class LinksIn(Input):
    """`max_uses` limits shared links; null means no limit."""

    n: Annotated[int, Field(ge=1, le=MAX_INVITES)] = 1
    is_personal: bool = True
    max_uses: Number | None = None
    days: Annotated[int, Field(ge=1, le=365)] = 30
    label: Annotated[Text, Field(max_length=80)] = ""


class LinkOut(Schema):
    """A new link; its URL is shown only once and not stored."""

    id: int
    label: str
    url: str
    expires_at: datetime | None


class InviteOut(Schema):
    id: int
    label: str
    is_personal: bool
    max_uses: int | None
    n_uses: int
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class RevokeIn(Input):
    """The ids of the links, or `everything` for all links of the campaign."""

    ids: Annotated[list[Number], Field(max_length=MAX_INVITES)] = []
    everything: bool = False


class RevokedOut(Schema):
    n_revoked: int


class StudyOut(Schema):
    """The status as Prolific names it."""

    study: str
    status: str


class SubmissionOut(Schema):
    reference: str
    worker: str
    status: str
    assignment: UUID | None
    arrived_at: datetime
    reported_at: datetime | None

    @staticmethod
    def resolve_worker(submission: Submission) -> str:
        return str(submission.worker)

    @staticmethod
    def resolve_assignment(submission: Submission) -> UUID | None:
        return submission.assignment.code if submission.assignment else None


class SightingOut(Schema):
    """A worker on a device that other workers used too; these have the same `mark`."""

    kind: str
    mark: str
    worker: str
    first_seen_at: datetime

    @staticmethod
    def resolve_worker(sighting: DeviceSighting) -> str:
        return str(sighting.worker)


@router.get("/{uuid:code}/recruiting", response=RecruitingOut, auth=Needs(Scope.RUN))
def get_recruiting(request: HttpRequest, code: UUID) -> Recruitment:
    """Get how workers are recruited."""
    return recruitment_of(own_campaign(request, code))


@router.put("/{uuid:code}/recruiting", response=RecruitingOut, auth=Needs(Scope.RUN))
def save_recruiting(request: HttpRequest, code: UUID, payload: RecruitingIn) -> Recruitment:
    """Set how workers are recruited. Omitted settings are off or empty, as in the form on the page."""
    campaign = own_campaign(request, code)
    values = {name: _form_value(value) for name, value in payload.values.items()}
    form = settings_form(recruitment_of(campaign), payload.provider.value, values)
    return save_recruitment(
        campaign=campaign,
        provider=payload.provider.value,
        values=checked(form),
        actor=user_of(request),
    )


def _form_value(value: Setting) -> bool | int | str:
    """Turn a list into the lines of a text field."""
    return "\n".join(value) if isinstance(value, list) else value


@router.get("/{uuid:code}/invites", response=list[InviteOut], auth=Needs(Scope.RUN))
@paginate
def list_invites(request: HttpRequest, code: UUID) -> QuerySet[Invite]:
    """List a campaign's invite links, newest first, without their URLs."""
    return own_campaign(request, code).invites.order_by("-pk")


@router.post("/{uuid:code}/invites", response={201: list[LinkOut]}, auth=Needs(Scope.RUN))
def make_links(request: HttpRequest, code: UUID, payload: LinksIn) -> Status[list[dict[str, Any]]]:
    """Create links. Keep the response: their URLs cannot be retrieved later."""
    invites = make_invites(
        campaign=own_campaign(request, code),
        n=payload.n,
        actor=user_of(request),
        label=payload.label,
        is_personal=payload.is_personal,
        max_uses=payload.max_uses,
        expires_at=timezone.now() + timedelta(days=payload.days),
    )
    return Status(201, [_link(request, new) for new in invites])


def _link(request: HttpRequest, new: NewInvite) -> dict[str, Any]:
    return {
        "id": new.invite.pk,
        "label": new.invite.label,
        "url": request.build_absolute_uri(reverse("join", args=[new.token])),
        "expires_at": new.invite.expires_at,
    }


@router.post("/{uuid:code}/invites/revoke", response=RevokedOut, auth=Needs(Scope.RUN))
def revoke_links(request: HttpRequest, code: UUID, payload: RevokeIn) -> dict[str, int]:
    """Revoke links. Workers who already used one keep their access."""
    pks = None if payload.everything else payload.ids
    campaign = own_campaign(request, code)
    return {"n_revoked": revoke_invites(campaign=campaign, pks=pks, actor=user_of(request))}


@router.post("/{uuid:code}/study", response={201: RecruitingOut}, auth=Needs(Scope.RUN))
def make_study(request: HttpRequest, code: UUID) -> Status[Recruitment]:
    """Create a draft study at Prolific with as many places as the HITs offer."""
    campaign = own_campaign(request, code)
    recruitment = create_study(
        recruitment=recruitment_of(campaign),
        landing_url=_landing_url(request, campaign),
        actor=user_of(request),
    )
    return Status(201, recruitment)


@router.post(
    "/{uuid:code}/study/publish",
    response=StudyOut,
    auth=Needs(Scope.RUN),
    operation_id="publish_study",
)
def publish(request: HttpRequest, code: UUID) -> dict[str, str]:
    """Publish the study at Prolific. Publishing twice has no effect."""
    recruitment = recruitment_of(own_campaign(request, code))
    status = publish_study(recruitment=recruitment, actor=user_of(request))
    return {"study": recruitment.study, "status": status}


@router.post("/{uuid:code}/study/sync", response={202: JobOut}, auth=Needs(Scope.RUN))
def sync_submissions(request: HttpRequest, code: UUID) -> Status[Job]:
    """Start a job that fetches the state of submissions from the provider."""
    return _job(request, code, "sync_submissions")


@router.post("/{uuid:code}/study/places", response={202: JobOut}, auth=Needs(Scope.RUN))
def raise_places(request: HttpRequest, code: UUID) -> Status[Job]:
    """Start a job that raises the number of places at Prolific to what the campaign now needs."""
    return _job(request, code, "raise_places")


@router.get("/{uuid:code}/submissions", response=list[SubmissionOut], auth=Needs(Scope.DECIDE))
@paginate
def list_submissions(request: HttpRequest, code: UUID) -> QuerySet[Submission]:
    """List the provider's submissions, newest first."""
    submissions = Submission.objects.filter(recruitment__campaign=own_campaign(request, code))
    return submissions.select_related("worker", "assignment").order_by("-pk")


@router.get("/{uuid:code}/devices", response=list[SightingOut], auth=Needs(Scope.DECIDE))
@paginate
def list_devices(request: HttpRequest, code: UUID) -> QuerySet[DeviceSighting]:
    """List devices used by more than one worker; these may be the same person."""
    return shared_devices(own_campaign(request, code))


def _job(request: HttpRequest, code: UUID, kind: str) -> Status[Job]:
    campaign = own_campaign(request, code)
    return Status(202, start_job(kind=kind, campaign=campaign, started_by=user_of(request)))


def _landing_url(request: HttpRequest, campaign: Campaign) -> str:
    return request.build_absolute_uri(campaign.get_absolute_url())
