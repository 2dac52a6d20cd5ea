"""Do metrics prefer what people prefer? Preferences come from gold scores, or from judgements in a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from da_platform.files.problems import Problems
from da_platform.numbers import known

from ..scores.errors import refuse_if_any
from ..scores.raw_files import RawFile
from ..scores.reading import open_raw, parse
from ..scores.score_tables import ScoreTable, shown
from ..stats.preferences import (
    MetricTies,
    preference_ceiling,
    preference_tau,
    relative_preferences,
)
from .aligned_rows import Floats, Rows
from .results import (
    Estimate,
    Judgement,
    JudgementTable,
    Options,
    PreferenceResult,
    Preferences,
)

COLUMNS = ("better", "worse")


def gold_preferences(rows: Rows, options: Options) -> Preferences | None:
    """Evaluate metrics against preferences between translations whose gold scores are far apart.

    Parameters
    ----------
    rows : Rows
    options : Options
        With `preference_points`: how far apart two gold scores must be.

    Returns
    -------
    Preferences or None
        None if no segment has two translations with gold, or no points were chosen.
    """
    if options.preference_points is None or rows.n_segments == len(rows.gold):
        return None
    metrics, gold = rows.cube()
    better, worse, segments = relative_preferences(gold, points=options.preference_points)
    scores = {
        metric: (values[better, segments], values[worse, segments])
        for metric, values in zip(rows.metrics, metrics, strict=True)
    }
    flags = dict(zip(rows.metrics, rows.flags, strict=True))
    ceiling = preference_ceiling(better, worse, segments)
    return _preferences(scores, flags, segments, "darr", ceiling, options)


def judged_preferences(
    tables: Sequence[ScoreTable], judgements: JudgementTable, options: Options
) -> Preferences:
    """Evaluate metrics against judgements of people, who may contradict each other.

    Parameters
    ----------
    tables : sequence of ScoreTable
        With segment scores.
    judgements : JudgementTable
    options : Options

    Returns
    -------
    Preferences

    Raises
    ------
    ScoresRefused
        If there are no judgements, or a metric has no score for a translation that was judged.
    """
    problems = Problems()
    kept = [
        judgement
        for judgement in judgements.rows
        if not {judgement.better, judgement.worse} & set(options.without_systems)
    ]
    if not kept:
        problems.add(judgements.name, None, "has no judgements of the systems that are evaluated")
    if not tables:
        problems.add(judgements.name, None, "has judgements, but no metric has segment scores")
    scores: dict[str, tuple[Floats, Floats]] = {}
    for table in tables:
        by_key = dict(zip(table.keys, table.scores.tolist(), strict=True))
        pair = []
        for side in COLUMNS:
            keys = [(getattr(judgement, side), judgement.segment) for judgement in kept]
            for key in dict.fromkeys(key for key in keys if key not in by_key):
                problems.add(table.name, None, f"has no score for {shown(key)}, which was judged")
            pair.append(np.array([by_key.get(key, np.nan) for key in keys]))
        scores[table.name] = (pair[0], pair[1])
    refuse_if_any(problems)
    flags = {table.name: bool(table.higher_is_better) for table in tables}
    segments = np.array([judgement.segment for judgement in kept])
    better, worse = ([getattr(judgement, side) for judgement in kept] for side in COLUMNS)
    ceiling = preference_ceiling(better, worse, segments)
    return _preferences(scores, flags, segments, "wmt14", ceiling, options)


def _preferences(
    scores: Mapping[str, tuple[Floats, Floats]],
    flags: Mapping[str, bool],
    segments: NDArray[np.generic],
    ties: MetricTies,
    ceiling: float,
    options: Options,
) -> Preferences:
    results = []
    for metric, (better, worse) in scores.items():
        tau = preference_tau(
            better,
            worse,
            metric_ties=ties,
            higher_is_better=flags[metric],
            segments=segments,
            confidence=options.confidence,
        )
        results.append(PreferenceResult(metric, Estimate.of(tau), tau.n_tied))
    results.sort(key=lambda row: -np.inf if row.tau.estimate is None else row.tau.estimate)
    return Preferences(
        rows=tuple(reversed(results)),
        n=len(segments),
        n_segments=len(np.unique(segments)),
        ceiling=known(ceiling),
        ties=ties,
    )


def read_judgements(source: Path | RawFile) -> JudgementTable:
    """Read judgements from a table (TSV, CSV or JSONL) with the columns segment, better and worse.

    Each row is one person's preference between two systems; further columns, such as the worker, are not
    used. Leave out ties.

    Raises
    ------
    ScoresRefused
    """
    problems = Problems()
    raw = open_raw(source, problems)
    _, sheet = parse(raw, None, problems)
    if not problems.total and not (set(COLUMNS) <= set(sheet.titles) and "segment" in sheet.roles):
        problems.add(raw.name, 1, "must have the columns segment, better and worse")
    refuse_if_any(problems)
    for line, cells in sheet.rows:
        if cells["better"] == cells["worse"]:
            problems.add(raw.name, line, "prefers a system to itself")
    refuse_if_any(problems)
    rows = tuple(
        Judgement(cells["segment"], cells["better"], cells["worse"]) for _, cells in sheet.rows
    )
    return JudgementTable(raw.name, rows, raw.sha256)
