"""The evidence about someone who ranks: degraded outputs ranked last, agreement with oneself and with others."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats.judgements import SKIPPED, Judgements, expand, rankings
from analysis.stats.kappa import Kappa, agreement_by_task, kappa, kappa_with_others
from analysis.stats.quality_control import Verdict
from analysis.stats.ranking_control import (
    WINDOW_DEGRADED,
    DegradedLast,
    degraded_last,
    guarded,
    stance_of_kappa,
)
from analysis.stats.roles import Role
from analysis.stats.signature import signature
from analysis.stats.thresholds import FEWEST_OTHERS
from da_platform.numbers import known

from ..models import Assignment, Campaign, Participation
from ..rating.arrays import load_worker_assignments
from ..rating.reports import excused_items
from ..task_kinds import kind_of
from ..workers.weighing import nothing_counted, trusted_others
from .arrays import load_shown

Row = dict[str, Any]


def weigh_rankings(participation: Participation) -> dict[str, Any]:
    """Compute the fields of the worker's evidence from all counted HITs."""
    campaign = participation.campaign
    assignments = load_worker_assignments(participation)
    own = _in_order(load_shown(assignments["pk"].tolist()), assignments)
    others = load_shown(trusted_others(participation, assignments["hit"]))
    excused = excused_items(assignments["pk"].tolist())
    judged = [row for row in own if (row["assignment_id"], row["item_id"]) not in excused]
    degraded = _degraded(judged)
    control = degraded_last([each.is_last for each in degraded], [each.size for each in degraded])
    everyone = _judgements(judged + others)
    n_screens, p = agreement_by_task(everyone, participation.worker_id)
    n_others = len({row["assignment__worker_id"] for row in others})
    agreement_p = known(p) if n_others >= FEWEST_OTHERS else None
    repeated = kappa(_judgements(judged), "intra")
    verdict = control.verdict
    if campaign.trust_rule == Campaign.TrustRule.GUARDED:
        verdict = guarded(verdict, stance_of_kappa(n_screens, agreement_p))
    shown = {_screen(row) for row in own}
    skipped = {_screen(row) for row in own if row["rank"] is None}
    return (
        nothing_counted()
        | _work_fields(participation, assignments)
        | {
            "verdict": str(verdict),
            "n_pairs": control.n,
            "p": known(control.pvalue),
            "window_n_pairs": control.window_n,
            "window_p": known(control.window_pvalue),
            "drifted_at": _drifted_at(verdict, control, degraded, assignments),
            "n_repeats": repeated.n_comparable,
            "n_agreement_items": n_screens,
            "agreement_p": agreement_p,
            "details": {
                "n_last": control.n_last,
                "share_last": known(control.share),
                # Alone or with others.
                "n_best": sum(each.is_best for each in degraded),
                "n_skipped": len(skipped),
                "share_skipped": len(skipped) / len(shown) if shown else None,
                "self_kappa": _as_fact(repeated),
                "others_kappa": _as_fact(kappa_with_others(everyone, participation.worker_id)),
            },
            "signature": signature(
                qc=(campaign.trust_rule, "degraded-last", f"exact,p<{control.level:g}"),
                window=f"{WINDOW_DEGRADED} degraded",
                degraded=campaign.degradation,
                drift=campaign.drift,
            ),
        }
    )


def _work_fields(participation: Participation, assignments: NDArray[Any]) -> dict[str, Any]:
    campaign = participation.campaign
    held = Assignment.objects.of(participation).filter(hold__in=Assignment.NOT_COUNTED)
    seconds = assignments["submitted"] - assignments["started"]
    fastest = float(seconds.min()) if len(seconds) else None
    n_rejected = int(assignments["rejected"].sum())
    return {
        "n_hits": len(assignments),
        "n_held_hits": held.count(),
        "n_rejected": n_rejected,
        "has_rejection_flag": n_rejected > 0,
        "fastest_hit_seconds": fastest,
        "has_time_flag": fastest is not None
        and fastest < kind_of(campaign).least_seconds(campaign),
    }


def _in_order(rows: list[Row], assignments: NDArray[Any]) -> list[Row]:
    """Return rows in the order in which HITs were submitted."""
    place = {pk: place for place, pk in enumerate(assignments["pk"].tolist())}
    return sorted(rows, key=lambda row: place[row["assignment_id"]])


def _drifted_at(
    verdict: Verdict, control: DegradedLast, degraded: list["_Degraded"], assignments: NDArray[Any]
) -> datetime | None:
    """Return when the HIT was submitted with which the worker stopped reading."""
    if verdict != Verdict.DRIFTING or control.drifted_from is None:
        return None
    [row] = assignments[assignments["pk"] == degraded[control.drifted_from].assignment]
    return datetime.fromtimestamp(float(row["submitted"]), tz=UTC)


def _as_fact(result: Kappa) -> dict[str, Any]:
    return {"kappa": known(result.kappa), "n": result.n_comparable, "word": result.word}


def _screen(row: Row) -> tuple[int, int]:
    return row["assignment_id"], row["item__screen"]


@dataclass(frozen=True, slots=True)
class _Degraded:
    """A ranked screen with a degraded output: whether that came last alone, or first."""

    assignment: int
    is_last: bool
    is_best: bool
    size: int


def _degraded(rows: list[Row]) -> list[_Degraded]:
    screens: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        if row["rank"] is not None:
            screens.setdefault(_screen(row), []).append(row)
    found = []
    for (assignment, _), outputs in screens.items():
        degraded = [row["rank"] for row in outputs if row["item__role"] == Role.BAD_REFERENCE]
        rest = [row["rank"] for row in outputs if row["item__role"] != Role.BAD_REFERENCE]
        if degraded and rest:
            found.append(
                _Degraded(
                    assignment,
                    is_last=degraded[0] > max(rest),
                    is_best=degraded[0] <= min(rest),
                    size=len(outputs),
                )
            )
    return found


def _judgements(rows: list[Row]) -> Judgements:
    """Return the judgements between outputs, without degraded ones."""
    columns = [
        (
            row["assignment_id"] * 1_000 + row["item__screen"],
            row["item__translation__segment_id"],
            row["assignment__worker_id"],
            row["item__translation_id"],
            row["place"],
            SKIPPED if row["rank"] is None else row["rank"],
        )
        for row in rows
        if row["item__role"] != Role.BAD_REFERENCE
    ]
    return expand(
        rankings(*(zip(*columns, strict=True) if columns else [np.empty(0, np.int64)] * 6))
    )
