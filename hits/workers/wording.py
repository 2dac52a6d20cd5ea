"""Evidence in words, the same on pages and in the audit log."""

from collections.abc import Mapping
from typing import Any

from analysis.stats.flags import LONGEST_EQUAL_RUN
from analysis.stats.likeness import LIKENESS_R
from analysis.stats.ranking_control import AGAINST_P as RANKING_AGAINST_P
from analysis.stats.ranking_control import ENOUGH_DEGRADED, FEWEST_AGAINST
from analysis.stats.thresholds import (
    AGREEMENT_P,
    FEWEST_AGREEMENT_ITEMS,
    FEWEST_OTHERS,
    MINIMUM_PAIRS,
    RELIABLE_P,
    WINDOW_HITS,
)
from analysis.stats.timing import (
    CLAIM_SLACK_SECONDS,
    CLAIM_TOLERANCE,
    FAST_SECONDS,
    claims_too_much,
)

from ..models import Evidence

# What the measures behind the likeness to a formula are called in a sentence.
MEASURES = {
    "word F1": "the word overlap with the gray text",
    "chrF": "chrF against the gray text",
    "BLEU": "BLEU against the gray text",
    "length": "the length of the text",
}


def p_in_digits(p: float) -> str:
    """Write a p-value with four digits, or as `< 0.0001`."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def p_in_words(p: float | None) -> str:
    """The same within a sentence."""
    if p is None:
        return "p unknown"
    return f"p {p_in_digits(p)}" if p < 0.0001 else f"p = {p_in_digits(p)}"


def is_of_ranking(evidence: Any) -> bool:
    """Whether the evidence is about someone who ranks: see `hits.ranking.weighing`."""
    return "share_last" in evidence.details


def is_of_editing(evidence: Any) -> bool:
    """Whether the evidence is about an editor: see `hits.post_editing.evidence`."""
    return "typed" in evidence.details


def pairs_in_words(evidence: Evidence) -> str:
    """Say whether the worker distinguishes degraded from genuine items, and on what evidence."""
    if is_of_ranking(evidence):
        return _degraded_last_in_words(evidence)
    pairs = f"{evidence.n_pairs} pairs"
    if evidence.n_pairs < MINIMUM_PAIRS or evidence.p is None:
        return f"Too little evidence: {pairs}, and at least {MINIMUM_PAIRS} are needed."
    tells = "Tells" if evidence.p < RELIABLE_P else "Does not tell"
    return f"{tells} degraded from genuine: {p_in_words(evidence.p)}, {pairs}."


def _degraded_last_in_words(evidence: Evidence) -> str:
    if not evidence.n_pairs:
        return "No degraded output has been ranked yet."
    return (
        f"Ranked {evidence.details['n_last']} of {evidence.n_pairs} degraded outputs last, alone, and "
        f"{evidence.details.get('n_best', 0)} first: {p_in_words(evidence.p)} (exact test against chance). Reliable below {RELIABLE_P:g}; unreliable above "
        f"{RANKING_AGAINST_P:g} after {FEWEST_AGAINST} outputs, or if {ENOUGH_DEGRADED} were not enough."
    )


def kappa_in_words(fact: Mapping[str, Any], whom: str) -> str:
    """Say how far someone who ranks agrees with whom, from a kappa in the details of the evidence."""
    if fact["kappa"] is None:
        return f"Nothing to compare yet with {whom}."
    return (
        f"Agrees with {whom} with kappa = {fact['kappa']:.2f} ({fact['word']}, as in Landis and Koch) over "
        f"{fact['n']} comparisons of the same two outputs."
    )


def skips_in_words(evidence: Evidence) -> str:
    n, share = evidence.details["n_skipped"], evidence.details.get("share_skipped")
    if not n:
        return "Skipped no screen."
    of_all = "" if share is None else f", {share:.0%} of those shown"
    return f"Skipped {n} screen{'s' if n > 1 else ''}{of_all}."


def window_in_words(evidence: Evidence) -> str:
    if evidence.window_p is None or evidence.window_n_pairs < MINIMUM_PAIRS:
        return ""
    if is_of_ranking(evidence):
        n = evidence.window_n_pairs
        return f"Of the latest {n} degraded outputs: {p_in_words(evidence.window_p)}."
    return (
        f"In the latest {WINDOW_HITS} HITs: {p_in_words(evidence.window_p)}, "
        f"{evidence.window_n_pairs} pairs."
    )


def repeats_in_words(evidence: Evidence) -> str:
    apart = evidence.repeat_mean_absolute_difference
    is_edited = is_of_editing(evidence)
    if apart is None:
        return f"No text has been {'edited' if is_edited else 'rated'} twice yet."
    apart_in = "percentage points of what was kept apart" if is_edited else "points apart"
    text = f"Repeated texts: {apart:.1f} {apart_in} on average, over {evidence.n_repeats} pairs."
    if evidence.repeat_p is None:
        return text
    is_more = (evidence.repeat_mean_difference or 0) > 0
    if evidence.repeat_p >= RELIABLE_P:
        neither = "Neither edit keeps" if is_edited else "Neither rating is"
        more = "significantly more" if is_edited else "significantly higher"
        return f"{text} {neither} {more}: {p_in_words(evidence.repeat_p)}."
    if is_edited:
        way = f"The second edit keeps significantly {'more' if is_more else 'less'}"
    else:
        way = f"The second rating is significantly {'higher' if is_more else 'lower'}"
    return f"{text} {way}: {p_in_words(evidence.repeat_p)}."


def agreement_in_words(evidence: Evidence) -> str:
    """Say whether the worker's scores or ranks follow those of the other trusted workers."""
    if is_of_ranking(evidence):
        text = kappa_in_words(evidence.details["others_kappa"], "trusted others")
        p = evidence.agreement_p
        return text if p is None else f"{text} More than chance: {p_in_words(p)}."
    n = evidence.n_agreement_items
    if n < FEWEST_AGREEMENT_ITEMS:
        return (
            f"Too early to compare with the others: {_texts(n)} have ratings by at least "
            f"{FEWEST_OTHERS} other trusted workers, and {FEWEST_AGREEMENT_ITEMS} are needed."
        )
    if evidence.agreement_p is None:
        return (
            f"Cannot be compared with the others on {_texts(n)}: they do not agree themselves yet."
        )
    if evidence.agreement_r is None:
        return f"Scores cannot follow those of the others on {_texts(n)}: they never vary."
    numbers = f"r = {evidence.agreement_r:.2f} on {_texts(n)}, {p_in_words(evidence.agreement_p)}"
    if evidence.agreement_p < AGREEMENT_P:
        return f"Scores follow those of the others: {numbers}."
    return f"Scores do not follow those of the others: {numbers}, not below {AGREEMENT_P:g}."


