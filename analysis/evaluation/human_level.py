"""Metrics next to one worker: both against gold that contains neither."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from da_platform.numbers import known

from ..scores.human_rows import row_name
from ..scores.score_tables import GoldTable, ScoreTable
from ..stats.by_segment import UnitEstimates, correlations_by_segment, means_by_segment
from ..stats.meta_evaluation import tie_accuracies
from ..stats.multiple_tests import adjust
from .aligned_rows import Rows
from .results import AgainstWorker, Estimate, HumanComparison, Measure, Options
from .segment_level import METHODS

WORKER = row_name(1)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Gold from which a few workers are held out, and the scores of these workers."""

    gold: GoldTable
    workers: tuple[ScoreTable, ...]


def human_comparisons(rows: Rows, options: Options) -> tuple[HumanComparison, ...]:
    """Compare every metric, and the means of several workers, with one worker.

    Parameters
    ----------
    rows : Rows
        With a row for one worker; the gold contains none of the workers among the rows.
    options : Options

    Returns
    -------
    tuple of HumanComparison
        One for each measure, by Student's t with segments as the unit, whatever `uncertainty` is: the differences
        need intervals, and no worker is equally sure about all translations.
    """
    segments, flags = rows.alignment.segments, list(rows.flags)
    found: dict[Measure, UnitEstimates] = {
        measure: correlations_by_segment(
            rows.scores, rows.truth, segments, method=method, higher_is_better=flags
        )
        for measure, method in METHODS.items()
    }
    if rows.shares_segments:
        ties = tie_accuracies(*rows.cube(), higher_is_better=flags)
        found["acc_eq"] = means_by_segment(
            np.stack([tie.by_segment for tie in ties]),
            measure="acc_eq",
            n=len(rows.gold),
            higher_is_better=rows.flags,
        )
    return tuple(
        _comparison(rows.metrics, measure, result, options) for measure, result in found.items()
    )


def _comparison(
    metrics: Sequence[str], measure: Measure, result: UnitEstimates, options: Options
) -> HumanComparison:
    worker = metrics.index(WORKER)
    tests = result.compare()
    differences, low, high = result.differences_from(worker, options.confidence)
    # Both directions of each metric are one family.
    both = np.stack([tests.pvalue[:, worker], tests.pvalue[worker]])
    better, worse = adjust(both, options.used_correction)
    ends = result.intervals(options.confidence)
    order = sorted(range(len(metrics)), key=lambda i: -np.nan_to_num(result.estimates[i], nan=-9))

    def row(i: int) -> AgainstWorker:
        return AgainstWorker(
            metric=metrics[i],
            estimate=known(result.estimates[i]),
            difference=Estimate(known(differences[i]), known(low[i]), known(high[i]), result.n),
            p_better=known(both[0, i]),
            p_worse=known(both[1, i]),
            adjusted_better=known(better[i]),
            adjusted_worse=known(worse[i]),
        )

    return HumanComparison(
        measure=measure,
        worker=Estimate(
            known(result.estimates[worker]),
            known(ends[0, worker]),
            known(ends[1, worker]),
            result.n,
        ),
        rows=tuple(row(i) for i in order if i != worker),
        n_units=result.n_units,
        unit=options.level,
        correction=options.used_correction,
        signature=tests.signature,
    )
