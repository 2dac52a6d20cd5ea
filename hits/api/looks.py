"""API: looks at a campaign that stops when its ranking is decided."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Schema, Status

from da_platform.jobs.models import Job
from da_platform.jobs.running import start_job

from ..campaigns.looks import JOB
from ..models import Look
from ..people.access import Level, campaign_for, user_of
from .auth import Needs, Scope, own_campaign
from .jobs import JobOut

router = Router(tags=["Campaigns"])


class LookPairOut(Schema):
    """Two systems, the better one first. Interval and p hold for all pairs and looks, whenever the campaign stops.

    `state` is `decided`, `open` (worth more ratings) or `given up`; `chance` is the chance of being decided by the last look.
    """

    system: str
    other: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    chance: float | None
    state: str


class LookOut(Schema):
    """A concluded look. `share` is the share of the plan that was rated, `boundary` the z-score that a pair needed. `run` is the number of its gold, whose
    own p-values assume a single look. If looks decide about translations, there are no pairs: the scores of `n_wide` of `n_translations` are still too uncertain.
    """

    number: int
    share: float
    began_at: datetime
    concluded_at: datetime
    is_last: bool
    run: int
    n_assignments: int
    n_ratings: int
    boundary: float
    n_pairs: int
    n_undecided: int
    n_open: int
    open_systems: list[str]
    n_translations: int
    n_wide: int
    pairs: list[LookPairOut]
    signature: str


def _facts(look: Look) -> dict[str, Any]:
    names = ("number", "share", "began_at", "concluded_at", "is_last", "n_wide")
    return {"n_translations": 0} | look.result | {name: getattr(look, name) for name in names}


@router.get("/{uuid:code}/looks", response=list[LookOut], auth=Needs(Scope.READ))
def list_looks(request: HttpRequest, code: UUID) -> list[dict[str, Any]]:
    """List the looks so far, each with all pairs of systems; none if the campaign has no looks."""
    campaign = campaign_for(request.user, code, Level.RESEARCHER)
    return [_facts(look) for look in campaign.looks.concluded().order_by("number")]


@router.post("/{uuid:code}/looks", response={202: JobOut}, auth=Needs(Scope.RUN))
def take_look(request: HttpRequest, code: UUID) -> Status[Job]:
    """Start a job that tests all pairs of systems, and adds HITs or stops. The job fails if no look is due."""
    job = start_job(kind=JOB, campaign=own_campaign(request, code), started_by=user_of(request))
    return Status(202, job)
