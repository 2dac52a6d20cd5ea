"""The tables of a collection, from a campaign's texts to their ratings."""

from .assignments import (
    SCORE_MAX,
    SCORE_MIN,
    Answer,
    Assignment,
    AssignmentQuerySet,
    InputSignals,
    Rank,
    Rating,
)
from .audit import (
    AuditEntry,
)
from .campaigns import (
    DEFAULT_HITS_PER_WORKER,
    FEWEST_OUTPUTS,
    MAX_LEASE_MINUTES,
    MOST_OUTPUTS,
    SEED_LIMIT,
    SHOWN_BY_TASK,
    Campaign,
    Segment,
    System,
    SystemOutput,
    Translation,
    new_seed,
    usual_settings,
)
from .counts import KeptCounts
from .drafts import CampaignDraft
from .evidence import (
    Evidence,
)
from .hits import (
    HIT,
    HITQuerySet,
    Item,
)
from .import_reports import ImportReport
from .members import Membership
from .payments import Payment, PaymentQuerySet, PaymentRun, PayRule
from .post_editions import PostEdition
from .recruitment import (
    DeviceSighting,
    Invite,
    ProviderEvent,
    RateCount,
    Recruitment,
    Submission,
)
from .reports import TextReport
from .second_factor import Authenticator
from .tokens import ApiToken, ApiTokenQuerySet
from .workers import (
    ForgottenMark,
    Participation,
    ParticipationQuerySet,
    Worker,
)

__all__ = [
    "SCORE_MAX",
    "SCORE_MIN",
    "Answer",
    "Assignment",
    "AssignmentQuerySet",
    "ImportReport",
    "InputSignals",
    "FEWEST_OUTPUTS",
    "MOST_OUTPUTS",
    "Rank",
    "Rating",
    "AuditEntry",
    "DEFAULT_HITS_PER_WORKER",
    "MAX_LEASE_MINUTES",
    "SEED_LIMIT",
    "SHOWN_BY_TASK",
    "Campaign",
    "Segment",
    "System",
    "SystemOutput",
    "Translation",
    "new_seed",
    "usual_settings",
    "KeptCounts",
    "CampaignDraft",
    "Evidence",
    "HIT",
    "HITQuerySet",
    "Item",
    "ForgottenMark",
    "Participation",
    "ParticipationQuerySet",
    "Membership",
    "PayRule",
    "Payment",
    "PaymentQuerySet",
    "PaymentRun",
    "DeviceSighting",
    "Invite",
    "ProviderEvent",
    "RateCount",
    "PostEdition",
    "Recruitment",
    "Submission",
    "TextReport",
    "Authenticator",
    "ApiToken",
    "ApiTokenQuerySet",
    "Worker",
]
