"""Workers as rows in tables of metrics, against gold from which they are held out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from da_platform.exceptions import PlatformError

from ..gold.runs import ratings_of
from ..models import GoldRun
from ..stats.human_ceiling import SIZES, HeldOut, hold_out, sizes_for
from ..stats.segments import Method
from .gold_tables import campaign_gold, with_fact
from .score_tables import GoldTable, ScoreTable

Floats = NDArray[np.float64]

# Kinds of gold in which workers, or their ratings, all count the same.
METHODS = ("per_worker", "pooled")


class CeilingRefused(PlatformError):
    """Workers that cannot be compared with metrics."""


def row_name(size: int) -> str:
    """Return the name of the row for the mean of so many workers."""
    return "one worker" if size == 1 else f"mean of {size} workers"


ROW_NAMES = tuple(map(row_name, SIZES))


def has_ceiling(run: GoldRun) -> bool:
    """Return whether workers can be held out of this gold."""
    return run.method in METHODS and bool(sizes_for(run.minimum))


def human_ceiling(run: GoldRun, *, use: str, name: str) -> tuple[GoldTable, list[ScoreTable]]:
    """Return gold without the ratings of a few workers per translation, and these workers' scores.

    Parameters
    ----------
    run : GoldRun
        The campaign's seed chooses the workers, so the same ratings give the same tables.
    use : {"z", "raw"}
    name : str
        The name of the gold.

    Returns
    -------
    gold : GoldTable
        With the rows of `campaign_gold`; a translation that would be left with too few ratings has no score.
    tables : list of ScoreTable
        To be compared with this gold only: `one worker`, `mean of 2 workers` and so on.

    Raises
    ------
    CeilingRefused
        If translations have too few ratings, the gold weighs workers, or the ratings have changed since the run.
    """
    if run.method not in METHODS:
        raise CeilingRefused(
            f"Gold {run.number} weighs workers, so those that are held out would count differently from the others. "
            f"To compare workers with metrics, build gold with the method {' or '.join(METHODS)}."
        )
    sizes = sizes_for(run.minimum)
    if not sizes:
        raise CeilingRefused(
            f"Gold {run.number} needs only {run.minimum} rating for a score. To compare workers with metrics, "
            "build gold with at least 2."
        )
    ratings = ratings_of(run)
    if ratings is None:
        raise CeilingRefused(
            f"The ratings or the trusted workers have changed since gold {run.number}. Build gold again."
        )
    held_out = hold_out(
        ratings.z if use == "z" else np.where(np.isnan(ratings.z), np.nan, ratings.score),
        ratings.worker,
        ratings.translation,
        rng=np.random.default_rng(run.campaign.seed),
        sizes=sizes,
        method=cast(Method, run.method),
    )
    table = campaign_gold(run, use=use)
    place = {key: i for i, key in enumerate(held_out.translations.tolist())}
    has_gold = ~np.isnan(table.scores)
    rows = np.array(
        [
            place.get(pk, -1) if complete else -1
            for pk, complete in zip(table.translations or (), has_gold.tolist(), strict=True)
        ],
        dtype=np.int64,
    )
    n_held_out = max(sizes)
    gold = replace(
        table,
        name=name,
        scores=_picked(held_out.gold, rows),
        n_ratings=np.where(rows < 0, 0, held_out.n_gold[rows]) if len(held_out.gold) else None,
        signature=with_fact(table.signature, f"held_out:{n_held_out},seed={run.campaign.seed}"),
        notes=(*table.notes, _note(run, sizes)),
    )
    return gold, _tables(held_out, gold, rows, run)


def _note(run: GoldRun, sizes: Sequence[int]) -> str:
    n_held_out = max(sizes)
    whom = "one worker" if n_held_out == 1 else f"{n_held_out} workers"
    names = " and ".join(f"“{row_name(size)}”" for size in (sizes[0], sizes[-1])[: len(sizes)])
    return (
        f"For each translation, the ratings of {whom}, chosen at random, are held out of the gold. They make the "
        f"row{'s' if len(sizes) > 1 else ''} {names}, so workers and metrics are compared with the same gold, which "
        f"contains neither. It has fewer ratings than gold {run.number}, so all correlations are a little lower. "
        "A metric is in bold only if workers do not significantly outperform it either."
    )


def _picked(values: Floats, rows: NDArray[np.int64]) -> Floats:
    """Return the value of each row; NaN where there is none."""
    return np.append(values, np.nan)[rows]


def _tables(
    held_out: HeldOut, gold: GoldTable, rows: NDArray[np.int64], run: GoldRun
) -> list[ScoreTable]:
    tables = []
    systems = np.array([system for system, _ in gold.keys])
    for size, values in zip(held_out.sizes.tolist(), held_out.scores, strict=True):
        tables.append(
            ScoreTable(
                name=row_name(size),
                level="segment",
                keys=gold.keys,
                scores=_filled(_picked(values, rows), systems),
                higher_is_better=True,
                sha256=run.input_digest,
                signature=with_fact(gold.signature, f"workers:{size}"),
                gold=gold.name,
            )
        )
    return tables


def _filled(scores: Floats, systems: NDArray[np.str_]) -> Floats:
    """Give translations without gold the mean of their system, which leaves system means as they are.

    Tables have no gaps, and these rows count for nothing else.
    """
    filled = scores.copy()
    for system in np.unique(systems):
        own = systems == system
        known = scores[own & ~np.isnan(scores)]
        filled[own & np.isnan(scores)] = known.mean() if len(known) else 0.0
    return filled
