"""Preview and apply decisions about workers.

A decision is about whether ratings count. It does not change what is owed for them.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Count, QuerySet
from django.utils import timezone

from ..campaigns.kept_counts import forecast_of
from ..exceptions import DecisionOutdated, DecisionRefused
from ..models import HIT, Assignment, Campaign, Item, Participation, Rating
from ..rating.places import (
    HELD,
    PROMISED,
    expected_outcome,
    places_wanted,
    still_to_collect,
    with_prospects,
    with_standing,
)
from .sides import Side, latest_evidence, sides_of, trusted_signs
from .trust import decide_about

CHANGED = "Something has changed in the meantime. Check the numbers again before you confirm."


class Choice(models.TextChoices):
    """What an admin can decide."""

    EXCLUDE = "exclude", "Leave their ratings out"
    REINSTATE = "reinstate", "Count their ratings"
    EVIDENCE = "evidence", "Let the evidence decide"


_DECISIONS = {
    Choice.EXCLUDE: Participation.Decision.EXCLUDED,
    Choice.REINSTATE: Participation.Decision.REINSTATED,
    Choice.EVIDENCE: "",
}


# Everyone who matches a filter is decided about in batches, which a person can look through and a request can apply.
BATCH = 200


def undecided(participations: QuerySet[Participation], choice: Choice) -> QuerySet[Participation]:
    """Those whose decision the choice would change."""
    return participations.exclude(decision=_DECISIONS[choice]).order_by("pk")


@dataclass(frozen=True)
class Change:
    """What a choice changes for one worker, and what the evidence says. `n_hits` counts submitted HITs."""

    participation: Participation
    choice: Choice
    n_hits: int = 0
    sides: tuple[Side, ...] = ()

    @cached_property
    def _after(self) -> Participation:
        now = self.participation
        return Participation(
            campaign=now.campaign,
            trust=now.trust,
            drifted_at=now.drifted_at,
            decision=_DECISIONS[self.choice],
        )

    @property
    def before(self) -> str:
        return self.participation.state

    @property
    def after(self) -> str:
        return self._after.state

    @property
    def standing_after(self) -> tuple[bool, bool, datetime | None]:
        return self._after.standing

    @property
    def is_new(self) -> bool:
        """Whether this is a new decision."""
        return self.participation.decision != self._after.decision

    @property
    def matters(self) -> bool:
        """Whether ratings start or stop counting."""
        return self.participation.standing != self._after.standing


@dataclass(frozen=True, slots=True)
class GoldEffect:
    """Translations, and their segments, that fall below the minimum number of ratings or reach it."""

    n_translations_lost: int = 0
    n_segments_lost: int = 0
    n_translations_won: int = 0
    n_segments_won: int = 0


@dataclass(frozen=True, slots=True)
class Preview:
    """What a decision would do. Nothing has been changed."""

    choice: Choice
    changes: tuple[Change, ...]
    minimum: int
    gold: GoldEffect
    n_places_opened: int
    n_places_closed: int
    n_expected: int
    expected_cost: Decimal
    pass_rate: float
    currency: str
    n_hits_owed: int
    amount_owed: Decimal
    is_over_cap: bool

    @property
    def n_new(self) -> int:
        return sum(change.is_new for change in self.changes)

    @property
    def n_hits_changed(self) -> int:
        """Submitted HITs whose ratings start or stop counting."""
        return sum(change.n_hits for change in self.changes if change.matters)

    @property
    def fingerprint(self) -> str:
        """Identifies the choice and the workers' states, to detect changes since the preview."""
        states = [(change.participation.pk, change.before) for change in self.changes]
        return hashlib.sha256(repr((str(self.choice), states)).encode()).hexdigest()[:16]


