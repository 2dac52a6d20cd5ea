"""Take a look: test all pairs of systems in between, and decide which of them need more ratings."""

from typing import Any

import numpy as np
from django.contrib.auth.models import User
from numpy.typing import NDArray

from da_platform.jobs.models import Job
from da_platform.numbers import known
from hits.campaigns.looks import add_part, begin_look, conclude_look
from hits.exceptions import LookRefused
from hits.models import Campaign, Look

from ..models import GoldRun
from ..stats.precision import is_wide
from ..stats.signature import join_signatures
from ..stats.stopping import Decision, Rule, cautious_pvalues, decide, repeated_interval
from ..stats.system_covariance import SystemCovariance
from .ranking import SystemRanking, covariance_of, rank_systems
from .runs import Progress, build_gold, gold_scores
from .stopping_rules import rule_of

Floats = NDArray[np.float64]


def take_look(
    *,
    campaign: Campaign,
    job: Job | None = None,
    actor: User | None = None,
    progress: Progress | None = None,
) -> Look:
    """Test what has been rated so far, and have more rated, or stop. Raise `LookRefused` if no look is due.

    It can be interrupted and repeated at any point: the work a look is about is fixed first, its conclusion is stored
    once, and the HITs that follow are added once.
    """
    _finish_earlier(campaign, actor)
    look, rule = begin_look(campaign=campaign), rule_of(campaign)
    n_looks = look.campaign.n_looks
    assert n_looks is not None
    run = build_gold(campaign=campaign, look=look, job=job, progress=progress)
    if not run.n_scored:
        raise LookRefused(
            "No translation has enough trusted ratings yet, so nothing can be decided."
        )
    result, has_open = _wide_scores(look, run) if rule is None else _conclusion(look, rule, run)
    is_last = not has_open or look.number >= n_looks
    look = conclude_look(look=look, result=result, is_last=is_last, actor=actor)
    add_part(look=look, actor=actor)
    return look


def look_summary(look: Look) -> dict[str, Any]:
    """Return a look in a few numbers."""
    names = (
        "run",
        "n_assignments",
        "n_ratings",
        "n_pairs",
        "n_undecided",
        "n_open",
        "open_systems",
    )
    return {
        "look": look.number,
        "is_last": look.is_last,
        "n_hits": look.campaign.hits.filter(part=look.number + 1).count(),
        "n_translations": look.result.get("n_translations", 0),
        "n_wide": look.n_wide,
        **{name: look.result[name] for name in (*names, "signature")},
    }


def _finish_earlier(campaign: Campaign, actor: User | None) -> None:
    """Add the HITs of the latest look, if its job was interrupted before it could."""
    latest = campaign.looks.concluded().order_by("-number").first()
    if latest is not None:
        add_part(look=latest, actor=actor)


def _conclusion(look: Look, rule: Rule, run: GoldRun) -> tuple[dict[str, Any], bool]:
    """Return what the look found, as it is stored, and whether any pair needs more ratings."""
    systems = list(look.campaign.systems.order_by("pk").values_list("name", flat=True))
    ranking, covariance = rank_systems(run, test="two_way"), covariance_of(run)
    earlier = list(look.campaign.looks.concluded().filter(number__lt=look.number))
    tested = _tested_systems(systems, earlier)
    pvalues = _pvalues(systems, ranking, covariance)
    # Who is no longer rated is not tested again.
    pvalues = np.where(tested[:, None] & tested, pvalues, np.nan)
    history = [_read_matrix(each.result["pvalues"]) for each in earlier]
    shares = [each.share for each in earlier]
    decision = decide(np.array([*history, pvalues]), [*shares, look.share], rule)
    result = {
        "run": run.number,
        "boundary": decision.boundary,
        "n_pairs": len(systems) * (len(systems) - 1) // 2,
        "n_undecided": decision.n_undecided,
        "n_open": int(np.triu(decision.is_open).sum()),
        "open_systems": [
            name for name, is_open in zip(systems, decision.open_systems, strict=True) if is_open
        ],
        "systems": systems,
        "pvalues": [[known(p) for p in row] for row in pvalues.tolist()],
        "pairs": _pairs(systems, decision, ranking, covariance, earlier, tested),
        "n_ratings": run.n_ratings,
        "n_assignments": look.assignments.count(),
        "signature": join_signatures(run.signature, ranking.signature),
    }
    return result, bool(decision.open_systems.any())


