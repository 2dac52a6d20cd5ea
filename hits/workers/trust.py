"""Whether a worker can be trusted: evidence after each HIT, and decisions that override it."""

import logging
import math
from collections.abc import Collection
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from analysis.stats.thresholds import FEWEST_OTHERS
from da_platform.sending import enqueue

from ..exceptions import DecisionOutdated, DecisionRefused
from ..models import Assignment, Campaign, Evidence, Participation
from ..people.audit import record
from ..rating.places import settle_places, with_standing
from .holding import HOLD_ACTIONS, hold_if_impossible
from .weighing import weigh
from .wording import agreement_in_words, pairs_in_words, window_in_words

logger = logging.getLogger(__name__)

# Audit log actions that change whose ratings count.
TRUST_CHANGED, WITHDRAWN = "trust changed", "decision withdrawn"
TRUST_ACTIONS = (TRUST_CHANGED, WITHDRAWN, *Participation.Decision.values, *HOLD_ACTIONS)

# Rows come in any order, and sums of the same numbers may differ in the last digits.
TOLERANCE = 1e-9
# Under the guarded rule a verdict depends on who else is trusted, so a change may lead to others. A few rounds
# settle that; the limit is there because nothing guarantees it.
MOST_ROUNDS = 5


def update_evidence(*, assignment: Assignment) -> Evidence:
    """Weigh all of the worker's ratings, including this HIT, and then those of others who did the same HITs.

    Only rows of these HITs are read, however large the campaign is. A second call returns the existing
    evidence. If the verdict changes whether the ratings count, places are updated.
    """
    campaign = assignment.hit.campaign
    evidence, is_new, has_new_standing = weigh_hit(assignment)
    if has_new_standing:
        weigh_again(campaign, _hits_of(campaign, assignment.worker_id))
    # Asked after the commit: those who are weighed at the same moment may be trusted by now.
    elif is_new and _can_be_compared(assignment.hit_id):
        weigh_again(campaign, [assignment.hit_id])
    return evidence


@transaction.atomic
def weigh_hit(assignment: Assignment) -> tuple[Evidence, bool, bool]:
    """Weigh only the worker who did this HIT; after weighing many HITs, call `weigh_again` once.

    Return the evidence that follows this HIT, whether it is new, and whether the worker's standing is.
    """
    campaign = assignment.hit.campaign
    participation = locked_participation(campaign, assignment.worker_id)
    weighed = assignment.evidence.filter(origin=Evidence.Origin.SUBMISSION)
    if known_evidence := weighed.first():
        return known_evidence, False, False
    before = participation.standing
    # Before it is weighed: held HITs are no evidence.
    hold_if_impossible(assignment=assignment)
    evidence = Evidence.objects.create(
        participation=participation, assignment=assignment, **weigh(participation)
    )
    if not follow(participation, evidence) and participation.is_discarded:
        settle_places(campaign=campaign, hits=[assignment.hit_id])
    Assignment.objects.filter(pk=assignment.pk).update(evidence_at=evidence.computed_at)
    return evidence, True, participation.standing != before


def _can_be_compared(hit: int) -> bool:
    """Whether the HIT has enough trusted ratings to compare others with."""
    counted = with_standing(Assignment.objects.counted().filter(hit=hit))
    return counted.filter(is_trusted=True).count() >= FEWEST_OTHERS


def _hits_of(campaign: Campaign, worker: int) -> list[int]:
    submitted = Assignment.objects.submitted().filter(hit__campaign=campaign, worker=worker)
    return list(submitted.order_by().values_list("hit", flat=True))


def weigh_again(campaign: Campaign, hits: Collection[int]) -> int:
    """Weigh again everyone who did one of these HITs, because their agreement with the others may have changed.

    Only under the guarded rule, which asks for agreement. If that changes whom to trust, everyone on the HITs of
    those workers follows. Each worker is a transaction of their own, which locks the participation and then HITs,
    like every other. The worker who changed something is weighed again too: of two who are weighed at the same
    moment, neither saw the other. Return for how many workers the evidence changed.
    """
    if campaign.trust_rule != Campaign.TrustRule.GUARDED:
        return 0
    with_new_evidence = set()
    for _ in range(MOST_ROUNDS):
        hits_to_follow: set[int] = set()
        for worker in _weighed_workers(hits):
            try:
                has_new_evidence, has_new_trust = recompute_worker(campaign, worker)
            except Exception:
                # It must not undo the evidence about the HIT; the next one on this HIT tries again.
                logger.exception("Worker %s could not be weighed again.", worker)
                continue
            if has_new_evidence:
                with_new_evidence.add(worker)
            if has_new_trust:
                hits_to_follow.update(_hits_of(campaign, worker))
        hits = hits_to_follow
    return len(with_new_evidence)


def _weighed_workers(hits: Collection[int]) -> list[int]:
    weighed = Assignment.objects.submitted().filter(hit__in=hits).exclude(evidence_at=None)
    return list(weighed.order_by("worker").values_list("worker", flat=True).distinct())


def weigh_others(participation: Participation) -> int:
    """Weigh again everyone on the HITs of a worker about whom a person has decided."""
    campaign = participation.campaign
    return weigh_again(campaign, _hits_of(campaign, participation.worker_id))


