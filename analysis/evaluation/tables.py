"""The tables of an evaluation, each with a note on the test used."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from da_platform.plots.rendering import to_csv

from ..stats.correlation import EXTREME_SHARE
from ..tables.table import (
    ENDS,
    Cell,
    Column,
    Table,
    correlation,
    count,
    interval,
    number,
    signed,
    text,
)
from .file_names import Parts, file_names
from .good_enough import good_enough_table
from .human_sentence import human_sentence, human_table
from .model_sizes import model_sizes_table
from .prediction_tables import prediction_table
from .results import (
    Breakdown,
    Contrast,
    Estimate,
    EvaluationResult,
    GoldComparison,
    GoldEvaluation,
    Level,
    Measure,
    Options,
    Preferences,
    numbers,
)
from .wording import (
    MEASURE_NAMES,
    bold_sentence,
    level_and_correction,
    level_name,
    name_of_test,
    rows_name,
    sample,
    unit_sentence,
)

# More groups than this do not fit on a page and are only in the CSV.
MOST_GROUPS = 14


def tables_of(result: EvaluationResult) -> list[Table]:
    """Return all tables of a result, in the order of a paper."""
    tables: list[tuple[Parts, Table]] = []
    for gold in result.golds:
        name = gold.gold.name
        if gold.segment:
            tables.append((("segment", name), segment_table(gold, result.options)))
        if gold.humans:
            tables.append((("people", name), human_table(gold, result.options)))
        if gold.predictions:
            tables.append((("prediction", name), prediction_table(gold, result.options)))
        if gold.good_enough:
            tables.append((("good-enough", name), good_enough_table(gold, result.options)))
        if gold.preferences:
            caption = f"Preferences in {name}"
            table = preference_table(gold.preferences, caption, result.options)
            tables.append((("preference", name), table))
        if gold.system:
            tables.append((("system", name), system_table(gold, result.options)))
        if gold.shown_tests(result.options) and not result.options.is_published:
            tables.append((("tests", name), tests_table(gold, result.options)))
        tables += [
            (("by", breakdown.by, name), breakdown_table(gold, breakdown, result.options))
            for breakdown in gold.breakdowns
            if len(breakdown.groups) <= MOST_GROUPS
        ]
    for pair in result.comparisons:
        names = pair.level, pair.first, pair.second
        tables.append((("compared", *names), comparison_table(pair, result)))
        if pair.contrast is not None and pair.contrast.contradictions:
            tables.append(
                (("contradictions", *names), contradictions_table(pair.contrast, result.options))
            )
    if result.judged:
        table = preference_table(result.judged, "Judgements of people", result.options)
        tables.append((("judgements",), table))
    if sizes := model_sizes_table(result):
        tables.append((("models",), sizes))
    files = file_names(result)
    return [replace(table, name=files[parts]) for parts, table in tables]


def segment_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return metrics against segment gold, best r first."""
    has_pairs = any(row.acc_eq is not None for row in gold.segment)
    titles = ["Spearman", "Kendall", "best", "worst"] + (["acc_eq"] if has_pairs else [])
    against_best = _against_best(gold)
    titles += [f"p, {name}" for name in against_best]
    winners = _winners(gold, "segment")
    rows = []
    for row in gold.segment:
        cells = [
            text(row.metric, bold=row.is_winner),
            correlation(row.pearson.estimate, bold=row.is_winner),
            interval(row.pearson.low, row.pearson.high),
            _value(row.spearman, bold=row.metric in winners["spearman"]),
            _value(row.kendall, bold=row.metric in winners["kendall"]),
            _value(row.best),
            _value(row.worst),
        ]
        acc_eq = _value(row.acc_eq, bold=row.metric in winners["acc_eq"])
        cells += [acc_eq] if has_pairs else []
        rows.append(cells + [number(found.get(row.metric)) for found in against_best.values()])
    return Table(
        name=f"segment-{gold.gold.name}",
        caption=f"{options.level.capitalize()}-level agreement with {gold.gold.name}",
        columns=_with_r(options, titles),
        rows=rows,
        note=_segment_note(gold, options, has_pairs),
    )


def _against_best(gold: GoldEvaluation) -> dict[str, dict[str, float | None]]:
    """Return the raw p that the best metric is better than each other: by Williams and by t, where both are shown."""
    tests = [gold.comparison, *(test for test in gold.alternatives if test.level == "segment")]
    if len(tests) < 2 or gold.comparison is None or gold.comparison.unit != "translation":
        return {}
    return {
        "Williams" if test.test == "williams" else "t": dict(
            zip(test.metrics, test.pvalue[0], strict=True)
        )
        for test in tests
        if test is not None
    }


