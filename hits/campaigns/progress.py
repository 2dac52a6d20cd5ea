"""The progress of a campaign, for its dashboard.

It is counted from assignments, not from ratings: there are thousands of one and millions of the other.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import Count, Min, Q
from django.utils import timezone

from ..models import Assignment, Campaign, Item, Participation
from ..rating.places import Work, work_by_hit

Status = Assignment.Status

# The pace is drawn in at most this many columns, of the shortest of these lengths that is enough.
MAX_COLUMNS = 24
COLUMN_LENGTHS = [
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=1),
    timedelta(hours=3),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(days=1),
    timedelta(days=7),
    timedelta(days=28),
]


@dataclass(frozen=True, slots=True)
class Column:
    """The number of assignments submitted in an interval."""

    start: datetime
    end: datetime
    n: int


@dataclass(frozen=True)
class Counts:
    """A campaign's assignments by outcome; each rates every genuine item of its HIT once."""

    n_hits: int
    min_ratings: int
    n_trusted: int
    # Stalled assignments are unproven too, but no longer expected to be proven.
    n_unproven: int
    n_stalled: int
    n_discarded: int
    n_in_progress: int
    n_expired: int
    n_returned: int
    # The number of HITs by their number of trusted assignments.
    hits_by_trusted: dict[int, int]
    n_promised: int
    hit_states: dict[str, int]
    # Not counted until somebody decides about their impossible times. Absent from older stored counts.
    n_on_hold: int = 0

    @property
    def n_wanted(self) -> int:
        return self.n_hits * self.min_ratings

    @property
    def n_counting(self) -> int:
        """Trusted assignments, without those beyond what a HIT needs."""
        return sum(min(n, self.min_ratings) * hits for n, hits in self.hits_by_trusted.items())

    @property
    def n_missing(self) -> int:
        """Assignments that are neither trusted nor promised."""
        return self.n_wanted - self.n_counting - self.n_promised

    @property
    def share_done(self) -> float:
        return self.n_counting / self.n_wanted if self.n_wanted else 0.0


@dataclass(frozen=True)
class Progress:
    """The counts, and what else the dashboard shows."""

    counts: Counts
    n_genuine: int
    worker_states: dict[str, int]
    pace: list[Column]

    @cached_property
    def ratings(self) -> dict[str, int]:
        """The counts, as ratings of genuine items."""
        names = (
            "wanted",
            "trusted",
            "unproven",
            "stalled",
            "discarded",
            "missing",
            "counting",
            "promised",
        )
        return {name: getattr(self.counts, f"n_{name}") * self.n_genuine for name in names}

    @property
    def n_workers(self) -> int:
        return sum(self.worker_states.values())


def progress_of(
    campaign: Campaign,
    *,
    at: datetime | None = None,
    by_hit: dict[int, Work] | None = None,
) -> Progress:
    """Return a campaign's progress, in eight queries."""
    return Progress(
        counts=count_assignments(campaign, at=at, by_hit=by_hit),
        n_genuine=_genuine_per_hit(campaign),
        worker_states=worker_states(campaign),
        pace=pace(campaign, at or timezone.now()),
    )


def count_assignments(
    campaign: Campaign,
    *,
    at: datetime | None = None,
    by_hit: dict[int, Work] | None = None,
) -> Counts:
    """Count a campaign's assignments; `by_hit` as in `places.forecast`."""
    n_hits = campaign.hits.count()
    if by_hit is None:
        by_hit = work_by_hit(campaign, campaign.hits.all(), at or timezone.now(), n_hits=n_hits)
    min_ratings, started = campaign.min_ratings, list(by_hit.values())
    hits_by_trusted = Counter(work.n_trusted for work in started)
    hits_by_trusted[0] += n_hits - len(started)
    given_up = _given_up(campaign)
    names = ("n_trusted", "n_unproven", "n_stalled", "n_discarded", "n_in_progress", "n_on_hold")
    return Counts(
        n_hits=n_hits,
        min_ratings=min_ratings,
        n_expired=given_up[Status.EXPIRED],
        n_returned=given_up[Status.RETURNED],
        hits_by_trusted={n: hits for n, hits in sorted(hits_by_trusted.items()) if hits},
        n_promised=sum(_promised(work, min_ratings) for work in started),
        hit_states=_hit_states(started, n_hits, min_ratings),
        **{name: sum(getattr(work, name) for work in started) for name in names},
    )


def _given_up(campaign: Campaign) -> Counter[str]:
    rows = Assignment.objects.filter(
        hit__campaign=campaign, status__in=[Status.EXPIRED, Status.RETURNED]
    )
    return Counter(dict(rows.order_by().values_list("status").annotate(n=Count("pk"))))


def _promised(work: Work, min_ratings: int) -> int:
    """Return how many of a HIT's missing ratings may come from unproven, unfinished or held work."""
    n_possible = work.n_unproven + work.n_in_progress + work.n_on_hold
    return min(max(0, min_ratings - work.n_trusted), n_possible)


def _hit_states(started: list[Work], n_hits: int, min_ratings: int) -> dict[str, int]:
    states: Counter[str] = Counter()
    for work in started:
        if work.n_trusted >= min_ratings:
            states["complete"] += 1
        else:
            states["promised" if work.n_promised >= min_ratings else "begun"] += 1
    states["untouched"] = n_hits - len(started)
    return {name: states[name] for name in ("complete", "promised", "begun", "untouched")}


def worker_states(campaign: Campaign) -> dict[str, int]:
    """Return the number of workers in each state: the decision about them, or else their trust."""
    rows = campaign.participations.order_by().values_list("decision", "trust")
    states: Counter[str] = Counter()
    for decision, trust, n in rows.annotate(n=Count("pk")):
        states[decision or trust] += n
    order = [*Participation.Trust.values, *Participation.Decision.values]
    return {state: states[state] for state in order if states[state]}


def _genuine_per_hit(campaign: Campaign) -> int:
    first = campaign.hits.order_by("number").values("pk")[:1]
    return Item.objects.filter(hit__in=first, role=Item.Role.GENUINE.value).count()


def pace(campaign: Campaign, now: datetime) -> list[Column]:
    """Count submitted assignments over time, from the first one on."""
    submitted = Assignment.objects.submitted().filter(hit__campaign=campaign).order_by()
    first = submitted.aggregate(first=Min("submitted_at"))["first"]
    if first is None:
        return []
    starts, length = _columns(first, now)
    # Count up to the end of each column in one query; truncating dates in the database would be slower.
    ends: dict[str, Any] = {
        f"n{i}": Count("pk", filter=Q(submitted_at__lt=start + length))
        for i, start in enumerate(starts)
    }
    before = submitted.filter(submitted_at__lt=starts[0]).count() if first < starts[0] else 0
    until = [before, *submitted.aggregate(**ends).values()]
    return [
        Column(start, start + length, until[i + 1] - until[i]) for i, start in enumerate(starts)
    ]


def _columns(first: datetime, now: datetime) -> tuple[list[datetime], timedelta]:
    for length in COLUMN_LENGTHS:
        # Start at a round time, such as the full hour or day of the first submission.
        start = datetime.fromtimestamp(
            first.timestamp() // length.total_seconds() * length.total_seconds(), tz=first.tzinfo
        )
        n = int((max(now, first) - start) / length) + 1
        if n <= MAX_COLUMNS:
            break
    else:
        # Too long even for the longest columns: show only the latest.
        start, n = start + (n - MAX_COLUMNS) * length, MAX_COLUMNS
    return [start + i * length for i in range(n)], length
