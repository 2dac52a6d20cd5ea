"""Post-editions with what they say about their outputs, pairs of editors, and the layouts of WMT's tasks.

Those are quality estimation (QE) and automatic post-editing (APE). Each file of the archive has a line for each post-edition, in
the same order: outputs by segment, then by editor. Only post-editions by trusted editors are in it, of outputs and not of
hidden items, after the check of those that were checked.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from math import nan
from typing import Any

from analysis.stats.roles import Role
from da_platform.files.cells import join_names
from hits.models import Campaign, Worker
from hits.post_editing.arrays import EditedOutput, load_edited_outputs

from .batches import Batch, read_batches
from .queries import Column, Kind, Query
from .queries import post_editions as edits_query

# The files of each layout: source, output and post-edition; HTER; the words of the output and a tag for each; seconds
# of editing; which output it is, and whose post-edition.
LAYOUTS: dict[str, tuple[str, ...]] = {
    "wmt-qe": ("src", "mt", "pe", "hter", "mt_tok", "tags", "seconds", "names", "editors"),
    "wmt-ape": ("src", "mt", "pe", "names", "editors"),
}
OK, BAD = "OK", "BAD"
_KINDS = {"hter": Kind.NUMBER, "seconds": Kind.NUMBER, "editors": Kind.WORKER}

Words = Callable[[str], list[str]]

# What a table of post-editions has besides its query: times, and HTER and its kin, of outputs and not of hidden items.
TIMES = ("pet", "per")
KIN = ("hter", "hbleu", "hwer", "hper", "hcder")
MEASURES = tuple(Column(name, Kind.NUMBER) for name in (*TIMES, *KIN))


def table_rows(campaign: Campaign) -> tuple[Sequence[Column], Generator[Batch, None, None]]:
    """Return every post-edition with its measures, as gold has them."""
    query = edits_query(campaign)
    return [*query.columns, *MEASURES], _measured(campaign, query)


def _measured(campaign: Campaign, query: Query) -> Generator[Batch, None, None]:
    from ..post_editions.collected import measurer

    measure = measurer(campaign.target_language)
    places = {column.name: place for place, column in enumerate(query.columns)}
    genuine = Role.GENUINE.name.lower()

    def cells(role: str, shown: str, text: str, checked: str | None, *times: int | None) -> list:
        if role != genuine:
            return [None] * len(MEASURES)
        milliseconds = next((time for time in times if time is not None), None)
        seconds = None if milliseconds is None else milliseconds / 1000
        measured = measure(shown, text if checked is None else checked, seconds)
        return [measured.seconds, measured.seconds_per_word, *measured.scores.values()]

    names = ("role", "shown", "post_edition", "checked_text", "field_ms", "active_ms")
    with closing(read_batches(query)) as batches:
        for batch in batches:
            needed = zip(*(batch[places[name]] for name in names), strict=True)
            yield [*batch, *map(list, zip(*(cells(*row) for row in needed), strict=True))]


# Editors --------------------------------------------------------------------------------------

AGREEMENT_COLUMNS = (
    Column("campaign", Kind.TEXT),
    Column("segment", Kind.TEXT),
    Column("systems", Kind.NAMES),
    Column("editor", Kind.WORKER),
    Column("other", Kind.WORKER),
    Column("hter", Kind.NUMBER),
    Column("hter_of_other", Kind.NUMBER),
    Column("mean", Kind.NUMBER),
)


def agreement_rows(campaign: Campaign) -> Batch:
    """Return a row for each pair of trusted editors of an output: the HTER of each text against the other."""
    from ..post_editions.collected import pairs_of_editors

    pairs = list(pairs_of_editors(campaign))
    ids = _ids({edit.worker for pair in pairs for edit in (pair.first, pair.second)})
    rows = [
        (
            campaign.name,
            pair.first.segment,
            pair.first.systems,
            ids[pair.first.worker],
            ids[pair.second.worker],
            pair.hter_of_first,
            pair.hter_of_second,
            pair.mean,
        )
        for pair in pairs
    ]
    return [list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in AGREEMENT_COLUMNS]


def _ids(workers: set[int]) -> dict[int, str]:
    """Return the ids of workers as exports have them before they become pseudonyms."""
    rows = Worker.objects.filter(pk__in=workers).values_list("pk", "provider", "external_id")
    return {pk: f"{provider}:{external_id}" for pk, provider, external_id in rows}


# The layouts of WMT ---------------------------------------------------------------------------


def edited_rows(campaign: Campaign, format: str) -> tuple[Sequence[Column], Batch]:
    """Return the lines of each file of a layout."""
    names = LAYOUTS[format]
    # Without sacreBLEU, which is slow to import, where HTER is not asked for.
    score = _scorer(campaign.target_language) if "hter" in names else None
    edits = list(load_edited_outputs(campaign, trusted_only=True))
    ids = _ids({edit.worker for edit in edits})
    rows = [
        lines_of(edit) | {"editors": ids[edit.worker]} | (score(edit) if score else {})
        for edit in edits
    ]
    columns = [Column(name, _KINDS.get(name, Kind.TEXT)) for name in names]
    return columns, [[row[name] for row in rows] for name in names]


def lines_of(edit: EditedOutput) -> dict[str, Any]:
    return {
        "src": edit.source,
        "mt": edit.shown,
        "pe": edit.final,
        "seconds": nan if edit.seconds is None else edit.seconds,
        "names": f"{edit.segment}\t{join_names(edit.systems)}",
    }


def _scorer(language: str) -> Callable[[EditedOutput], dict[str, object]]:
    """Return a function that computes HTER as gold has it, and tags the words."""
    from ..metrics.catalogue import tokeniser_for, words_of
    from ..metrics.word_tags import tags_from_post_edition
    from ..post_editions.collected import hter_of

    hter, words = hter_of(language), words_of(tokeniser_for(language))

    def score(edit: EditedOutput) -> dict[str, object]:
        output = words(edit.shown)
        # Case does not matter, as for HTER; word experiments distinguish it unless told otherwise.
        tags = tags_from_post_edition(output, words(edit.final), ignore_case=True)
        return {
            "hter": hter(edit.shown, edit.final),
            "mt_tok": " ".join(output),
            "tags": " ".join(BAD if is_bad else OK for is_bad in tags.words),
        }

    return score
