"""Whether a worker can be trusted: evidence after each HIT, and decisions that override it."""

import logging
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from analysis.stats.flags import AssignmentColumns, RatingColumns, WorkerFlags, flag_workers
from analysis.stats.quality_control import QualityControl, quality_control
from da_platform.numbers import known

from ..exceptions import DecisionOutdated, DecisionRefused
from ..models import Assignment, Campaign, Evidence, Participation
from ..people.audit import record
from ..rating.arrays import load_worker_assignments, load_worker_ratings
from ..rating.places import settle_places
from .wording import pairs_in_words, window_in_words

logger = logging.getLogger(__name__)

# Audit log actions that change whose ratings count.
TRUST_CHANGED, WITHDRAWN = "trust changed", "decision withdrawn"
TRUST_ACTIONS = (TRUST_CHANGED, WITHDRAWN, *Participation.Decision.values)


@transaction.atomic
def update_evidence(*, assignment: Assignment) -> Evidence:
    """Weigh all of the worker's ratings, including this HIT.

    Only this worker's rows are read, however large the campaign is. A second call returns the existing
    evidence. If the verdict changes whether the ratings count, places are updated.
    """
    campaign = assignment.hit.campaign
    participation = locked_participation(campaign, assignment.worker_id)
    weighed = assignment.evidence.filter(origin=Evidence.Origin.SUBMISSION)
    if known_evidence := weighed.first():
        return known_evidence
    evidence = Evidence.objects.create(
        participation=participation, assignment=assignment, **weigh(participation)
    )
    if not follow(participation, evidence) and participation.is_discarded:
        settle_places(campaign=campaign, hits=[assignment.hit_id])
    Assignment.objects.filter(pk=assignment.pk).update(evidence_at=evidence.computed_at)
    return evidence


def follow(participation: Participation, evidence: Evidence | None) -> bool:
    """Set the worker's trust from the evidence; return whether places had to be updated.

    Without evidence, trust does not change.
    """
    before, was_discarded = participation.standing, participation.is_discarded
    verdict = evidence.verdict if evidence else Participation.Trust.UNPROVEN
    if participation.trust != verdict:
        _change_trust(participation, evidence)
    if participation.standing == before:
        return False
    hits = Assignment.objects.of(participation)
    if participation.is_discarded == was_discarded:
        # Work weighed only now was promised until now, and still is.
        hits = hits.exclude(evidence_at=None)
    settle_places(campaign=participation.campaign, hits=hits.values_list("hit", flat=True))
    return True


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
    if evidence.verdict == Participation.Trust.DRIFTING:
        sentences.append(window_in_words(evidence))
    return " ".join(sentences)


# Weighing ------------------------------------------------------------------------------------


def weigh(participation: Participation) -> dict[str, Any]:
    """Compute the fields of the worker's evidence from all submitted ratings in the campaign."""
    # In this order: a HIT submitted in between then has no ratings, rather than ratings without a time.
    ratings = load_worker_ratings(participation)
    assignments = load_worker_assignments(participation)
    worker = np.zeros(len(ratings), dtype=np.int64)
    submitted = dict(zip(assignments["pk"], assignments["submitted"], strict=True))
    qc = quality_control(
        ratings["score"],
        worker,
        ratings["role"],
        ratings["assignment"],
        ratings["item"],
        ratings["partner"],
        submitted=np.array([submitted[pk] for pk in ratings["assignment"]]),
    )
    flags = flag_workers(
        RatingColumns(
            ratings["score"], worker, ratings["role"], ratings["assignment"], ratings["position"]
        ),
        AssignmentColumns(
            np.zeros(len(assignments), dtype=np.int64),
            assignments["started"],
            assignments["submitted"],
            assignments["rejected"],
        ),
    )
    return evidence_fields(qc, flags, 0)


def evidence_fields(qc: QualityControl, flags: WorkerFlags, place: int) -> dict[str, Any]:
    """Return the fields of `Evidence` for the worker at this index of both results."""
    latest = qc.latest
    return {
        "verdict": str(qc.verdicts[place]),
        "n_hits": int(flags.n_hits[place]),
        "n_pairs": int(qc.degraded.n_pairs[place]),
        "mean_difference": known(qc.degraded.mean_difference[place]),
        # An infinite t cannot be stored.
        "t": known(qc.degraded.statistic[place]),
        "p": known(qc.degraded.pvalue[place]),
        "wilcoxon_p": known(qc.degraded_ranks.pvalue[place]),
        "n_repeats": int(qc.repeats.n_pairs[place]),
        "repeat_mean_difference": known(qc.repeats.mean_difference[place]),
        "repeat_mean_absolute_difference": known(qc.repeats.mean_absolute_difference[place]),
        "repeat_p": known(qc.repeats.pvalue[place]),
        "window_n_pairs": int(latest.n_pairs[place]) if latest else 0,
        "window_p": known(latest.pvalue[place]) if latest else None,
        "mean_genuine": known(flags.mean_genuine[place]),
        "mean_bad_reference": known(flags.mean_bad_reference[place]),
        "mean_reference": known(flags.mean_reference[place]),
        "fastest_hit_seconds": known(flags.fastest_seconds[place]),
        "longest_run": int(flags.longest_equal_run[place]),
        "n_rejected": int(flags.n_rejected[place]),
        "has_scores_flag": bool(flags.scores[place]),
        "has_time_flag": bool(flags.time[place]),
        "has_sequence_flag": bool(flags.sequence[place]),
        "has_rejection_flag": bool(flags.rejected[place]),
        "signature": qc.signature,
    }


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
    return locked
