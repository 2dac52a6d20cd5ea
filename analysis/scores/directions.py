"""Whether higher or lower is better. Files or people declare it; a name only suggests it."""

import re
from dataclasses import dataclass

# Error rates and distances.
_LOWER = {"ter", "wer", "per", "cder", "cer", "mer", "eed", "character", "ppl", "perplexity"}
_LOWER |= {"editdistance", "levenshtein", "wmd", "errors", "penalty", "metricx"}
_HIGHER = {"bleu", "sbleu", "spbleu", "sentbleu", "chrf", "meteor", "comet", "xcomet", "cometkiwi"}
_HIGHER |= {"cometoid", "bleurt", "bertscore", "yisi", "beer", "nist", "prism", "rouge", "unite"}
_HIGHER |= {"gleu", "hlepor", "ribes", "simile", "matese"}
_WORDS = {"higher": True, "lower": False}
_ARROWS = {"↑": True, "↓": False}
# Suffixes added to a metric's name: BLEU-refA, COMET-QE.
_SUFFIX = re.compile("ref[a-z]?|src|qe|sysname")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The direction that a metric's name or format suggests, and why."""

    higher_is_better: bool
    reason: str

    @property
    def word(self) -> str:
        return "higher" if self.higher_is_better else "lower"


def split_declared(title: str) -> tuple[str, bool | None]:
    """Split a column title such as `TER:lower`, `TER↓` or `chrF:higher` into name and direction."""
    # Not a regular expression: backtracking over a title of many spaces would take hours.
    if title[-1:] in _ARROWS and (name := title[:-1].rstrip()):
        return name, _ARROWS[title[-1]]
    before, colon, word = title.rpartition(":")
    if colon and word.lstrip() in _WORDS and (name := before.rstrip()):
        return name, _WORDS[word.lstrip()]
    return title, None


def suggest_direction(name: str) -> Suggestion | None:
    """Suggest the direction of a metric from its name; None if the name does not suggest any.

    Parameters
    ----------
    name : str

    Returns
    -------
    Suggestion or None
        Must be confirmed by a person: error rates are often stored negated under the same name.
    """
    plain = _without_suffixes(name.casefold())
    if "mqm" in plain and ("error" in plain or "penalt" in plain):
        return Suggestion(False, f"{name} seems to count errors")
    words = re.findall("[a-z]+", plain)
    for word in (*words, "".join(words)):
        # Human-targeted metrics have an H before the name: HTER, HBLEU.
        for candidate in (word, word.removeprefix("h")):
            if candidate in _LOWER:
                return Suggestion(False, f"{name} seems to be an error rate or a distance")
            if candidate in _HIGHER:
                return Suggestion(True, f"{name} seems to measure similarity or quality")
    return None


def _without_suffixes(name: str) -> str:
    while (parts := name.rpartition("-"))[1] and _SUFFIX.fullmatch(parts[2]):
        name = parts[0]
    return name
