"""Rank the systems of a campaign from the rankings of its workers."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from da_platform.numbers import known, known_list, known_matrix
from hits.models import Campaign, Rating, Segment, System
from hits.ranking.choice import describe
from hits.task_kinds import kind_of

from ..stats.bradley_terry import bradley_terry, strength_ranges
from ..stats.judgements import (
    Judgements,
    Rankings,
    collapse,
    complete_tasks,
    expand,
    judgements_by,
)
from ..stats.kappa import COUNTINGS, kappa
from ..stats.published_lookup import expand_as_published
from ..stats.signature import join_signatures, signature
from ..stats.trueskill import RUNS, Lookup, trueskill
from ..stats.win_shares import head_to_head
from .judge_groups import Groups, judges_by_group
from .metrics import metric_agreement

# What is stored: JSON, as the job's result.
Facts = dict[str, Any]


def load_rankings(campaign: Campaign, *, trusted_only: bool = True) -> Rankings:
    """Return the rankings of a campaign; those of scores side by side count as rankings, too."""
    kind = kind_of(campaign)
    if not kind.gives_judgements:
        raise NothingRanked(
            f"Workers of {campaign.name} do not see several outputs at once, so there are no judgements."
        )
    rows: Rankings = kind.load_rankings(campaign, trusted_only=trusted_only)
    return rows


class NothingRanked(Exception):
    """There are no judgements to rank systems by."""


def rank_by_judgements(
    campaign: Campaign,
    *,
    runs: int = RUNS,
    seed: int | None = None,
    trusted_only: bool = True,
    lookup: Lookup = "all",
    groups: Groups | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Facts:
    """Return the ranking of the campaign's systems as JSON-ready facts, or raise `NothingRanked`.

    The seed is the campaign's unless another is given: the same rankings give the same scores. `lookup` is that of
    `trueskill`. `groups` are those of judges, by pseudonym; without it, judges are grouped by how they were recruited.
    """
    rows = _named(load_rankings(campaign, trusted_only=trusted_only), campaign)
    is_published = lookup == "published"
    judgements = expand_as_published(rows) if is_published else expand(complete_tasks(rows))
    if not len(judgements):
        who = "trusted worker" if trusted_only else "worker"
        did = "rated" if is_from_scores(campaign) else "ranked"
        raise NothingRanked(f"No {who} has {did} outputs of {campaign.name} yet.")
    seed = campaign.seed if seed is None else seed
    # The runs take nearly all of the time; what follows counts as two more.
    tell, n_parts = progress or (lambda done, total: None), runs + 2
    rng = np.random.default_rng(seed)
    scores = trueskill(
        judgements,
        rng=rng,
        runs=runs,
        lookup=lookup,
        progress=lambda done, total: tell(done, n_parts),
    )
    systems, real = _systems(judgements, scores, rng), expand(complete_tasks(rows))
    named_segments = dict(Segment.objects.filter(campaign=campaign).values_list("pk", "name"))
    metrics = metric_agreement(campaign, real, named_segments, systems)
    tell(runs + 1, n_parts)
    return {
        "campaign": campaign.name,
        "seed": seed,
        "trusted_only": trusted_only,
        "is_from_scores": is_from_scores(campaign),
        "n_judges": len(np.unique(rows.judges)),
        "n_tasks": len(np.unique(rows.tasks)),
        "n_judgements": len(judgements),
        "systems": systems,
        "head_to_head": _pairs(judgements, scores.systems.tolist()),
        **_agreement(rows, judges_by_group(campaign, groups)),
        "metrics": metrics,
        "signature": join_signatures(scores.signature, _collected(campaign)),
    }


def is_from_scores(campaign: Campaign) -> bool:
    """Whether judgements are differences between scores that were given side by side."""
    return kind_of(campaign).answers is Rating


def _collected(campaign: Campaign) -> str:
    """Return the signature of how the outputs on a screen were chosen, where we know it."""
    if campaign.is_archive:
        return signature()
    if is_from_scores(campaign):
        return signature(judgements="scores on a screen", screen=campaign.outputs_per_screen)
    chosen = describe(campaign.output_choice, campaign.judgements_per_pair)
    return signature(outputs=chosen, screen=campaign.outputs_per_screen)


def _named(rows: Rankings, campaign: Campaign) -> Rankings:
    """Replace the keys of systems by their names."""
    names = dict(System.objects.filter(campaign=campaign).values_list("pk", "name"))
    systems: NDArray[np.str_] = np.array([names[pk] for pk in rows.systems.tolist()], dtype=np.str_)
    return Rankings(rows.tasks, rows.segments, rows.judges, systems, rows.outputs, rows.ranks)


def _systems(judgements: Judgements, scores: Any, rng: np.random.Generator) -> list[Facts]:
    wins = head_to_head(judgements)
    expected = dict(zip(wins.systems.tolist(), known_list(wins.expected_wins), strict=True))
    fitted = bradley_terry(judgements)
    own_ranges = strength_ranges(fitted, rng=rng)
    strengths = {
        name: {
            "strength": known(fitted.strengths[place]),
            "strength_error": known(fitted.errors[place]),
            "strength_best": int(own_ranges.best[place]),
            "strength_worst": int(own_ranges.worst[place]),
            "strength_cluster": int(own_ranges.clusters[place]),
        }
        for place, name in enumerate(fitted.systems.tolist())
    }
    ranges = scores.ranges
    return [
        {
            "system": name,
            "cluster": int(ranges.clusters[place]),
            "score": float(scores.scores[place]),
            "best": int(ranges.best[place]),
            "worst": int(ranges.worst[place]),
            "expected_wins": expected[name],
            **strengths[name],
        }
        for place, name in enumerate(scores.systems.tolist())
    ]


def _pairs(judgements: Judgements, order: list[str]) -> Facts:
    """Return the head-to-head table with systems in the order of their scores."""
    table = head_to_head(judgements)
    place = {name: number for number, name in enumerate(table.systems.tolist())}
    grid = np.ix_([place[name] for name in order], [place[name] for name in order])
    return {
        "systems": order,
        "wins": table.wins[grid].astype(int).tolist(),
        "ties": table.ties[grid].astype(int).tolist(),
        "shares": known_matrix(table.shares[grid]),
        "p": known_matrix(table.pvalues[grid]),
        "marks": table.marks[grid].tolist(),
    }


def _agreement(rows: Rankings, groups: Mapping[str, list[int]]) -> Facts:
    """Return kappa between and within judges, ours and as published: of all judges, and of each group."""
    judgements = expand(collapse(rows))
    return {
        "agreement": _kappas(judgements),
        "groups": [
            {"group": group, "n_judges": len(np.unique(own.judges)), **facts}
            for group, judges in groups.items()
            if len(own := judgements_by(judgements, judges))
            for facts in _kappas(own)
        ],
    }


def _kappas(judgements: Judgements) -> list[Facts]:
    return [
        {"between": between, "counting": counting, "word": result.word}
        | {
            name: known(value) if isinstance(value, float) else value
            for name, value in asdict(result).items()
        }
        for counting in COUNTINGS
        for between, result in (
            ("inter", kappa(judgements, "inter", counting=counting)),
            ("intra", kappa(judgements, "intra", counting=counting)),
        )
    ]
