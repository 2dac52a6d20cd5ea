"""The names of measures and tests, as tables, figures and pages show them."""

from ..stats.thresholds import bare
from .results import Comparison, Level, Measure, Options, PredictionComparison

MEASURE_NAMES: dict[Measure, str] = {
    "pearson": "Pearson r",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "acc_eq": "acc_eq",
    "accuracy": "pairwise accuracy",
    "spa": "soft pairwise accuracy",
}
LEVEL_NAMES: dict[Level, str] = {"segment": "segment level", "system": "system level"}


def name_of_test(comparison: Comparison) -> str:
    """Return the test, and what it takes as independent."""
    if comparison.test == "williams":
        return "Williams test"
    return f"{'t test' if comparison.test == 't' else 'permutation'} by {comparison.unit}"


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
    if comparison is None:
        if options.is_published:
            return f"{bold} (Williams test, one-sided, p < {bare(options.alpha)})."
        return f"{bold}, as tested for each gold."
    return f"{bold} ({name_of_test(comparison)}, one-sided, {level_and_correction(comparison, options)})."


def unit_sentence(comparison: Comparison) -> str:
    """Explain what a test takes as independent."""
    if comparison.unit == "segment" and comparison.level == "system":
        sentence = (
            f"Intervals resample the {comparison.n_units:,} segments, tests swap metrics segment by segment; "
            "the systems stay the same."
        )
        if comparison.n_by_system:
            sentence += (
                f" {comparison.n_by_system:,} pairs with a metric that is not a mean over segments are tested "
                "by system (r: Williams)."
            )
        return sentence
    if comparison.unit == "segment":
        return (
            f"Only the {comparison.n_units:,} segments count as independent, not the translations of one "
            "segment."
        )
    return ""
