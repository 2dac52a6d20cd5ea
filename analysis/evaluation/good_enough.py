"""Good enough? How well metrics and predictions find the translations whose gold is not."""

from collections.abc import Sequence

import numpy as np

from da_platform.files.problems import Problems
from da_platform.numbers import known, known_list

from ..scores.errors import refuse_if_any
from ..scores.fixes import NOT_GOOD_ENOUGH
from ..stats._validation import Bools
from ..stats.flagging import flagging_areas, found_by_reading, reading_to_find
from ..tables.table import ENDS, Cell, Column, Table, correlation, interval, text
from .aligned_rows import Floats, Rows
from .predictions import predicting
from .results import (
    Estimate,
    FlaggingResult,
    GoldEvaluation,
    GoodEnough,
    Options,
    Value,
)
from .wording import rows_name

# The shares of bad translations that someone may want to find.
TARGETS = (0.8, 0.9, 0.95)
# The curves are stored at each hundredth of the translations.
SHARES = np.arange(101) / 100


def good_enough(rows: Rows, options: Options) -> GoodEnough | None:
    """Measure how well each metric finds what is not good enough, best ROC area first.

    Parameters
    ----------
    rows : Rows
    options : Options
        `good_enough` is the gold from which a translation is good enough; where lower gold is better, up to which.

    Returns
    -------
    GoodEnough or None
        None without a threshold, or if by this gold all translations are good enough, or none.
    """
    if options.good_enough is None:
        return None
    is_bad = _is_bad(rows.gold, rows, options.good_enough)
    if is_bad.all() or not is_bad.any():
        return None
    signs = np.where(rows.flags, 1.0, -1.0)
    quality = rows.scores * signs[:, None]
    areas = flagging_areas(
        quality,
        is_bad,
        rng=np.random.default_rng(options.seed),
        segments=rows.alignment.segments,
        n_resamples=options.n_resamples,
        confidence=options.confidence,
    )
    predictions = predicting(rows, options)
    order = np.argsort(-areas.roc, kind="stable").tolist()
    n = len(is_bad)
    return GoodEnough(
        threshold=options.good_enough,
        n=n,
        n_bad=int(is_bad.sum()),
        rows=tuple(
            FlaggingResult(
                metric=rows.metrics[i],
                roc=_estimate(areas.roc[i], areas.roc_interval[:, i], n),
                precision=_estimate(areas.precision[i], areas.precision_interval[:, i], n),
                reading=tuple(reading_to_find(quality[i], is_bad, target) for target in TARGETS),
                found=tuple(known_list(found_by_reading(quality[i], is_bad, SHARES))),
                at_threshold=_at_threshold(rows.scores[i], is_bad, rows, options.good_enough)
                if i in predictions
                else (),
            )
            for i in order
        ),
    )


def refuse_if_all_alike(golds: Sequence[GoldEvaluation], options: Options) -> None:
    """Refuse a threshold that separates nothing in any gold."""
    threshold = options.good_enough
    if threshold is None or any(gold.good_enough for gold in golds):
        return
    problems = Problems()
    for gold in golds:
        reason = (
            f"has all of its scores on one side of {threshold:g}, so all translations are good enough or none; "
            "give a score on the scale of the gold"
        )
        problems.add(gold.gold.name, None, reason, NOT_GOOD_ENOUGH)
    refuse_if_any(problems)


def _is_bad(scores: Floats, rows: Rows, threshold: float) -> Bools:
    """Return which scores, on the scale of the gold, are not good enough."""
    return scores < threshold if rows.alignment.gold_is_better_higher else scores > threshold


def _at_threshold(
    predicted: Floats, is_bad: Bools, rows: Rows, threshold: float
) -> tuple[Value, ...]:
    """Return how many translations predictions flag as they are, how many bad ones of all, and of the flagged."""
    flagged = _is_bad(predicted, rows, threshold)
    n_right = float((flagged & is_bad).sum())
    precision = n_right / flagged.sum() if flagged.any() else None
    return float(flagged.mean()), n_right / float(is_bad.sum()), precision