def preview_decision(
    *,
    campaign: Campaign,
    participations: Sequence[Participation],
    choice: Choice,
    at: datetime | None = None,
) -> Preview:
    """Work out what a decision about these workers would change. Nothing is written.

    Counts workers for each translation, as gold does. A worker whose scores never vary does not count
    in gold even if trusted; this is not known until gold is built.
    """
    for participation in participations:
        # What drift means depends on the campaign, which must not be fetched for each of them.
        participation.campaign = campaign
    n_hits = _n_hits(campaign, participations)
    sides = _sides(campaign, participations)
    changes = tuple(
        Change(
            participation,
            choice,
            n_hits.get(participation.worker_id, 0),
            sides.get(participation.pk, ()),
        )
        for participation in participations
    )
    matters = [change for change in changes if change.matters]
    opened, closed = _places(campaign, matters, at or timezone.now()) if matters else (0, 0)
    facts = forecast_of(campaign, at=at)
    n_expected = still_to_collect(opened, 0, facts.pass_percent)
    n_owed = sum(_n_hits(campaign, participations, is_rejected=False).values())
    cost = n_expected * facts.cost_per_hit
    return Preview(
        choice=choice,
        changes=changes,
        minimum=campaign.min_ratings,
        gold=_gold_effect(campaign, matters) if matters else GoldEffect(),
        n_places_opened=opened,
        n_places_closed=closed,
        n_expected=n_expected,
        expected_cost=cost,
        pass_rate=facts.pass_rate,
        currency=campaign.currency,
        n_hits_owed=n_owed,
        amount_owed=n_owed * facts.cost_per_hit,
        is_over_cap=campaign.spending_cap is not None
        and facts.spent + cost > campaign.spending_cap,
    )


def _sides(
    campaign: Campaign, participations: Sequence[Participation]
) -> dict[int, tuple[Side, ...]]:
    evidence, signs = latest_evidence(participations), trusted_signs(campaign)
    return {pk: tuple(sides_of(row, campaign.trust_rule, signs)) for pk, row in evidence.items()}


@dataclass(frozen=True, slots=True)
class Decided:
    """Counts of workers decided about, and of workers skipped because their state had changed."""

    n_decided: int
    n_changed: int = 0


def decide(
    *,
    campaign: Campaign,
    participations: Sequence[Participation],
    choice: Choice,
    actor: User,
    reason: str,
) -> Decided:
    """Decide about each worker whose decision would change and whose state is still the one that was read.

    Each decision is its own transaction. If one fails, the earlier ones stand; run it again to continue.
    """
    if not reason.strip():
        raise DecisionRefused("A decision about a worker needs a reason.")
    pending = [
        participation
        for participation in participations
        if participation.campaign_id == campaign.pk and Change(participation, choice).is_new
    ]
    n_changed = 0
    for participation in pending:
        try:
            decide_about(
                participation=participation,
                decision=_DECISIONS[choice],
                actor=actor,
                reason=reason,
                seen=participation.state,
            )
        except DecisionOutdated:
            n_changed += 1
    return Decided(len(pending) - n_changed, n_changed)


def decide_as_seen(
    *, campaign: Campaign, preview: Preview, seen: str, actor: User, reason: str
) -> Decided:
    """Apply the previewed decision if the person saw this preview: `seen` is its fingerprint."""
    if seen != preview.fingerprint:
        raise DecisionRefused(CHANGED)
    return decide(
        campaign=campaign,
        participations=[change.participation for change in preview.changes],
        choice=preview.choice,
        actor=actor,
        reason=reason,
    )


def _n_hits(
    campaign: Campaign, participations: Sequence[Participation], **only: bool
) -> dict[int, int]:
    """Count each worker's submitted HITs."""
    submitted = Assignment.objects.submitted().filter(
        hit__campaign=campaign, worker__in=[row.worker_id for row in participations], **only
    )
    return dict(submitted.order_by().values_list("worker").annotate(n=Count("pk")))


# Places --------------------------------------------------------------------------------------


def _places(campaign: Campaign, changes: Sequence[Change], now: datetime) -> tuple[int, int]:
    """Count the places that would open and those that would close, by the rules of `places`."""
    if campaign.is_archive:
        return 0, 0
    standings = {change.participation.worker_id: change.standing_after for change in changes}
    hits = HIT.objects.filter(
        campaign=campaign, assignments__worker__in=standings, assignments__status__in=HELD
    ).distinct()
    held = Assignment.objects.filter(hit__in=hits, status__in=HELD)
    promised: dict[int, int] = defaultdict(int)
    # Plain rows, because popular HITs have thousands of assignments.
    rows = with_prospects(held, campaign, now).values_list(
        "hit", "worker", "submitted_at", "status", "hold", "is_trusted", "is_discarded", "may_prove"
    )
    for hit, worker, submitted_at, status, hold, is_trusted, is_discarded, may_prove in rows:
        if standing := standings.get(worker):
            is_trusted, is_discarded, _ = standing
            if is_trusted and not _counts(submitted_at, *standing):
                is_trusted, is_discarded = False, True
        outcome = expected_outcome(
            status,
            is_trusted=is_trusted,
            is_discarded=is_discarded,
            may_prove=may_prove,
            hold=hold,
        )
        promised[hit] += outcome in PROMISED
    steps = [
        places_wanted(campaign, promised[pk]) - places
        for pk, places in hits.values_list("pk", "places_left")
    ]
    return sum(step for step in steps if step > 0), -sum(step for step in steps if step < 0)


