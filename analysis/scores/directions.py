"""Which way a metric goes. A file or its owner says so; a name only suggests it, and somebody must agree."""

import re
from dataclasses import dataclass

# Error rates and distances: more is worse.
_LOWER = {"ter", "wer", "per", "cder", "cer", "mer", "eed", "character", "ppl", "perplexity"}
_LOWER |= {"editdistance", "levenshtein", "wmd", "errors", "penalty", "metricx"}
_HIGHER = {"bleu", "sbleu", "spbleu", "sentbleu", "chrf", "meteor", "comet", "xcomet", "cometkiwi"}
_HIGHER |= {"cometoid", "bleurt", "bertscore", "yisi", "beer", "nist", "prism", "rouge", "unite"}
_HIGHER |= {"gleu", "hlepor", "ribes", "simile", "matese"}
_WORDS = {"higher": True, "lower": False}
_ARROWS = {"↑": True, "↓": False}
# What a reference or test set adds to a name: BLEU-refA, COMET-QE.
_ADDED = re.compile("ref[a-z]?|src|qe|sysname")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a metric's name, or its format, says of its direction, and why we think so."""

    higher_is_better: bool
    reason: str

    @property
    def word(self) -> str:
        return "higher" if self.higher_is_better else "lower"


def split_declared(title: str) -> tuple[str, bool | None]:
    """Take a declared direction off a column's title: `TER:lower` or `TER↓`, `chrF:higher` or `chrF↑`."""
    # By hand: a pattern that looks for the end of the name from its beginning takes hours for many spaces.
    if title[-1:] in _ARROWS and (name := title[:-1].rstrip()):
        return name, _ARROWS[title[-1]]
    before, colon, word = title.rpartition(":")
    if colon and word.lstrip() in _WORDS and (name := before.rstrip()):
        return name, _WORDS[word.lstrip()]
    return title, None


def suggest_direction(name: str) -> Suggestion | None:
    """Suggest which way a metric goes by its name; None for a name that says nothing.

    Parameters
    ----------
    name : str

    Returns
    -------
    Suggestion or None
        Never to be used unasked: people store error rates with the sign turned, under the same name.
    """
    plain = _without_additions(name.casefold())
    if "mqm" in plain and ("error" in plain or "penalt" in plain):
        return Suggestion(False, f"{name} seems to count errors")
    words = re.findall("[a-z]+", plain)
    for word in (*words, "".join(words)):
        # Human-targeted ones have an H before the name: HTER, HBLEU.
        for known in (word, word.removeprefix("h")):
            if known in _LOWER:
                return Suggestion(False, f"{name} seems to be an error rate or a distance")
            if known in _HIGHER:
                return Suggestion(True, f"{name} seems to measure similarity or quality")
    return None


def _without_additions(name: str) -> str:
    while (parts := name.rpartition("-"))[1] and _ADDED.fullmatch(parts[2]):
        name = parts[0]
    return name