def likeness_in_words(evidence: Evidence) -> str:
    """Say which formula the worker's scores follow most."""
    if evidence.likeness_r is None:
        return "Nothing to compare the scores with: there is no gray text, or they never vary."
    measure, r = measure_in_words(evidence.likeness_measure), f"r = {evidence.likeness_r:.2f}"
    if evidence.has_likeness_flag:
        return (
            f"Scores look computed: they follow {measure}, {r}. Readers stay below {LIKENESS_R:g}."
        )
    limit = f"From {LIKENESS_R:g} on, in either direction, they look computed."
    return f"Scores are closest to {measure}: {r}. {limit}"


def measure_in_words(measure: str) -> str:
    return MEASURES.get(measure, measure)


def times_in_words(evidence: Evidence) -> str:
    """Say how fast ratings reached the server, and how many HITs had impossible times."""
    if evidence.median_gap_seconds is None or evidence.share_fast is None:
        return f"The server's times are unknown. {_held_in_words(evidence.n_held_hits)}"
    return (
        "By the server's clock, the fastest HIT has "
        f"{evidence.median_gap_seconds:.1f} s from one rating to the next (median); "
        f"{evidence.share_fast:.0%} came within {FAST_SECONDS:g} s. {_held_in_words(evidence.n_held_hits)}"
    )


def _held_in_words(n: int) -> str:
    if not n:
        return "No HIT had impossible times."
    hits = "1 HIT that does" if n == 1 else f"{n} HITs that do"
    return f"Times were impossible in {hits} not count."


def run_in_words(evidence: Evidence) -> str:
    return (
        f"Longest run of equal scores: {evidence.longest_run}; up to {LONGEST_EQUAL_RUN} can be "
        "honest."
    )


def claims_in_words(evidence: Evidence) -> str:
    """Compare the reading time that the browser claimed with the time that passed."""
    if evidence.claimed_seconds is None or evidence.passed_seconds is None:
        return "The browser reported no reading time."
    text = (
        f"The browser claimed {duration(evidence.claimed_seconds)} of reading, and "
        f"{duration(evidence.passed_seconds)} passed."
    )
    if not claims_too_much(evidence.claimed_seconds, evidence.passed_seconds):
        return text
    more = f"{CLAIM_TOLERANCE - 1:.0%} and {CLAIM_SLACK_SECONDS:g} s"
    return f"{text} That is over {more} more than is possible."


def duration(seconds: float) -> str:
    """Write a time as minutes and seconds, or as hours and minutes."""
    minutes, remainder = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {remainder:02d} s" if minutes else f"{remainder} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def _texts(n: int) -> str:
    return "1 text" if n == 1 else f"{n} texts"


# How a text can come about without being edited, with its words.
NOT_EDITED = {
    "emptied": "emptied",
    "pasted": "pasted from outside",
    "copied": "replaced by the reference",
}


# A sign of a script, but also of dictation and some keyboards of phones, so that it holds no HIT.
INSERTED = {"inserted": "changed without a key or a paste"}

# All ways, the usual ones first.
ORIGINS = {"typed": "typed", "unchanged": "left unchanged"} | INSERTED | NOT_EDITED


def edits_in_words(evidence: Evidence) -> str:
    """Say how the editor's texts came about."""
    return origins_in_words(evidence.details)


def origins_in_words(counts: Mapping[str, int]) -> str:
    """Say how many texts came about in which way."""
    unusual = NOT_EDITED | INSERTED
    parts = [f"{counts[name]} {words}" for name, words in unusual.items() if counts.get(name)]
    parts += [f"{counts.get(name, 0)} {ORIGINS[name]}" for name in ("unchanged", "typed")]
    n_texts = sum(counts.get(name, 0) for name in ORIGINS)
    return f"Of {n_texts} texts: {', '.join(parts)}."


def references_in_words(evidence: Evidence) -> str:
    """Say how many hidden references, which need no change, an editor changed."""
    n, n_changed = (evidence.details[name] for name in ("n_references", "n_references_changed"))
    return f"Changed {n_changed} of {n} hidden references, which need no change."
