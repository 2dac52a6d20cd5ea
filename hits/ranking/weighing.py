"""The evidence about someone who ranks: degraded outputs ranked last, agreement with oneself and with others."""

from typing import Any

import numpy as np

from analysis.stats.judgements import SKIPPED, Judgements, expand, rankings
from analysis.stats.kappa import Kappa, kappa, kappa_with_others
from analysis.stats.ranking_control import degraded_last
from analysis.stats.roles import Role
from analysis.stats.signature import signature
from da_platform.numbers import known

from ..models import Assignment, Participation
from ..rating.arrays import load_worker_assignments
from ..rating.reports import excused_items
from ..workers.weighing import nothing_counted, trusted_others
from .arrays import load_shown

Row = dict[str, Any]


def weigh_rankings(participation: Participation) -> dict[str, Any]:
    """Compute the fields of the worker's evidence from all counted HITs."""
    assignments = load_worker_assignments(participation)
    own = load_shown(assignments["pk"].tolist())
    others = load_shown(trusted_others(participation, assignments["hit"]))
    excused = excused_items(assignments["pk"].tolist())
    judged = [row for row in own if (row["assignment_id"], row["item_id"]) not in excused]
    control = degraded_last(*_degraded(judged))
    repeated = kappa(_judgements(judged), "intra")
    agreement = kappa_with_others(_judgements(judged + others), participation.worker_id)
    held = Assignment.objects.of(participation).filter(hold__in=Assignment.NOT_COUNTED)
    seconds = assignments["submitted"] - assignments["started"]
    return nothing_counted() | {
        "verdict": str(control.verdict),
        "n_hits": len(assignments),
        "n_pairs": control.n,
        "p": known(control.pvalue),
        "n_repeats": repeated.n_comparable,
        "n_held_hits": held.count(),
        "n_rejected": int(assignments["rejected"].sum()),
        "fastest_hit_seconds": known(seconds.min()) if len(assignments) else None,
        "n_agreement_items": agreement.n_comparable,
        "agreement_r": known(agreement.kappa),
        "details": {
            "n_last": control.n_last,
            "share_last": known(control.share),
            "n_skipped": len({_screen(row) for row in own if row["rank"] is None}),
            "self_kappa": _as_fact(repeated),
            "others_kappa": _as_fact(agreement),
        },
        "signature": signature(
            qc=("degraded-last", f"exact,p<{control.level:g}"),
            degraded=participation.campaign.degradation,
        ),
    }


def _as_fact(result: Kappa) -> dict[str, Any]:
    return {"kappa": known(result.kappa), "n": result.n_comparable, "word": result.word}


def _screen(row: Row) -> tuple[int, int]:
    return row["assignment_id"], row["item__screen"]


def _degraded(rows: list[Row]) -> tuple[list[bool], list[int]]:
    """Return for each screen with a degraded output whether it is ranked last alone, and the number of outputs."""
    screens: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        if row["rank"] is not None:
            screens.setdefault(_screen(row), []).append(row)
    is_last, sizes = [], []
    for outputs in screens.values():
        degraded = [row["rank"] for row in outputs if row["item__role"] == Role.BAD_REFERENCE]
        if degraded:
            rest = [row["rank"] for row in outputs if row["item__role"] != Role.BAD_REFERENCE]
            is_last.append(degraded[0] > max(rest, default=0))
            sizes.append(len(outputs))
    return is_last, sizes


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
