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
    DEFAULT_RUN_LENGTH,
    FEWEST_OUTPUTS,
    LONGEST_RUN,
    MAX_LEASE_MINUTES,
    MOST_OUTPUTS,
    SEED_LIMIT,
    SHORTEST_RUN,
    Campaign,
    new_seed,
)
from .counts import KeptCounts
from .document_ratings import DocumentRating
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
from .looks import Look, LookQuerySet
from .media import MediaFile
from .members import Membership
from .payments import Payment, PaymentQuerySet, PaymentRun, PayRule
from .post_editions import EditionToCheck, PostEdition
from .questionnaires import QuestionnaireReply
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
from .texts import SampleChance, Segment, System, SystemOutput, Translation
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
    "DEFAULT_RUN_LENGTH",
    "DocumentRating",
    "LONGEST_RUN",
    "SHORTEST_RUN",
    "MAX_LEASE_MINUTES",
    "SEED_LIMIT",
    "Campaign",
    "SampleChance",
    "Segment",
    "System",
    "SystemOutput",
    "Translation",
    "new_seed",
    "KeptCounts",
    "CampaignDraft",
    "Evidence",
    "HIT",
    "HITQuerySet",
    "Item",
    "ForgottenMark",
    "MediaFile",
    "Participation",
    "QuestionnaireReply",
    "ParticipationQuerySet",
    "Look",
    "LookQuerySet",
    "Membership",
    "PayRule",
    "Payment",
    "PaymentQuerySet",
    "PaymentRun",
    "DeviceSighting",
    "Invite",
    "ProviderEvent",
    "RateCount",
    "EditionToCheck",
    "PostEdition",
    "Recruitment",
    "Submission",
    "TextReport",
    "Authenticator",
    "ApiToken",
    "ApiTokenQuerySet",
    "Worker",
]