# Gold ----------------------------------------------------------------------------------------

# Assignments with their workers that rated each translation, by the keys of the translation and its segment.
_Raters = dict[tuple[int, int], frozenset[tuple[int, int]]]


def _gold_effect(campaign: Campaign, changes: Sequence[Change]) -> GoldEffect:
    standings = {change.participation.worker_id: change.standing_after for change in changes}
    raters = (_raters_in_archive if campaign.is_archive else _raters)(campaign, set(standings))
    if not raters:
        return GoldEffect()
    counted = Assignment.objects.counted().filter(hit__campaign=campaign).order_by()
    rows = with_standing(counted).filter(is_trusted=True)
    before = set(rows.values_list("pk", "worker"))
    own = counted.filter(worker__in=standings).values_list("pk", "worker", "submitted_at")
    after = {row for row in before if row[1] not in standings} | {
        (pk, worker) for pk, worker, submitted in own if _counts(submitted, *standings[worker])
    }
    lost, won = set(), set()
    for key, rated_by in raters.items():
        had = _n_workers(rated_by & before) >= campaign.min_ratings
        has = _n_workers(rated_by & after) >= campaign.min_ratings
        if had and not has:
            lost.add(key)
        elif has and not had:
            won.add(key)
    return GoldEffect(len(lost), _n_segments(lost), len(won), _n_segments(won))


def _counts(
    submitted: datetime | None, is_trusted: bool, is_discarded: bool, since: datetime | None
) -> bool:
    """Whether an assignment counts, given its worker's standing."""
    return is_trusted and (since is None or (submitted is not None and submitted < since))


def _n_workers(assignments: frozenset[tuple[int, int]]) -> int:
    return len({worker for _, worker in assignments})


def _n_segments(keys: set[tuple[int, int]]) -> int:
    return len({segment for _, segment in keys})


def _raters(campaign: Campaign, workers: set[int]) -> _Raters:
    """Who rated the translations of these workers' HITs. A submitted HIT is always complete."""
    submitted = Assignment.objects.counted().filter(hit__campaign=campaign)
    own_hits = submitted.filter(worker__in=workers).order_by().values("hit")
    genuine = Item.objects.filter(hit__campaign=campaign, role=Item.Role.GENUINE.value)
    translations = genuine.filter(hit__in=own_hits).order_by().values("translation")
    # The last HIT repeats translations of the first, so a translation may be in two.
    hits_of: dict[tuple[int, int], list[int]] = defaultdict(list)
    rows = genuine.filter(translation__in=translations).order_by("hit")
    for translation, segment, hit in rows.values_list("translation", "translation__segment", "hit"):
        hits_of[translation, segment].append(hit)
    work_on: dict[int, set[tuple[int, int]]] = defaultdict(set)
    concerned = {hit for hits in hits_of.values() for hit in hits}
    for hit, pk, worker in submitted.filter(hit__in=concerned).values_list("hit", "pk", "worker"):
        work_on[hit].add((pk, worker))
    together: dict[tuple[int, ...], frozenset[tuple[int, int]]] = {}
    for hits in hits_of.values():
        if tuple(hits) not in together:
            together[tuple(hits)] = frozenset().union(*(work_on[hit] for hit in hits))
    return {key: together[tuple(hits)] for key, hits in hits_of.items()}


def _raters_in_archive(campaign: Campaign, workers: set[int]) -> _Raters:
    """The same for an archive, whose HITs may be incomplete."""
    counted = Rating.objects.filter(
        assignment__hit__campaign=campaign,
        assignment__status=Assignment.Status.SUBMITTED,
        item__role__in=[Item.Role.GENUINE.value, Item.Role.REPEAT.value],
    )
    translations = counted.filter(assignment__worker__in=workers).values("item__translation")
    rows = counted.filter(item__translation__in=translations).values_list(
        "item__translation", "item__translation__segment", "assignment", "assignment__worker"
    )
    raters: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for translation, segment, assignment, worker in rows.distinct():
        raters[translation, segment].add((assignment, worker))
    return {key: frozenset(rated_by) for key, rated_by in raters.items()}
