"""Words that need a sentence where they appear. The glossary explains them at length, under the same names."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A word, one sentence about it, and its heading in the glossary."""

    word: str
    sentence: str
    anchor: str


def _term(word: str, sentence: str) -> Term:
    return Term(word, sentence, word.lower().replace(" ", "-"))


TERMS = {
    "places": _term("Places", "How many more workers may take a HIT now."),
    "promised": _term(
        "Promised",
        "Work that counts or may still count, so that its place is not offered to anyone else.",
    ),
    "reliable": _term(
        "Reliable", "The evidence shows that the worker reads the texts. The ratings count."
    ),
    "drifting": _term(
        "Drifting",
        "Reliable over all HITs, but not in the latest ones. The campaign says which ratings count.",
    ),
    "unreliable": _term(
        "Unreliable", "The evidence speaks against the worker. The ratings do not count."
    ),
    "unproven": _term(
        "Unproven",
        "There is too little evidence about the worker, so the ratings do not count yet.",
    ),
    "trusted": _term(
        "Trusted", "A worker whose ratings count: by the evidence, or because a person decided so."
    ),
    "gold": _term(
        "Gold", "The mean z of a translation’s trusted ratings; metrics are evaluated against it."
    ),
    "z": _term(
        "z",
        "A score on its worker’s own scale: 0 is that worker’s average, 1 is one standard deviation above.",
    ),
    "document": _term(
        "Document",
        "Consecutive segments that belong together; its score is the mean of its segments’ scores.",
    ),
    "cluster": _term(
        "Cluster",
        "Every system in a cluster is significantly better than every system in those below.",
    ),
    # Flags, under the names of the published files.
    "scrs": _term(
        "Scores out of order",
        "The mean scores do not rise from degraded texts over genuine ones to references.",
    ),
    "time": _term("Very fast", "The fastest HIT took less time than it takes to read the texts."),
    "seq": _term("Equal scores in a row", "Many consecutive scores are the same."),
    "rej": _term("Work rejected before", "An admin rejected work of this worker."),
    "like": _term(
        "Scores like a formula",
        "The scores follow word overlap or length, as those of a script do.",
    ),
    "held": _term(
        "HITs held",
        "Nobody can have read the texts in that time, or they were skipped or not edited; a person decides whether "
        "they count.",
    ),
}
