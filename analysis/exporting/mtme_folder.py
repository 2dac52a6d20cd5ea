"""A campaign with its gold as a folder of mt-metrics-eval, which `evaluate --folder` reads: texts, documents, scores."""

import math
from collections.abc import Iterator, Sequence

from analysis.models import GoldRun, Metric
from analysis.scores.storing import campaign_keys, stored_tables
from da_platform.files.cells import escape_spaces
from hits.models import Campaign, Segment, SystemOutput

from .batches import Batch, read_batches
from .layouts import system_scores
from .queries import Column, Kind, every_cell

COLUMNS = (Column("path", Kind.TEXT), Column("content", Kind.TEXT))
# Documents have a domain in this layout, and campaigns have none.
DOMAIN = "all"
_ENDINGS = {Metric.Level.SEGMENT: "seg", Metric.Level.SYSTEM: "sys"}
_GOLD = {"z": "da", "raw": "da-raw"}


def folder_rows(run: GoldRun) -> Batch:
    """Return the path and the content of every file, in the order of their paths."""
    files = sorted(_files(run))
    return [[path for path, _ in files], [content for _, content in files]]


def _files(run: GoldRun) -> Iterator[tuple[str, str]]:
    campaign: Campaign = run.campaign
    pair = f"{campaign.source_language}-{campaign.target_language}"
    segments = list(campaign.segments.order_by("position"))
    yield from _texts(segments, pair)
    yield from _outputs(campaign, segments, pair)
    for score, name in _GOLD.items():
        yield f"human-scores/{pair}.{name}.seg.score", _segment_scores(run, score)
        systems, scores = system_scores(run, score)
        yield f"human-scores/{pair}.{name}.sys.score", _score_lines(systems, scores)
    yield from _metrics(campaign, pair)


def _texts(segments: Sequence[Segment], pair: str) -> Iterator[tuple[str, str]]:
    if any(segment.source for segment in segments):
        yield f"sources/{pair}.txt", _lines([segment.source for segment in segments])
    references = {
        "refA": [segment.reference for segment in segments],
        "refB": [segment.second_reference for segment in segments],
    }
    for name, texts in references.items():
        if all(texts):
            yield f"references/{pair}.{name}.txt", _lines(texts)
    documents = [segment.document for segment in segments]
    if all(documents):
        lines = [f"{DOMAIN}\t{escape_spaces(document)}" for document in documents]
        yield f"documents/{pair}.docs", _lines(lines)


def _outputs(
    campaign: Campaign, segments: Sequence[Segment], pair: str
) -> Iterator[tuple[str, str]]:
    """Yield a file for each system, with an empty line where it has no output."""
    place_of = {segment.pk: place for place, segment in enumerate(segments)}
    for system in campaign.systems.order_by("pk"):
        texts = [""] * len(segments)
        outputs = SystemOutput.objects.filter(system=system).select_related("translation")
        for output in outputs.iterator():
            texts[place_of[output.segment_id]] = str(output)
        yield f"system-outputs/{pair}/{file_name(system.name)}.txt", _lines(texts)


def _segment_scores(run: GoldRun, score: str) -> str:
    parts = [
        _score_lines(systems, scores) for systems, scores in read_batches(every_cell(run, score))
    ]
    return "".join(parts)


def _metrics(campaign: Campaign, pair: str) -> Iterator[tuple[str, str]]:
    """Yield the scores of each metric whose direction is known; higher is better in this layout."""
    for level, ending in _ENDINGS.items():
        metrics = campaign.metrics.at_level(level).exclude(higher_is_better=None).order_by("name")
        keys = list(campaign_keys(campaign, "segment" if ending == "seg" else "system"))
        for table in stored_tables(list(metrics)):
            sign = 1 if table.higher_is_better else -1
            score_of = dict(zip(table.keys, (sign * table.scores).tolist(), strict=True))
            scores = [score_of.get(key, math.nan) for key in keys]
            path = f"metric-scores/{pair}/{file_name(table.name)}.{ending}.score"
            yield path, _score_lines([system for system, _ in keys], scores)


def file_name(name: str) -> str:
    """Return a name as that of a file, which must not lead to another folder."""
    return escape_spaces(name).replace("/", "%2F").replace("\\", "%5C")


def _score_lines(systems: Sequence[str], scores: Sequence[float | None]) -> str:
    cells = (None if score is None or score != score else score for score in scores)
    return "".join(
        f"{escape_spaces(system)}\t{cell}\n" for system, cell in zip(systems, cells, strict=True)
    )


def _lines(texts: Sequence[str]) -> str:
    return "".join(f"{text}\n" for text in texts)
