"""How much of a text an editor changed: edits of words, or of characters where words are not spaced."""

from functools import lru_cache

from rapidfuzz.distance import Levenshtein

from ..campaigns.degradation import unit_spans

# Texts whose words are kept in memory: a worker's HITs are weighed again after each of them.
N_KEPT = 20_000


@lru_cache(N_KEPT)
def units_of(text: str, spaced: bool) -> tuple[str, ...]:
    """Return the words of a text as a reader counts them; case and punctuation matter."""
    return tuple(text[start:end] for start, end in unit_spans(text, spaced=spaced))


def n_edits(text: str, other: str, *, spaced: bool) -> int:
    """Return the smallest number of words inserted, removed or replaced that turns one text into the other."""
    return Levenshtein.distance(units_of(text, spaced), units_of(other, spaced))


def share_changed(shown: str, edited: str, *, spaced: bool) -> float:
    """Return the edits for each word of the longer of the two texts, from 0 (untouched) to 1."""
    length = max(len(units_of(shown, spaced)), len(units_of(edited, spaced)))
    return n_edits(shown, edited, spaced=spaced) / length if length else 0.0


def changed_spans(shown: str, edited: str, *, spaced: bool) -> list[tuple[str, str, str]]:
    """Return the two texts in parts, in order: what happened (`equal`, `delete`, `insert` or `replace`) and both wordings."""
    before, after = units_of(shown, spaced), units_of(edited, spaced)
    gap = " " if spaced else ""
    return [
        (
            part.tag,
            gap.join(before[part.src_start : part.src_end]),
            gap.join(after[part.dest_start : part.dest_end]),
        )
        for part in Levenshtein.opcodes(before, after)
    ]
