"""From a worker's rows to the fields of the evidence: what each side of it says, and the verdict."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.flags import AssignmentColumns, RatingColumns, WorkerFlags, flag_workers
from analysis.stats.likeness import Likeness, likeness_to_formulas
from analysis.stats.quality_control import QualityControl, Verdict, quality_control
from analysis.stats.roles import Role
from analysis.stats.signature import signature
from analysis.stats.timing import ObservedTimes, observed_times
from analysis.stats.trust_rules import (
    guarded_verdict,
    rule_facts,
    stance_of_agreement,
    stance_of_pairs,
)
from analysis.stats.worker_agreement import agreement_with_others
from da_platform.numbers import known

from ..languages import is_spaced
from ..models import Assignment, Campaign, Item, Participation
from ..rating.arrays import load_worker_assignments
from ..rating.places import with_standing
from ..rating.reports import excused_items
from ..task_kinds import kind_of
from .overlap import overlap_measures

# Trusted workers with whom a worker is compared on each HIT, the earliest first: their mean hardly gets
# better with more of them, and the evidence then does not change with everyone who comes later.
MOST_OTHERS = 10
# HITs whose items are compared with formulas, the latest first: enough to see a script, and cheap.
LIKENESS_HITS = 2


def weigh(participation: Participation) -> dict[str, Any]:
    """Compute the fields of the worker's evidence in the campaign, as its kind of task does."""
    return kind_of(participation.campaign).weigh(participation)


def weigh_answers(participation: Participation, *, has_formulas: bool = True) -> dict[str, Any]:
    """Compute the fields of the worker's evidence from the counted answers in the campaign.

    An answer is a score, or has one (`TaskKind.load_worker_answers`). `has_formulas` says whether scores can be
    compared with those that a script would give.

    Reads rows of the worker's HITs only, in a fixed number of queries.
    """
    work = _load_work(participation)
    if not len(work.ratings):
        return _nothing_counted(work)
    qc = _quality_control(work)
    flags = _flags(work)
    fields = evidence_fields(qc, flags, 0)
    if not work.campaign.is_archive:
        # Texts, and the times at which ratings arrived, are unknown in an archive.
        fields |= _agreement_fields(work) | _time_fields(work)
        fields |= _likeness_fields(work) if has_formulas else _no_likeness()
    fields["n_held_hits"] = work.n_held
    fields["signature"] = evidence_signature(qc.signature, work.campaign)
    if work.campaign.trust_rule == Campaign.TrustRule.GUARDED:
        fields["verdict"] = str(_guarded_verdict(fields))
    return fields


def _guarded_verdict(fields: dict[str, Any]) -> Verdict:
    verdict = guarded_verdict(
        stance_of_pairs(fields["n_pairs"], fields["p"]),
        stance_of_agreement(fields["n_agreement_items"], fields["agreement_p"]),
    )
    # Both rules ask the same of the pairs, so only a reliable worker can be drifting.
    is_drifting = fields["verdict"] == Verdict.DRIFTING
    return Verdict.DRIFTING if verdict == Verdict.RELIABLE and is_drifting else verdict


def evidence_signature(qc_signature: str, campaign: Campaign) -> str:
    """Return how evidence is computed: the tests, the rule, how texts were degraded, and what drift does."""
    facts = dict(part.split(":", 1) for part in qc_signature.split("|"))
    return signature(
        qc=(campaign.trust_rule, facts["qc"]),
        **rule_facts(campaign.trust_rule),
        window=facts.get("window"),
        degraded=campaign.degradation,
        drift=campaign.drift,
    )


# Loading -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Work:
    """One worker's counted work: ratings and assignments, and the texts of the items by key."""

    participation: Participation
    ratings: NDArray[Any]
    assignments: NDArray[Any]
    n_held: int
    texts: dict[int, str]
    grays: dict[int, str]

    @property
    def campaign(self) -> Campaign:
        return self.participation.campaign

    @property
    def worker(self) -> NDArray[np.int64]:
        """A column for functions that expect many workers."""
        return np.zeros(len(self.ratings), dtype=np.int64)

    def of_role(self, role: Role) -> NDArray[Any]:
        return self.ratings[self.ratings["role"] == role]


def _load_work(participation: Participation) -> _Work:
    # In this order: a HIT submitted in between then has no ratings, rather than ratings without a time.
    ratings = kind_of(participation.campaign).load_worker_answers(participation)
    assignments = load_worker_assignments(participation)
    held = Assignment.objects.of(participation).filter(hold__in=Assignment.NOT_COUNTED)
    texts, grays = _load_texts(participation.campaign, assignments)
    return _Work(
        participation=participation,
        # A HIT may have been put on hold in between.
        ratings=ratings[np.isin(ratings["assignment"], assignments["pk"])],
        assignments=assignments,
        n_held=held.count(),
        texts=texts,
        grays=grays,
    )


