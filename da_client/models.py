"""What the API answers with, as plain records. A field that this client does not know is left out."""

from dataclasses import dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Record:
    @classmethod
    def of(cls, answer: dict[str, Any]) -> Self:
        known = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in answer.items() if name in known})


@dataclass(frozen=True, slots=True)
class Campaign(Record):
    code: str
    name: str
    status: str
    source_language: str
    target_language: str
    task: str
    n_systems: int
    n_segments: int
    n_translations: int
    n_hits: int
    n_places_left: int
    n_submitted: int
    n_ratings: int


@dataclass(frozen=True, slots=True)
class Forecast(Record):
    """Counts of assignments: wanted, there, and missing. `at` is when they were counted."""

    at: str
    n_wanted: int
    n_trusted: int
    n_unproven: int
    n_in_progress: int
    n_discarded: int
    n_missing: int
    pass_rate: float
    is_complete: bool
    done_at: str | None


@dataclass(frozen=True, slots=True)
class Cost(Forecast):
    """The same with money, in exact decimals."""

    currency: str
    spent: str
    spending_cap: str | None
    n_expected: int
    expected_cost: str
    is_stopped_by_cap: bool


@dataclass(frozen=True, slots=True)
class Job(Record):
    code: str
    kind: str
    state: str
    n_done: int
    n_total: int | None
    error: str
    result: dict[str, Any] | None

    @property
    def is_finished(self) -> bool:
        return self.state in ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class GoldRun(Record):
    number: int
    method: str
    minimum: int
    n_workers: int
    n_workers_trusted: int
    n_ratings: int
    n_scored: int
    n_incomplete: int
    input_digest: str
    signature: str


@dataclass(frozen=True, slots=True)
class SegmentScore(Record):
    """An incomplete one has n and no score."""

    system: str
    segment: str
    raw: float | None
    z: float | None
    n: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class RankedSystem(Record):
    system: str
    z: float
    raw: float
    cluster: int
    n_segments: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems from best to worst; `pvalues[i][j]`: that system i beats system j."""

    systems: list[RankedSystem]
    pvalues: list[list[float | None]]
    signature: str


@dataclass(frozen=True, slots=True)
class Settings(Record):
    """`editable` names the settings that may still change."""

    name: str
    min_ratings: int
    hit_size: int
    seed: int
    pay_per_hit: str
    currency: str
    spending_cap: str | None
    lease_minutes: int
    interface_language: str
    instructions: str
    editable: list[str]


@dataclass(frozen=True, slots=True)
class Estimate(Record):
    """What a campaign costs; amounts are exact decimals in text."""

    n_hits: int
    n_assignments: int
    to_workers: str
    fee: str
    total: str
    per_translation: str


@dataclass(frozen=True, slots=True)
class AuditEntry(Record):
    at: str
    action: str
    by: str | None
    campaign: str | None
    worker: str | None
    reason: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Evidence(Record):
    """What a worker's ratings said at a moment."""

    computed_at: str
    verdict: str
    n_hits: int
    n_pairs: int
    mean_difference: float | None
    p: float | None
    n_repeats: int
    repeat_mean_absolute_difference: float | None
    fastest_hit_seconds: float | None
    flags: list[str]
    signature: str


@dataclass(frozen=True, slots=True)
class Worker(Record):
    """`state` is what holds: a person's decision, or else the evidence."""

    code: str
    provider: str
    external_id: str
    state: str
    trust: str
    decision: str
    decision_reason: str
    last_active: str | None
    evidence: Evidence | None

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Self:
        found = answer["evidence"]
        return super(Worker, cls).of(answer | {"evidence": Evidence.of(found) if found else None})


@dataclass(frozen=True, slots=True)
class Preview(Record):
    """What a decision would do, and the fingerprint that says it was looked at."""

    choice: str
    changes: list[dict[str, Any]]
    gold: dict[str, int]
    n_places_opened: int
    n_places_closed: int
    expected_cost: str
    amount_owed: str
    currency: str
    is_over_cap: bool
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Recruiting(Record):
    provider: str
    is_open: bool
    study: str
    n_places: int
    n_places_wanted: int
    settings: dict[str, Any]
    landing_url: str


