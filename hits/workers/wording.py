"""Evidence in words, the same on pages and in the audit log."""

from analysis.stats.thresholds import MINIMUM_PAIRS, RELIABLE_P, WINDOW_HITS

from ..models import Evidence


def p_in_digits(p: float) -> str:
    """Write a p-value with four digits, or as `< 0.0001`."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def p_in_words(p: float | None) -> str:
    """The same within a sentence."""
    if p is None:
        return "p unknown"
    return f"p {p_in_digits(p)}" if p < 0.0001 else f"p = {p_in_digits(p)}"


def pairs_in_words(evidence: Evidence) -> str:
    """Say whether the worker distinguishes degraded from genuine items, and on what evidence."""
    pairs = f"{evidence.n_pairs} pairs"
    if evidence.n_pairs < MINIMUM_PAIRS or evidence.p is None:
        return f"Too little evidence: {pairs}, and at least {MINIMUM_PAIRS} are needed."
    tells = "Tells" if evidence.p < RELIABLE_P else "Does not tell"
    return f"{tells} degraded from genuine: {p_in_words(evidence.p)}, {pairs}."


def window_in_words(evidence: Evidence) -> str:
    if evidence.window_p is None or evidence.window_n_pairs < MINIMUM_PAIRS:
        return ""
    return (
        f"In the latest {WINDOW_HITS} HITs: {p_in_words(evidence.window_p)}, "
        f"{evidence.window_n_pairs} pairs."
    )


def repeats_in_words(evidence: Evidence) -> str:
    apart = evidence.repeat_mean_absolute_difference
    if apart is None:
        return "No text has been rated twice yet."
    text = f"Repeated texts: {apart:.1f} points apart on average, over {evidence.n_repeats} pairs."
    if evidence.repeat_p is None:
        return text
    if evidence.repeat_p < RELIABLE_P:
        way = "higher" if (evidence.repeat_mean_difference or 0) > 0 else "lower"
        return f"{text} The second rating is significantly {way}: {p_in_words(evidence.repeat_p)}."
    return f"{text} Neither rating is significantly higher: {p_in_words(evidence.repeat_p)}."
