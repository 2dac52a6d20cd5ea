"""How well automatic metrics agree with a campaign's gold, and which of them is really better."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hits.exceptions import HitsError
from hits.importing.problems import Problem, Problems

from .gold import gold_scores
from .models import GoldRun
from .stats.correlation import Correlation, correlate
from .stats.williams import WilliamsMatrix, williams_matrix

COLUMNS = ["system", "segment", "score"]

# A system's name and a segment's.
Key = tuple[str, str]


class ScoresRefused(HitsError):
    """A file of metric scores that cannot be evaluated as it is."""

    def __init__(self, problems: Sequence[Problem], total: int) -> None:
        more = f"\n  … and {total - len(problems):,} more" if total > len(problems) else ""
        lines = "".join(f"\n  {problem}" for problem in problems)
        super().__init__(f"The scores were not evaluated: {total:,} problems.{lines}{more}")


@dataclass(frozen=True, slots=True)
class MetricFile:
    """Where a metric's scores are, and which way they go: that is told, never guessed."""

    path: Path
    higher_is_better: bool

    @property
    def name(self) -> str:
        return self.path.stem


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Metrics against gold over the outputs that have a gold score, in the order they were given.

    `williams` is None for a single metric. `signature` says how the gold was made.
    """

    metrics: tuple[str, ...]
    pearson: tuple[Correlation, ...]
    spearman: tuple[Correlation, ...]
    kendall: tuple[Correlation, ...]
    williams: WilliamsMatrix | None
    n: int
    signature: str

    @property
    def winners(self) -> tuple[str, ...]:
        """Metrics that no other significantly outperforms."""
        if self.williams is None:
            return self.metrics
        won = self.williams.winners()
        return tuple(name for name, is_winner in zip(self.metrics, won, strict=True) if is_winner)


def evaluate_metrics(*, run: GoldRun, files: Sequence[MetricFile]) -> Evaluation:
    """Correlate metrics with the z-scores of a gold run and test their differences.

    Parameters
    ----------
    run : GoldRun
    files : sequence of MetricFile
        Tables, tab-separated, with the columns system, segment and score: a score for every output
        of the campaign, no more and no fewer.

    Returns
    -------
    Evaluation

    Raises
    ------
    ScoresRefused
        Naming file, line and reason, for everything that is wrong.
    """
    outputs = _outputs(run)
    problems = Problems()
    columns = [_read(file.path, outputs, problems) for file in files]
    if problems.total or not files:
        raise ScoresRefused(problems.listed, problems.total)
    gold = gold_scores(run)
    z = dict(zip(gold.translation.tolist(), gold.z.tolist(), strict=True))
    golds = np.array([z[outputs[key]] for key in outputs])
    kept = ~np.isnan(golds)
    scores = np.array([[column[key] for key in outputs] for column in columns])[:, kept]
    return _evaluate(run, files, scores, golds[kept])


def _evaluate(
    run: GoldRun,
    files: Sequence[MetricFile],
    scores: NDArray[np.float64],
    golds: NDArray[np.float64],
) -> Evaluation:
    directions = [file.higher_is_better for file in files]
    found = {
        method: tuple(
            correlate(own, golds, method=method, higher_is_better=up)
            for own, up in zip(scores, directions, strict=True)
        )
        for method in ("pearson", "spearman", "kendall_b")
    }
    return Evaluation(
        metrics=tuple(file.name for file in files),
        pearson=found["pearson"],
        spearman=found["spearman"],
        kendall=found["kendall_b"],
        williams=williams_matrix(scores, golds, higher_is_better=directions)
        if len(files) > 1
        else None,
        n=len(golds),
        signature=run.signature,
    )


def _outputs(run: GoldRun) -> dict[Key, int]:
    """Return the translation of every output of the campaign, in the order of segments."""
    rows = run.campaign.systems.values_list(
        "name", "outputs__segment__name", "outputs__translation_id"
    ).order_by("outputs__segment__position", "pk")
    return {(system, segment): pk for system, segment, pk in rows}


def _read(path: Path, outputs: dict[Key, int], problems: Problems) -> dict[Key, float]:
    """Read a metric's scores; whatever is wrong is added to the problems."""
    scores: dict[Key, float] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if next(rows, []) != COLUMNS:
                problems.add(path.name, 1, f"the columns must be {', '.join(COLUMNS)}")
                return scores
            for row in rows:
                _take(row, rows.line_num, path.name, outputs, scores, problems)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        problems.add(path.name, None, f"cannot be read: {error}")
        return scores
    for system, segment in outputs.keys() - scores.keys():
        problems.add(path.name, None, f"has no score for {segment} by {system}")
    return scores


def _take(
    row: list[str],
    line: int,
    name: str,
    outputs: dict[Key, int],
    scores: dict[Key, float],
    problems: Problems,
) -> None:
    if len(row) != len(COLUMNS):
        problems.add(name, line, f"has {len(row)} columns, not {len(COLUMNS)}")
        return
    key = (row[0], row[1])
    score = _number(row[2])
    if key not in outputs:
        problems.add(name, line, f"the campaign has no output for {key[1]} by {key[0]}")
    elif key in scores:
        problems.add(name, line, f"a second score for {key[1]} by {key[0]}")
    if score is None:
        problems.add(name, line, f"{row[2]!r} is not a number")
    scores.setdefault(key, math.nan if score is None else score)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