def _estimate(value: float, ends: Floats, n: int) -> Estimate:
    return Estimate(known(value), known(ends[0]), known(ends[1]), n)


# Showing --------------------------------------------------------------------------------------


def good_enough_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return how well each metric finds what is not good enough, and what it costs to read what it flags."""
    found = gold.good_enough
    assert found is not None
    confidence = f"{options.confidence * 100:g} %"
    predicts = any(row.at_threshold for row in found.rows)
    rows: list[list[Cell]] = []
    for row in found.rows:
        at_threshold = row.at_threshold or (None, None, None)
        rows.append(
            [
                text(row.metric),
                correlation(row.roc.estimate),
                interval(row.roc.low, row.roc.high),
                correlation(row.precision.estimate),
                interval(row.precision.low, row.precision.high),
                *map(correlation, row.reading),
                *(map(correlation, at_threshold) if predicts else ()),
            ]
        )
    nothing = interval(None, None)
    chance = [text("(at random)"), correlation(0.5), nothing, correlation(found.share_bad), nothing]
    at_random = [*map(correlation, TARGETS), *([Cell("–")] * 3 if predicts else [])]
    titles = [f"read for {target:.0%}".replace("%", " %") for target in TARGETS]
    return Table(
        name=f"good-enough-{gold.gold.name}",
        caption=f"Finding what is not good enough in {gold.gold.name}",
        columns=[
            Column("metric", is_number=False),
            Column("ROC area"),
            Column(f"ROC area, {confidence} interval", parts=ENDS),
            Column("average precision"),
            Column(f"average precision, {confidence} interval", parts=ENDS),
            *map(Column, titles),
            *(map(Column, ("flagged", "found", "right")) if predicts else ()),
        ],
        rows=[*rows, [*chance, *at_random]],
        note=_note(gold, options, predicts),
        lines_after=frozenset({len(rows) - 1}),
    )


def _note(gold: GoldEvaluation, options: Options, predicts: bool) -> str:
    found = gold.good_enough
    assert found is not None
    things = rows_name(options)
    note = (
        f"{bad_sentence(gold, options)} ROC area: how often one of those has a worse score than one that is good enough; "
        f"ties count half. average precision: the mean precision over them, worst scores first. Intervals: bootstrap of "
        f"{options.level}s. read for 90 %: the share of {things} to be read, worst scores first, until 90 % of those that "
        "are not good enough are found."
    )
    if predicts:
        note += (
            f" If what is predicted to be {_side(gold)} {found.threshold:g} is flagged: the share "
            "that is flagged, the share of what is not good enough that is found, and the share "
            "of flags that are correct."
        )
    if any(not row.higher_is_better for row in gold.segment):
        note += " If lower is better for a metric, its worst scores are its highest."
    return note


def bad_sentence(gold: GoldEvaluation, options: Options) -> str:
    """Say how many translations are not good enough."""
    found = gold.good_enough
    assert found is not None
    return (
        f"{found.n_bad:,} of {found.n:,} {rows_name(options)} ({found.share_bad:.1%}) are not good enough: "
        f"{gold.gold.name} {_side(gold)} {found.threshold:g}."
    )


def reading_sentence(gold: GoldEvaluation, options: Options) -> str:
    """Say what reading costs in the order of the best metric; empty without a threshold."""
    found = gold.good_enough
    if found is None:
        if options.good_enough is None:
            return ""
        return f"By {gold.gold.name}, all {rows_name(options)} are good enough at {options.good_enough:g}, or none."
    best, at = found.rows[0], TARGETS.index(0.9)
    assert best.roc.estimate is not None
    return (
        f"{bad_sentence(gold, options)} {best.metric} finds them best (ROC area {best.roc.estimate:.3f}): to find 90% of "
        f"them, read {best.reading[at]:.1%} of the {rows_name(options)}."
    )


def _side(gold: GoldEvaluation) -> str:
    return "below" if gold.gold.higher_is_better else "above"