@dataclass(frozen=True, slots=True)
class Link(Record):
    id: int
    label: str
    url: str
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class Plan(Record):
    """What a run would pay; the digest names the very list."""

    kind: str
    way: str
    n_payments: int
    total: str
    currency: str
    digest: str


@dataclass(frozen=True, slots=True)
class Money(Record):
    """Where a campaign's money is, in exact decimals."""

    currency: str
    owed: str
    open: str
    paid: str
    failed: str
    unknown: str
    committed: str
    left: str | None
    plans: list[Plan]

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Self:
        plans = [Plan.of(row) for row in answer["plans"]]
        return super(Money, cls).of(answer | {"plans": plans})


@dataclass(frozen=True, slots=True)
class Run(Record):
    """A run of payments; `states` counts them, where a single run was asked for."""

    code: str
    kind: str
    is_by_hand: bool
    n_payments: int
    total: str
    currency: str
    finished_at: str | None
    paid: str = ""
    states: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Payment(Record):
    code: str
    run: str
    assignment: str
    worker: str
    kind: str
    amount: str
    currency: str
    state: str
    message: str
    reference: str
    problem: str


@dataclass(frozen=True, slots=True)
class Rule(Record):
    code: str
    kind: str
    amount: str | None
    reason: str
    assignment: str | None
    withdrawn_at: str | None


@dataclass(frozen=True, slots=True)
class RunComparison(Record):
    n_shared: int
    raw_r: float | None
    z_r: float | None
    largest_raw_difference: float | None
    largest_z_difference: float | None
    n_newly_complete: int
    n_no_longer_complete: int
    has_equal_input: bool
    signature: str


@dataclass(frozen=True, slots=True)
class Agreement(Record):
    """How far trusted workers agree: between them, within each, alpha, and by number of ratings."""

    between: dict[str, Any]
    within: dict[str, Any]
    alpha: dict[str, Any]
    n_workers: int
    curve: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Metric(Record):
    code: str
    name: str
    level: str
    origin: str
    higher_is_better: bool | None
    suggested: str | None
    n_scores: int
    signature: str


@dataclass(frozen=True, slots=True)
class Evaluation(Record):
    """`result` is there where a single one was asked for."""

    number: int
    golds: list[dict[str, Any]]
    options: dict[str, Any]
    input_digest: str
    signature: str
    created_at: str
    result: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MetricScore(Record):
    """Of one output, or of a whole system: then the segment is empty."""

    system: str
    segment: str
    score: float


@dataclass(frozen=True, slots=True)
class Assignment(Record):
    code: str
    status: str
    started_at: str
    submitted_at: str | None
    is_rejected: bool
    comment: str


@dataclass(frozen=True, slots=True)
class Invite(Record):
    """A link without its address, which was told when it was made."""

    id: int
    label: str
    is_personal: bool
    max_uses: int | None
    n_uses: int
    expires_at: str | None
    revoked_at: str | None


@dataclass(frozen=True, slots=True)
class Submission(Record):
    """A visit as the provider counts it."""

    reference: str
    worker: str
    status: str
    assignment: str | None
    arrived_at: str


@dataclass(frozen=True, slots=True)
class Sighting(Record):
    """A worker seen with a device; others were seen with the one of the same mark."""

    kind: str
    mark: str
    worker: str
    first_seen_at: str


@dataclass(frozen=True, slots=True)
class Due(Record):
    """A line of a plan."""

    assignment: str
    worker: str
    amount: str
    message: str
    rule: str | None


@dataclass(frozen=True, slots=True)
class Person(Record):
    """Someone who may log in; `parts` such as `{"id": 7, "level": "admin", "campaign": None}`."""

    id: int
    username: str
    email: str
    is_active: bool
    is_superuser: bool
    parts: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Invited(Record):
    """A new person, and the link by which they set their password. It is told this once."""

    person: Person
    password_url: str
