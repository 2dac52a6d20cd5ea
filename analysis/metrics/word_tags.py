"""Word tags from post-editions, and between word tags and error spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rapidfuzz.distance import Levenshtein

from .edits import Words, as_characters


@dataclass(frozen=True, slots=True)
class EditTags:
    """The tags that a post-edition gives to a translation, True for BAD.

    `gaps` has one tag more than `words`: a gap is BAD if the post-edition inserts words there. The first gap is
    before the first word.
    """

    words: list[bool]
    gaps: list[bool]


def tags_from_post_edition(
    translation: Words, post_edition: Words, *, ignore_case: bool = False
) -> EditTags:
    """Tag the words that a post-edition replaces or deletes, and the gaps where it inserts.

    The texts are aligned by the fewest insertions, deletions and replacements of words, as TER does without
    shifts [1]_. Where several alignments are equally short, it is always the same one.

    Parameters
    ----------
    translation, post_edition : sequence of str
        Words.
    ignore_case : bool

    Returns
    -------
    EditTags

    References
    ----------
    .. [1] Bojar et al. Findings of the 2015 Workshop on Statistical Machine Translation. WMT 2015.
       Section 4.2.
    """
    if ignore_case:
        translation = [word.lower() for word in translation]
        post_edition = [word.lower() for word in post_edition]
    tags = EditTags([False] * len(translation), [False] * (len(translation) + 1))
    for edit in Levenshtein.editops(*as_characters(translation, post_edition)):
        if edit.tag == "insert":
            tags.gaps[edit.src_pos] = True
        else:
            tags.words[edit.src_pos] = True
    return tags


# The first character of a span, and the one after its last.
Span = tuple[int, int]


def tags_from_spans(text: str, spans: Sequence[Span]) -> list[bool]:
    """Tag the words of a text, True for those that share a character with an error span.

    Parameters
    ----------
    text : str
        Its words are separated by spaces.
    spans : sequence of (start, end)
        An empty span marks nothing.

    Returns
    -------
    list of bool
    """
    return [
        any(start < end and start < last and first < end for start, end in spans)
        for first, last in word_places(text)
    ]


def spans_from_tags(text: str, tags: Sequence[bool]) -> list[Span]:
    """Return a span for each run of BAD words, from its first character to the end of its last word."""
    places = word_places(text)
    if len(places) != len(tags):
        raise ValueError("`tags` must have one element per word of `text`")
    spans = []
    for is_bad, run in groupby(zip(places, tags, strict=True), lambda pair: bool(pair[1])):
        words = [place for place, _ in run]
        if is_bad:
            spans.append((words[0][0], words[-1][1]))
    return spans


def word_places(text: str) -> list[Span]:
    """Return where each word of a text starts and ends."""
    places, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        places.append((start, end))
    return places