def _winners(gold: GoldEvaluation, level: Level) -> dict[Measure, tuple[str, ...]]:
    """Return the metrics in bold for each measure."""
    return {measure: gold.winners_in(level, measure) for measure in MEASURE_NAMES}


def _segment_note(gold: GoldEvaluation, options: Options, has_pairs: bool) -> str:
    facts = gold.gold
    how = "Fisher"
    if (test := gold.comparison) is not None and test.is_by_segment:
        how = f"{'bootstrap' if options.is_resampling else 'jackknife'} of {options.level}s"
    elif options.is_robust:
        how = f"jackknife of {rows_name(options)}"
    note = (
        f"{sample(gold, options)} r: Pearson correlation with {_confidence(options)} interval ({how}). "
        f"{_tests_sentence(gold, 'segment', options)} best, worst: r over the {EXTREME_SHARE * 100:g} % of {rows_name(options)} with "
        f"the best and worst gold."
    )
    if has_pairs:
        note += f" acc_eq: pairwise accuracy within {options.level}s, with a tie threshold calibrated for each metric"
        if options.is_published:
            note += "."
        elif options.tie_threshold == "calibrated":
            note += f" on the same {rows_name(options)}."
        else:
            note += f", for each half of the {options.level}s on the other half."
    if _against_best(gold):
        note += (
            " p: one-sided, unadjusted, that the metric with the highest r is better; by Williams, and by Student's t, which "
            "also holds where noise grows with the gold."
        )
    if any(not row.higher_is_better for row in gold.segment):
        note += " Metrics where lower is better have their signs reversed."
    if not facts.higher_is_better:
        note += f" Lower {facts.name} is better."
    return note + human_sentence(gold, options)


def _tests_sentence(gold: GoldEvaluation, level: Level, options: Options) -> str:
    """Explain what is in bold, and what the tests take as independent."""
    test = gold.test_of(level, "pearson")
    if test is None or options.is_published:
        return bold_sentence(test, options)
    sentence = bold_sentence(test, options)
    if test.test == "williams":
        sentence += " The other measures: t test (jackknife), with the same correction."
    return " ".join(part for part in (unit_sentence(test), sentence) if part)


_ALTERNATIVES = (
    " For comparison: what another test of r would find. Williams' is right if each translation is of another segment "
    "and noise does not grow with the gold; by segment, Student's t holds in any case."
)