def _wide_scores(look: Look, run: GoldRun) -> tuple[dict[str, Any], bool]:
    """Return which translations have too uncertain scores, as it is stored, and whether any has."""
    gold = gold_scores(run)
    wide = is_wide(np.where(gold.n > 0, gold.z_se, np.nan), gold.n, look.campaign.looks_width)
    earlier = look.campaign.looks.concluded().order_by("-number").first()
    if earlier is not None:
        # What was certain enough gets no more ratings, even if another look would find otherwise.
        wide &= np.isin(gold.translation, earlier.result["open_translations"])
    result = {
        "run": run.number,
        "boundary": look.campaign.looks_width,
        "n_pairs": 0,
        "n_undecided": 0,
        "n_open": 0,
        "open_systems": [],
        "pairs": [],
        "n_translations": len(gold),
        "open_translations": gold.translation[wide].tolist(),
        "n_ratings": run.n_ratings,
        "n_assignments": look.assignments.count(),
        "signature": run.signature,
    }
    return result, bool(wide.any())


def _tested_systems(systems: list[str], earlier: list[Look]) -> NDArray[np.bool_]:
    """Return which systems got ratings since the look before."""
    if not earlier:
        return np.ones(len(systems), dtype=np.bool_)
    return np.isin(systems, earlier[-1].result["open_systems"])


def _pvalues(systems: list[str], ranking: SystemRanking, covariance: SystemCovariance) -> Floats:
    """Return one-sided p-values in the order of these systems; NaN for one that has no score yet."""
    comparison = ranking.comparison
    place = {name: index for index, name in enumerate(systems)}
    at = np.array([place[name] for name in comparison.systems.tolist()])
    pvalues = np.full((len(systems), len(systems)), np.nan)
    pvalues[np.ix_(at, at)] = cautious_pvalues(comparison.statistics, covariance)
    np.fill_diagonal(pvalues, np.nan)
    return pvalues


def _read_matrix(rows: list[list[float | None]]) -> Floats:
    return np.array([[np.nan if p is None else p for p in row] for row in rows], dtype=np.float64)


def _pairs(
    systems: list[str],
    decision: Decision,
    ranking: SystemRanking,
    covariance: SystemCovariance,
    earlier: list[Look],
    tested: NDArray[np.bool_],
) -> list[dict[str, Any]]:
    """Return a record for every two systems, the better one first.

    A pair that is no longer rated keeps its numbers: later ones would not test it.
    """
    kept = {frozenset((row["system"], row["other"])): row for row in _latest_pairs(earlier)}
    place = {name: index for index, name in enumerate(systems)}
    low, high = repeated_interval(ranking.comparison, covariance, decision.boundary)
    names = ranking.comparison.systems.tolist()
    records = []
    for first, name in enumerate(names):
        for second in range(first + 1, len(names)):
            other = names[second]
            better, worse = place[name], place[other]
            before = kept.get(frozenset((name, other)))
            if before is not None and not (tested[better] and tested[worse]):
                records.append(before)
                continue
            is_win, is_loss = decision.is_win[better, worse], decision.is_win[worse, better]
            if is_loss:
                # Found earlier, although it now looks the other way round.
                better, worse = worse, better
            sign = -1 if is_loss else 1
            bounds = sorted((sign * low[first, second], sign * high[first, second]))
            records.append(
                {
                    "system": systems[better],
                    "other": systems[worse],
                    "difference": known(sign * ranking.comparison.differences[first, second]),
                    "low": known(bounds[0]),
                    "high": known(bounds[1]),
                    "p": known(decision.adjusted[better, worse]),
                    "chance": known(decision.chances[better, worse]),
                    "state": "decided"
                    if is_win or is_loss
                    else "open"
                    if decision.is_open[better, worse]
                    else "given up",
                }
            )
    return records


def _latest_pairs(earlier: list[Look]) -> list[dict[str, Any]]:
    return earlier[-1].result["pairs"] if earlier else []