def _load_texts(
    campaign: Campaign, assignments: NDArray[Any]
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the texts of genuine items of the latest HITs and of all reference items, and those in gray."""
    latest = assignments["hit"][-LIKENESS_HITS:].tolist()
    items = Item.objects.filter(hit__in=latest, role=Role.GENUINE.value)
    if campaign.shows_references:
        items |= Item.objects.filter(hit__in=assignments["hit"].tolist(), role=Role.REFERENCE.value)
    gray = "reference" if campaign.shows_references else "source"
    rows = list(items.order_by().values_list("pk", "text", f"translation__segment__{gray}"))
    has_gray = campaign.effective_shows != Campaign.Shows.NOTHING
    return (
        {pk: text for pk, text, _ in rows},
        {pk: gray_text if has_gray else "" for pk, _, gray_text in rows},
    )


# The sides of the evidence -------------------------------------------------------------------


def _quality_control(work: _Work) -> QualityControl:
    ratings = _without_excused_pairs(work)
    submitted = dict(zip(work.assignments["pk"], work.assignments["submitted"], strict=True))
    # What the two of a pair are compared by, if it is not the score.
    has_own = "pair_score" in (ratings.dtype.names or ())
    return quality_control(
        ratings["pair_score" if has_own else "score"],
        np.zeros(len(ratings), dtype=np.int64),
        ratings["role"],
        ratings["assignment"],
        ratings["item"],
        ratings["partner"],
        submitted=np.array([submitted[pk] for pk in ratings["assignment"]]),
    )


def _without_excused_pairs(work: _Work) -> NDArray[Any]:
    """Leave out hidden items that make a pair with a text the worker reported, or were reported themselves."""
    excused = excused_items(work.assignments["pk"].tolist())
    if not excused:
        return work.ratings
    rows = work.ratings[["assignment", "item", "partner"]].tolist()
    is_excused = [
        (assignment, item) in excused or (assignment, partner) in excused
        for assignment, item, partner in rows
    ]
    return work.ratings[~(np.array(is_excused) & (work.ratings["role"] != Role.GENUINE))]


def _flags(work: _Work) -> WorkerFlags:
    ratings, assignments = work.ratings, work.assignments
    flags = flag_workers(
        RatingColumns(
            ratings["score"],
            work.worker,
            ratings["role"],
            ratings["assignment"],
            ratings["position"],
        ),
        AssignmentColumns(
            np.zeros(len(assignments), dtype=np.int64),
            assignments["started"],
            assignments["submitted"],
            assignments["rejected"],
        ),
    )
    flags = replace(flags, least_seconds=kind_of(work.campaign).least_seconds(work.campaign))
    if work.campaign.degradation == Campaign.Degradation.PUBLISHED:
        return flags
    return replace(flags, mean_reference=np.array([_mean_of_hidden_references(work)]))


def _mean_of_hidden_references(work: _Work) -> float:
    """The mean score of references that differ from the gray text; the others give themselves away."""
    references = work.of_role(Role.REFERENCE)
    scores = [
        score
        for item, score in zip(references["item"], references["score"], strict=True)
        # Nobody sees a reference in gray next to the source, and then the texts are not loaded.
        if not work.campaign.shows_references or work.texts[item] != work.grays[item]
    ]
    return float(np.mean(scores)) if scores else np.nan


def _agreement_fields(work: _Work) -> dict[str, Any]:
    """Compare the worker with the other trusted workers on the same HITs."""
    own = work.of_role(Role.GENUINE)
    others = kind_of(work.campaign).load_scores(
        trusted_others(work.participation, work.assignments["hit"])
    )
    others = others[np.isin(others["item"], own["item"])]
    worker = work.participation.worker_id
    columns = {
        name: np.concatenate([own[name], others[name]]) for name in ("score", "assignment", "item")
    }
    agreement = agreement_with_others(
        columns["score"],
        np.concatenate([np.full(len(own), worker), others["worker"]]),
        columns["assignment"],
        columns["item"],
        np.concatenate([np.zeros(len(own), dtype=np.bool_), np.ones(len(others), dtype=np.bool_)]),
    )
    place = int(np.searchsorted(agreement.workers, worker))
    return {
        "n_agreement_items": int(agreement.n_items[place]),
        "agreement_r": known(agreement.r[place]),
        "agreement_p": known(agreement.pvalue[place]),
    }


def trusted_others(participation: Participation, hits: NDArray[np.int64]) -> dict[int, int]:
    """The assignments of other trusted workers on the worker's HITs, a few for each, with their workers."""
    assignments = Assignment.objects.counted().filter(hit__in=hits.tolist())
    others = with_standing(assignments.exclude(worker=participation.worker_id))
    rows = others.filter(is_trusted=True).order_by("submitted_at", "pk")
    by_hit: dict[int, dict[int, int]] = {}
    for pk, hit, worker in rows.values_list("pk", "hit_id", "worker_id"):
        chosen = by_hit.setdefault(hit, {})
        if len(chosen) < MOST_OTHERS:
            chosen[pk] = worker
    return {pk: worker for chosen in by_hit.values() for pk, worker in chosen.items()}


def _no_likeness() -> dict[str, Any]:
    return {"likeness_measure": "", "likeness_r": None, "has_likeness_flag": False}


def _likeness_fields(work: _Work) -> dict[str, Any]:
    genuine = work.of_role(Role.GENUINE)
    genuine = genuine[np.isin(genuine["item"], list(work.texts))]
    likeness = _likeness(work, genuine)
    closest = likeness.closest
    return {
        "likeness_measure": closest or "",
        "likeness_r": known(likeness.r[closest]) if closest else None,
        "has_likeness_flag": likeness.is_flagged,
    }


def _likeness(work: _Work, genuine: NDArray[Any]) -> Likeness:
    items = genuine["item"].tolist()
    measures = overlap_measures(
        [work.texts[item] for item in items],
        [work.grays[item] for item in items],
        spaced=is_spaced(work.campaign.target_language),
    )
    return likeness_to_formulas(genuine["score"], measures)


def _time_fields(work: _Work) -> dict[str, Any]:
    """Describe the fastest HIT by the server's clock, and compare all claims with the time that passed."""
    hits = [_times(work, assignment) for assignment in work.assignments]
    known_hits = [times for times in hits if np.isfinite(times.median_gap)]
    fastest = min(known_hits, key=lambda times: times.median_gap, default=None)
    has_claims = np.isfinite(work.ratings["claimed"]).any()
    return {
        "median_gap_seconds": fastest.median_gap if fastest else None,
        "share_fast": fastest.share_fast if fastest else None,
        "claimed_seconds": sum(times.claimed for times in hits) if has_claims else None,
        "passed_seconds": sum(times.passed for times in hits),
    }


def _times(work: _Work, assignment: Any) -> ObservedTimes:
    rows = work.ratings[work.ratings["assignment"] == assignment["pk"]]
    return observed_times(
        rows["position"], rows["received"], rows["claimed"], started=assignment["started"]
    )


# Fields --------------------------------------------------------------------------------------


def evidence_fields(qc: QualityControl, flags: WorkerFlags, place: int) -> dict[str, Any]:
    """Return the fields of `Evidence` that both results give for the worker at this index."""
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
        "drifted_at": _moment(latest.failed_since[place]) if latest else None,
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


def _moment(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, tz=UTC) if np.isfinite(seconds) else None


def _nothing_counted(work: _Work) -> dict[str, Any]:
    """The evidence about a worker all of whose HITs are held or discarded."""
    nothing = quality_control([], [], [], [], [], [], submitted=[])
    return nothing_counted() | {
        "n_held_hits": work.n_held,
        "signature": evidence_signature(nothing.signature, work.campaign),
    }


def nothing_counted() -> dict[str, Any]:
    """The fields of evidence from nothing; kinds of task add what they know."""
    counts = "n_hits n_pairs n_repeats window_n_pairs longest_run n_rejected n_held_hits n_agreement_items"
    flags = ("scores", "time", "sequence", "rejection", "likeness")
    unknown = (
        "mean_difference t p wilcoxon_p repeat_mean_difference repeat_mean_absolute_difference repeat_p "
        "window_p drifted_at mean_genuine mean_bad_reference mean_reference fastest_hit_seconds agreement_r "
        "agreement_p likeness_r median_gap_seconds share_fast claimed_seconds passed_seconds"
    )
    return (
        dict.fromkeys(counts.split(), 0)
        | dict.fromkeys(unknown.split())
        | {f"has_{flag}_flag": False for flag in flags}
        | {"verdict": str(Verdict.UNPROVEN), "likeness_measure": "", "details": {}}
    )