def tests_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return which metrics win by each measure, and by which test."""
    rows: list[list[Cell]] = []
    tests = gold.shown_tests(options)
    for test in (*tests, *gold.alternatives):
        pvalue, n_pairs = numbers(test.pvalue), len(test.metrics) * (len(test.metrics) - 1) // 2
        rows.append(
            [
                text(level_name(test.level, options)),
                text(MEASURE_NAMES[test.measure]),
                text(name_of_test(test) + ("" if test in tests else ", for comparison")),
                count(n_pairs),
                count(int((pvalue < options.alpha).sum())),
                count(int((test.adjusted < options.alpha).sum())),
                count(len(test.winners)),
                text(", ".join(test.winners) or "none"),
            ]
        )
    titles = ["pairs", "significant, raw p", "significant, adjusted p", "winners"]
    first = tests[0]
    how = (
        "without correction" if first.correction == "none" else "by Holm's method, for each measure"
    )
    return Table(
        name=f"tests-{gold.gold.name}",
        caption=f"Differences between metrics in agreement with {gold.gold.name}",
        columns=[
            *(Column(title, is_number=False) for title in ("level", "measure", "test")),
            *map(Column, titles),
            Column("winners by name", is_number=False),
        ],
        rows=rows,
        note=(
            f"One-sided tests of every pair of metrics in both directions; p-values are adjusted {how}. "
            f"Significant: {level_and_correction(replace(first, correction='none'), options)}. "
            "All p-values, raw and adjusted, are in the data of the significance maps. Winners: not significantly "
            "outperformed by any other"
            + (
                "; in MAE and DeltaAvg, the best and those not significantly worse."
                if gold.prediction_comparisons
                else "."
            )
            + (_ALTERNATIVES if gold.alternatives else "")
        ),
    )


_TIE_RULES = {
    "darr": "A metric that ties two translations is wrong.",
    "wmt14": "A metric that ties two translations is neither right nor wrong.",
}


def preference_table(preferences: Preferences, caption: str, options: Options) -> Table:
    """Return how often metrics prefer what people prefer, and the ceiling in the last row."""
    rows = [
        [
            text(row.metric),
            correlation(row.tau.estimate),
            interval(row.tau.low, row.tau.high),
            correlation(row.n_tied / preferences.n if preferences.n else None),
        ]
        for row in preferences.rows
    ]
    rows.append(
        [text("ceiling"), correlation(preferences.ceiling), interval(None, None), Cell("–")]
    )
    source = (
        f"Two translations of a {options.level} whose gold scores are at least {options.preference_points:g} apart. "
        if preferences.ties == "darr" and options.preference_points is not None
        else ""
    )
    unit = options.level if preferences.ties == "darr" else "segment"
    return Table(
        name="preferences",
        caption=caption,
        columns=[
            Column("metric", is_number=False),
            Column("tau"),
            Column(f"{_confidence(options)} interval", parts=ENDS),
            Column("ties"),
        ],
        rows=rows,
        note=(
            f"{source}n = {preferences.n:,} preferences in {preferences.n_segments:,} {unit}s. tau: (concordant − "
            f"discordant) / preferences, with {_confidence(options)} interval over {unit}s (jackknife). "
            f"{_TIE_RULES[preferences.ties]} ties: share of preferences that the metric ties. ceiling: the "
            "highest possible tau, as people may contradict each other."
        ),
        lines_after=frozenset({len(rows) - 2}),
    )


def system_table(gold: GoldEvaluation, options: Options) -> Table:
    """Return metrics against system gold, best r first."""
    has_spa = any(row.spa is not None for row in gold.system)
    winners = _winners(gold, "system")
    rows = []
    for row in gold.system:
        is_winner = row.metric in winners["pearson"]
        cells = [
            text(row.metric, bold=is_winner),
            correlation(row.pearson.estimate, bold=is_winner),
            interval(row.pearson.low, row.pearson.high),
            _value(row.spearman, bold=row.metric in winners["spearman"]),
            _value(row.kendall, bold=row.metric in winners["kendall"]),
            _value(row.accuracy, bold=row.metric in winners["accuracy"]),
            interval(row.accuracy.low, row.accuracy.high),
        ]
        spa = _value(row.spa, bold=row.metric in winners["spa"])
        rows.append(cells + ([spa] if has_spa else []))
    n = gold.gold.n_systems
    test = gold.test_of("system", "pearson")
    note = (
        f"n = {n} systems, {n * (n - 1) // 2} pairs. r: Pearson correlation. accuracy: share of system pairs in "
        f"the same order as in the gold. {_system_intervals(gold, options)}"
    )
    if test is not None:
        note += f" {_tests_sentence(gold, 'system', options)}"
    if has_spa:
        n_complete = next(row.spa.n for row in gold.system if row.spa is not None)
        note += (
            f" SPA: soft pairwise accuracy over the {n_complete:,} {options.level}s with gold for every system "
            f"({options.n_resamples:,} permutations, seed {options.seed})."
        )
    return Table(
        name=f"system-{gold.gold.name}",
        caption=f"System-level agreement with {gold.gold.name}",
        columns=[
            *_with_r(options, ["Spearman", "Kendall", "accuracy"]),
            Column(f"accuracy, {_confidence(options)} interval", parts=ENDS),
            *([Column("SPA")] if has_spa else []),
        ],
        rows=rows,
        note=note,
    )


def _system_intervals(gold: GoldEvaluation, options: Options) -> str:
    """Explain the intervals of a table at system level."""
    test = gold.test_of("system", "pearson")
    # A single metric has no tests.
    has_segments = any(row.spa for row in gold.system) if test is None else test.is_by_segment
    confidence = f"{_confidence(options)} intervals"
    if options.is_published:
        return f"{confidence}: r Fisher, accuracy exact binomial, which takes pairs of systems as independent."
    if has_segments:
        return f"{confidence}: bootstrap of {options.level}s."
    return (
        f"{confidence}: r Fisher, accuracy jackknife over systems, as if these were drawn from many; none for a "
        "perfect order."
    )


def breakdown_table(gold: GoldEvaluation, breakdown: Breakdown, options: Options) -> Table:
    """Return r within groups, and its mean over groups in the last column."""
    titles = [*breakdown.groups, "mean"]
    rows: list[list[Cell]] = [
        [text(metric), *map(correlation, group_r), correlation(mean)]
        for metric, group_r, mean in zip(
            breakdown.metrics, breakdown.r, breakdown.mean, strict=True
        )
    ]
    rows.append([text("n"), *map(count, breakdown.n), count(sum(breakdown.n))])
    return Table(
        name=f"by-{breakdown.by}-{gold.gold.name}",
        caption=f"Pearson correlation with {gold.gold.name} by {breakdown.by}",
        columns=[Column("metric", is_number=False), *map(Column, titles)],
        rows=rows,
        note=f"{sample(gold, options)} mean: unweighted mean over groups that have a correlation.",
        lines_after=frozenset({len(rows) - 2}),
    )


def breakdown_csv(breakdown: Breakdown) -> bytes:
    """Return a CSV with a row for every metric and group."""
    rows = [
        (metric, group, n, r)
        for metric, group_r in zip(breakdown.metrics, breakdown.r, strict=True)
        for group, n, r in zip(breakdown.groups, breakdown.n, group_r, strict=True)
    ]
    return to_csv(("metric", breakdown.by, "n", "r"), rows)


def comparison_table(comparison: GoldComparison, result: EvaluationResult) -> Table:
    """Return r and rank of every metric under two golds, and the change in rank.

    Predictions of HTER also have their mean absolute error and its rank.
    """
    first, second, level = comparison.first, comparison.second, comparison.level
    shown_level = result.options.level if level == "segment" else level
    golds = [gold for gold in result.golds if gold.gold.name in (first, second)]
    errors = {
        gold.gold.name: {row.metric: row.mae.estimate for row in gold.predictions}
        for gold in golds
        if gold.gold.kind == "hter" and gold.predictions and level == "segment"
    }
    titles = [f"r {first}", f"rank {first}", f"r {second}", f"rank {second}", "change"]
    for name in errors:
        titles += [f"MAE {name}", f"rank by MAE {name}"]
    rows = []
    for row in comparison.changes:
        cells = [
            text(row.metric),
            correlation(row.first_r, bold=row.wins_first),
            count(row.first_rank),
            correlation(row.second_r, bold=row.wins_second),
            count(row.second_rank),
            signed(row.change),
        ]
        for by_metric in errors.values():
            cells += _error_and_rank(row.metric, by_metric)
        rows.append(cells)
    return Table(
        name=f"compared-{level}-{first}-{second}",
        caption=f"{shown_level.capitalize()}-level correlations with {first} and with {second}",
        columns=[Column("metric", is_number=False), *map(Column, titles)],
        rows=rows,
        note=_comparison_note(comparison, golds, result.options),
    )


def _error_and_rank(metric: str, errors: Mapping[str, float | None]) -> list[Cell]:
    """Return the error of one metric and its rank among all; the smallest error ranks first."""
    error = errors.get(metric)
    if error is None:
        return [number(None), number(None)]
    rank = 1 + sum(other is not None and other < error for other in errors.values())
    return [number(error), count(rank)]


def _comparison_note(
    comparison: GoldComparison, golds: Sequence[GoldEvaluation], options: Options
) -> str:
    note = "Ranks by r. change: ranks gained under the second gold."
    if any(row.wins_first or row.wins_second for row in comparison.changes):
        tests = [gold.test_of(comparison.level, "pearson") for gold in golds]
        sentences = {bold_sentence(test, options) for test in tests}
        # They differ if the golds have different metrics or units.
        note += f" {sentences.pop() if len(sentences) == 1 else bold_sentence(None, options)}"
    if (between := comparison.between) is not None:
        note += (
            f" The two golds correlate at r = {correlation(between.estimate).text} over the "
            f"{between.n:,} translations that have both."
        )
    return note


def contradictions_table(contrast: Contrast, options: Options) -> Table:
    """Return the translations on which two scores contradict each other most."""
    first, second = contrast.first, contrast.second
    titles = [first, f"z {first}", second, f"z {second}"]
    rows = [
        [
            text(row.system),
            text(row.segment),
            number(row.first),
            number(row.first_z, 2),
            number(row.second),
            number(row.second_z, 2),
        ]
        for row in contrast.contradictions
    ]
    n_all = contrast.n_good_by_first + contrast.n_good_by_second
    shown = "" if n_all == len(rows) else f" The {len(rows)} with the greatest difference of z."
    return Table(
        name=f"contradictions-{first}-{second}",
        caption=f"Translations on which {first} and {second} contradict each other",
        columns=[
            Column("system", is_number=False),
            Column(options.level, is_number=False),
            *map(Column, titles),
        ],
        rows=rows,
        note=(
            f"Of {contrast.n:,} translations, {contrast.n_good_by_first:,} are better than average by {first} only, and "
            f"{contrast.n_good_by_second:,} by {second} only; {contrast.n_good_by_both:,} by both and "
            f"{contrast.n_good_by_neither:,} by neither. z: standardised, with higher better.{shown}"
        ),
    )


def _value(estimate: Estimate | None, *, bold: bool = False) -> Cell:
    return correlation(None if estimate is None else estimate.estimate, bold=bold)


def _confidence(options: Options) -> str:
    return f"{options.confidence * 100:g} %"


def _with_r(options: Options, titles: list[str]) -> list[Column]:
    """Return the columns for metric, r and its interval, followed by others."""
    interval_column = Column(f"{_confidence(options)} interval", parts=ENDS)
    return [Column("metric", is_number=False), Column("r"), interval_column, *map(Column, titles)]
