"""The names of measures and tests, as tables, figures and pages show them."""

from ..stats.thresholds import bare
from .results import Comparison, GoldEvaluation, Level, Measure, Options, PredictionComparison

MEASURE_NAMES: dict[Measure, str] = {
    "pearson": "Pearson r",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "acc_eq": "acc_eq",
    "accuracy": "pairwise accuracy",
    "spa": "soft pairwise accuracy",
    "mae": "MAE",
    "delta_avg": "DeltaAvg",
}


_TESTS = {"t": "t test", "permutation": "permutation", "bootstrap": "paired bootstrap"}


def level_name(level: Level, options: Options) -> str:
    """Return the name of a level; documents may take the place of segments."""
    return f"{options.level if level == 'segment' else level} level"


def rows_name(options: Options) -> str:
    """Return what is evaluated, in the plural."""
    return "translations" if options.level == "segment" else "translated documents"


def name_of_test(comparison: Comparison) -> str:
    """Return the test, and what it takes as independent."""
    if comparison.test == "williams":
        return "Williams test"
    return f"{_TESTS[comparison.test]} by {comparison.unit}"


def level_and_correction(comparison: Comparison | PredictionComparison, options: Options) -> str:
    """Return the significance level, and how p-values were adjusted for their number."""
    level = f"p < {bare(options.alpha)}"
    if comparison.correction == "none":
        return level
    n_tests = sum(p is not None for row in comparison.pvalue for p in row)
    return f"{level} after Holm's correction for {n_tests:,} tests"


def bold_sentence(comparison: Comparison | None, options: Options) -> str:
    """Explain which test decides what is in bold."""
    bold = "Bold: not significantly outperformed by any other metric"
    if comparison is None and not options.is_published:
        return f"{bold}, as tested for each gold."
    if comparison is None:
        test, level = "Williams test", f"p < {bare(options.alpha)}"
    else:
        test, level = name_of_test(comparison), level_and_correction(comparison, options)
    return f"{bold} ({test}, one-sided, {level}{_as_published(comparison, options)})."


def _as_published(comparison: Comparison | None, options: Options) -> str:
    """Say what the published tests leave out."""
    if not options.is_published:
        return ""
    if comparison is not None and comparison.level == "segment":
        return f"; as published: all {rows_name(options)} count as independent, no correction"
    return "; as published: no correction"


def unit_sentence(comparison: Comparison) -> str:
    """Explain what a test takes as independent."""
    unit = comparison.unit
    if comparison.is_by_segment and comparison.level == "system":
        sentence = (
            f"Intervals resample the {comparison.n_units:,} {unit}s, tests swap metrics {unit} by {unit}; "
            "the systems stay the same."
        )
        if comparison.n_by_system:
            sentence += (
                f" {comparison.n_by_system:,} pairs with a metric that is not a mean over {unit}s are tested "
                "by system (r: Williams)."
            )
        return sentence
    if comparison.is_by_segment:
        return (
            f"Only the {comparison.n_units:,} {unit}s count as independent, not the translations of one "
            f"{unit}."
        )
    return ""


def sample(gold: GoldEvaluation, options: Options) -> str:
    """Return the number of translations, segments or documents, and systems."""
    facts = gold.gold
    by = f" by {facts.n_systems} systems" if facts.n_systems > 1 else ""
    return f"n = {facts.n:,} translations of {facts.n_segments:,} {options.level}s{by}."