@transaction.atomic
def recompute_worker(campaign: Campaign, worker: int) -> tuple[bool, bool]:
    """Judge one worker again; return whether the evidence and the trust have changed."""
    participation = locked_participation(campaign, worker)
    before = participation.trust, participation.standing
    evidence = participation.evidence.order_by("pk").last()
    is_new = False
    submitted = Assignment.objects.submitted().of(participation)
    if latest := submitted.order_by("submitted_at", "pk").last():
        fields = weigh(participation)
        is_new = evidence is None or not all(
            _is_same(getattr(evidence, name), value) for name, value in fields.items()
        )
        if is_new:
            evidence = participation.evidence.create(
                assignment=latest, origin=Evidence.Origin.RECOMPUTATION, **fields
            )
    follow(participation, evidence)
    return is_new, (participation.trust, participation.standing) != before


def _is_same(stored: Any, computed: Any) -> bool:
    if isinstance(stored, float) and isinstance(computed, float):
        return math.isclose(stored, computed, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(stored == computed)


def follow(participation: Participation, evidence: Evidence | None) -> bool:
    """Set the worker's trust from the evidence; return whether places had to be updated.

    Without evidence, trust does not change.
    """
    before, was_discarded = participation.standing, participation.is_discarded
    verdict = evidence.verdict if evidence else Participation.Trust.UNPROVEN
    if participation.trust != verdict:
        _change_trust(participation, evidence)
    is_drifting = verdict == Participation.Trust.DRIFTING
    drifted_at = evidence.drifted_at if evidence and is_drifting else None
    if participation.drifted_at != drifted_at:
        participation.drifted_at = drifted_at
        participation.save(update_fields=["drifted_at"])
    # Every further HIT of a worker whose ratings are left out since then needs another rating.
    if participation.standing == before and participation.left_out_since is None:
        return False
    hits = Assignment.objects.of(participation)
    if participation.is_discarded == was_discarded and participation.left_out_since is None:
        # Work weighed only now was promised until now, and still is.
        hits = hits.exclude(evidence_at=None)
    settle_places(campaign=participation.campaign, hits=hits.values_list("hit", flat=True))
    return True


def enqueue_others(participation: Participation) -> None:
    """Let a background process weigh the others again, because it may take seconds.

    If the message is lost, they are weighed when the next one on their HITs is.
    """
    if participation.campaign.trust_rule == Campaign.TrustRule.GUARDED:
        transaction.on_commit(partial(enqueue, "hits.weigh_others", participation.pk))


def weigh_pending(*, limit: int = 1_000) -> int:
    """Weigh submitted assignments that have no evidence yet. Return how many."""
    pending = (
        Assignment.objects.submitted().filter(evidence_at=None).select_related("hit__campaign")
    )
    return sum(try_to_weigh(assignment) for assignment in pending.order_by("pk")[:limit])


def try_to_weigh(assignment: Assignment) -> bool:
    """Weigh an assignment; return whether it worked. A failure must not hold up other assignments."""
    try:
        update_evidence(assignment=assignment)
    except Exception:
        # It is tried again later.
        logger.exception("Assignment %s could not be weighed.", assignment.code)
        return False
    return True


def locked_participation(campaign: Campaign, worker: int) -> Participation:
    """Fetch the participation and lock it, so that a worker's HITs are weighed one at a time."""
    participations = (
        Participation.objects.select_for_update(of=("self",), no_key=True)
        .select_related("worker")
        .filter(campaign=campaign, worker=worker)
    )
    participation = participations.first()
    if participation is None:
        # Another process may create it at the same moment; the constraint allows one row.
        missing = Participation(campaign=campaign, worker_id=worker)
        Participation.objects.bulk_create([missing], ignore_conflicts=True)
        participation = participations.get()
    participation.campaign = campaign
    return participation


def _change_trust(participation: Participation, evidence: Evidence | None) -> None:
    verdict = evidence.verdict if evidence else Participation.Trust.UNPROVEN
    record(
        TRUST_CHANGED,
        campaign=participation.campaign,
        worker=participation.worker,
        reason=explain(evidence) if evidence else "Nothing has been submitted.",
        before=participation.trust,
        after=verdict,
        evidence=evidence.pk if evidence else None,
    )
    participation.trust = verdict
    participation.save(update_fields=["trust"])


def explain(evidence: Evidence) -> str:
    """Describe in words what the evidence is based on."""
    sentences = [pairs_in_words(evidence)]
    if evidence.agreement_p is not None:
        sentences.append(agreement_in_words(evidence))
    if evidence.verdict == Participation.Trust.DRIFTING:
        sentences.append(window_in_words(evidence))
    return " ".join(sentences)


# Decisions -----------------------------------------------------------------------------------


@transaction.atomic
def decide_about(
    *,
    participation: Participation,
    decision: str,
    actor: User,
    reason: str,
    seen: str | None = None,
) -> Participation:
    """Exclude or reinstate a worker whatever the evidence says, or let it decide again (an empty decision).

    `seen` is the state that the person saw; the decision is refused if it has changed since.
    """
    if not reason.strip():
        raise DecisionRefused("A decision about a worker needs a reason.")
    locked = (
        Participation.objects.select_for_update(of=("self",), no_key=True)
        .select_related("campaign", "worker")
        .get(pk=participation.pk)
    )
    before, standing_before = locked.state, locked.standing
    if seen is not None and before != seen:
        raise DecisionOutdated(f"The worker was {seen} and is now {before}.")
    locked.decision = decision
    locked.decision_reason = reason.strip() if decision else ""
    locked.save(update_fields=["decision", "decision_reason"])
    record(
        decision or WITHDRAWN,
        actor=actor,
        campaign=locked.campaign,
        worker=locked.worker,
        reason=reason.strip(),
        before=before,
        after=locked.state,
    )
    if locked.standing != standing_before:
        hits = Assignment.objects.of(locked).values_list("hit", flat=True)
        settle_places(campaign=locked.campaign, hits=hits)
        enqueue_others(locked)
    return locked
