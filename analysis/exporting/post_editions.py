"""Post-editions in the layouts of WMT's tasks: quality estimation (QE) and automatic post-editing (APE).

Each file of the archive has a line for each post-edition, in the same order: outputs by segment, then by editor. Only
post-editions by trusted editors are in it, of outputs and not of hidden items, after the check of those that were checked.
"""

from collections.abc import Callable, Iterator, Sequence
from math import nan

from rapidfuzz.distance import Levenshtein

from hits.models import Campaign
from hits.post_editing.arrays import EditedOutput, load_edited_outputs

from .batches import Batch
from .queries import Column, Kind

# The files of each layout: source, output and post-edition; HTER; the words of the output and a tag for each; seconds
# of editing; and which output it is.
LAYOUTS: dict[str, tuple[str, ...]] = {
    "wmt-qe": ("src", "mt", "pe", "hter", "mt_tok", "tags", "seconds", "names"),
    "wmt-ape": ("src", "mt", "pe", "names"),
}
OK, BAD = "OK", "BAD"
_NUMBERS = ("hter", "seconds")

Words = Callable[[str], list[str]]


def edited_rows(campaign: Campaign, format: str) -> tuple[Sequence[Column], Batch]:
    """Return the lines of each file of a layout."""
    names = LAYOUTS[format]
    # Without sacreBLEU, which is slow to import, where HTER is not asked for.
    score = _scorer(campaign.target_language) if "hter" in names else None
    rows = [
        lines_of(edit) | (score(edit) if score else {})
        for edit in load_edited_outputs(campaign, trusted_only=True)
    ]
    columns = [Column(name, Kind.NUMBER if name in _NUMBERS else Kind.TEXT) for name in names]
    return columns, [[row[name] for row in rows] for name in names]


def lines_of(edit: EditedOutput) -> dict[str, object]:
    return {
        "src": edit.source,
        "mt": edit.shown,
        "pe": edit.final,
        "seconds": nan if edit.seconds is None else edit.seconds,
        "names": f"{edit.segment}\t{'|'.join(edit.systems)}",
    }


def _scorer(language: str) -> Callable[[EditedOutput], dict[str, object]]:
    """Return a function that computes HTER as gold has it, and tags the words."""
    from ..metrics.catalogue import tokeniser_for, words_of
    from ..post_editions.collected import hter_of

    hter, words = hter_of(language), words_of(tokeniser_for(language))

    def score(edit: EditedOutput) -> dict[str, object]:
        output = words(edit.shown)
        return {
            "hter": hter(edit.shown, edit.final),
            "mt_tok": " ".join(output),
            "tags": " ".join(word_tags(output, words(edit.final))),
        }

    return score


def word_tags(output: Sequence[str], edited: Sequence[str]) -> Iterator[str]:
    """Tag each word of an output: BAD if the editor replaced or removed it, otherwise OK.

    The two texts are aligned by the edit distance of words without shifts, ignoring case as HTER does.
    """
    before, after = ([word.lower() for word in words] for words in (output, edited))
    for part in Levenshtein.opcodes(before, after):
        yield from [OK if part.tag == "equal" else BAD] * (part.src_end - part.src_start)
