"""Gold to evaluate metrics against: from a campaign's gold run, from a file, or pooled."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from da_platform.files.problems import Problems
from hits.models import SystemOutput

from ..gold.runs import gold_scores
from ..models import GoldRun
from ..stats.signature import signature
from .errors import refuse_if_any
from .parsers import Row, Sheet
from .raw_files import RawFile
from .reading import (
    NO_SCORE,
    KeyChecker,
    chosen_rows,
    default_name,
    level_of,
    number_in,
    open_raw,
    parse,
    read_as,
)
from .score_tables import GOLD_KINDS, GoldKind, GoldTable, Key, ScoreTable, shown

# Directions that follow from the kind of gold, unless its sign was reversed.
USUAL_DIRECTIONS: dict[GoldKind, bool] = {"da": True, "hter": False}


def read_gold(
    source: Path | RawFile,
    *,
    kind: GoldKind,
    higher_is_better: bool,
    format: str | None = None,
    name: str | None = None,
    column: str | None = None,
    system: str = "",
    only: Mapping[str, str] | None = None,
) -> GoldTable:
    """Read gold from a file.

    Parameters
    ----------
    source : Path or RawFile
        In any format supported for scores. `None`, `NA` and the like mean that there is no gold.
    kind : {"da", "hter", "mqm", "ranking", "other"}
    higher_is_better : bool
        MQM in particular comes both as a sum of penalties and negated.
    format, name, system, only
        As in `read_scores`.
    column : str, optional
        Title of the gold column, in a table with several columns.

    Returns
    -------
    GoldTable

    Raises
    ------
    ScoresRefused
        Listing everything that is wrong.
    """
    problems = Problems()
    if kind not in GOLD_KINDS:
        problems.add(
            "", None, f"{kind!r} is not a kind of gold; choose from {', '.join(GOLD_KINDS)}"
        )
    raw = open_raw(source, problems)
    format, sheet = parse(raw, format, problems)
    if format == "wmt-qe-lines":
        # They are of one language pair, which at most the name of the file says.
        only = {}
    rows = chosen_rows(sheet, only or {}, raw.name, problems)
    gold_column = _gold_column(sheet, column, raw.name, problems)
    refuse_if_any(problems)
    golds, documents = _gather(sheet, rows, gold_column, system, raw.name, problems)
    if not problems.total and not any(math.isfinite(score) for score in golds.values()):
        problems.add(raw.name, None, "has no gold scores")
    refuse_if_any(problems)
    level = level_of(sheet)
    return GoldTable(
        name=name or default_name(raw.name),
        kind=kind,
        level=level,
        keys=tuple(golds),
        scores=np.fromiter(golds.values(), dtype=np.float64),
        higher_is_better=higher_is_better,
        signature=signature(
            gold=kind,
            file=f"sha256={raw.sha256[:12]}",
            level=level,
            column=column,
            **read_as(system, only or {}),
        ),
        documents=tuple(documents.values()) if "document" in sheet.roles else None,
        sha256=raw.sha256,
    )


def _gold_column(sheet: Sheet, column: str | None, file: str, problems: Problems) -> str:
    """Return the column that holds the gold; add a problem if it is not clear which."""
    roles = [role for role in ("human", "score", "rank") if role in sheet.roles]
    titles = [*roles, *sheet.titles]
    candidates = [*roles[:1], *sheet.titles] if "human" not in roles else ["human"]
    if column is not None:
        if column.casefold() in ("human", "score", "rank"):
            column = column.casefold()
        if column in titles:
            return column
        problems.add(file, 1, f"has no column {column!r}, only {', '.join(titles)}")
    elif len(candidates) == 1:
        return candidates[0]
    elif candidates:
        listed = ", ".join(candidates)
        problems.add(file, 1, f"has several columns; choose the one with gold: {listed}")
    return ""


def _gather(
    sheet: Sheet, rows: Iterable[Row], column: str, system: str, file: str, problems: Problems
) -> tuple[dict[Key, float], dict[Key, str]]:
    golds: dict[Key, float] = {}
    documents: dict[Key, str] = {}
    lines: dict[Key, int] = {}
    keys = KeyChecker(sheet, system, file, problems)
    # A table of several metrics repeats the gold for each metric.
    may_repeat = column == "human" and "metric" in sheet.roles
    for line, cells in rows:
        key, text = keys.key(line, cells), cells[column]
        is_missing = text.strip() in NO_SCORE
        gold = math.nan if is_missing else number_in(text, file, line, problems, what="gold score")
        if key not in golds:
            golds[key], lines[key] = gold, line
            documents[key] = cells.get("document", "")
        elif not may_repeat:
            problems.add(file, line, f"{shown(key)} already has a gold score on line {lines[key]}")
        elif not _are_equal(gold, golds[key]):
            problems.add(
                file, line, f"{shown(key)} has a different gold score on line {lines[key]}"
            )
    return golds, documents


def _are_equal(first: float, second: float) -> bool:
    return first == second or (math.isnan(first) and math.isnan(second))


# From a campaign or a metric ------------------------------------------------------------------


def campaign_gold(run: GoldRun, *, use: str = "z") -> GoldTable:
    """Return a gold run as a table with a row for every output of the campaign.

    Parameters
    ----------
    run : GoldRun
    use : {"z", "raw"}
        Standardised scores, or scores from 0 to 100.

    Returns
    -------
    GoldTable
        In the order of segments, then systems. Systems that share a translation have a row each.
        A translation with too few ratings has no score.
    """
    if use not in ("z", "raw"):
        raise ValueError("`use` must be 'z' or 'raw'.")
    gold = gold_scores(run)
    scores = getattr(gold, use).tolist()
    by_translation = {
        pk: (score, n)
        for pk, score, n in zip(gold.translation.tolist(), scores, gold.n.tolist(), strict=True)
    }
    rows = list(
        SystemOutput.objects.filter(system__campaign=run.campaign_id)
        .order_by("segment__position", "system")
        .values_list("system__name", "segment__name", "segment__document", "translation_id")
    )
    golds = [by_translation.get(pk, (math.nan, 0)) for *_, pk in rows]
    return GoldTable(
        name=f"{run.campaign.name}, gold {run.number}",
        kind="da",
        level="segment",
        keys=tuple((system, segment) for system, segment, _, _ in rows),
        scores=np.array([score for score, _ in golds], dtype=np.float64),
        higher_is_better=True,
        signature=with_fact(run.signature, f"use:{use}"),
        documents=tuple(document for _, _, document, _ in rows),
        n_ratings=np.array([n for _, n in golds], dtype=np.int64),
        translations=tuple(pk for *_, pk in rows),
    )


def gold_from_scores(table: ScoreTable, *, kind: GoldKind) -> GoldTable:
    """Use a metric's scores as gold, such as HTER computed from post-editions.

    Parameters
    ----------
    table : ScoreTable
        With a known direction.
    kind : {"da", "hter", "mqm", "ranking", "other"}

    Returns
    -------
    GoldTable
    """
    if table.higher_is_better is None:
        raise ValueError("`table` must have a direction.")
    return GoldTable(
        name=table.name,
        kind=kind,
        level=table.level,
        keys=table.keys,
        scores=table.scores,
        higher_is_better=table.higher_is_better,
        signature=table.signature,
        sha256=table.sha256,
    )


def system_gold(gold: GoldTable) -> GoldTable:
    """Average segment gold into system gold, over the segments that have a score.

    Parameters
    ----------
    gold : GoldTable
        At segment level.

    Returns
    -------
    GoldTable
        NaN for a system without any scored segment.
    """
    if gold.level != "segment":
        raise ValueError("`gold` must be at segment level.")
    row_systems = np.array([system for system, _ in gold.keys])
    means = []
    for system in gold.systems:
        scores = gold.scores[(row_systems == system) & ~np.isnan(gold.scores)]
        means.append(scores.mean() if len(scores) else math.nan)
    return replace(
        gold,
        level="system",
        keys=tuple((system, "") for system in gold.systems),
        scores=np.array(means, dtype=np.float64),
        signature=with_fact(gold.signature, "sys:mean"),
        documents=None,
        origins=None,
        n_ratings=None,
        translations=None,
    )


def with_fact(signature: str, fact: str) -> str:
    """Add a fact to a signature, before the version at its end."""
    facts, separator, version = signature.rpartition("|version:")
    return f"{facts}|{fact}{separator}{version}" if separator else f"{signature}|{fact}"


# Pooling --------------------------------------------------------------------------------------

POOLING_SEPARATOR = "/"


def pool_gold(golds: Sequence[GoldTable], *, names: Sequence[str] | None = None) -> GoldTable:
    """Pool the gold of several campaigns or language pairs.

    Parameters
    ----------
    golds : sequence of GoldTable
        Of the same kind, level and direction.
    names : sequence of str, optional
        Prefixes of the segments of each gold; by default, the names of the golds.

    Returns
    -------
    GoldTable
        Segments (at system level, systems) are prefixed with the name of their gold and a slash.
        Scores are not rescaled: z-scores stay relative to the workers of their own campaign, as the
        notes say.
    """
    names = list(names) if names is not None else [gold.name for gold in golds]
    _check_poolable(golds, names)
    first = golds[0]
    keys = [
        prefixed(name, key) for name, gold in zip(names, golds, strict=True) for key in gold.keys
    ]
    origins = [name for name, gold in zip(names, golds, strict=True) for _ in gold.keys]
    documents = [
        f"{name}{POOLING_SEPARATOR}{document}" if document else ""
        for name, gold in zip(names, golds, strict=True)
        for document in gold.documents or ()
    ]
    has_documents = all(gold.documents is not None for gold in golds)
    counts = [gold.n_ratings for gold in golds if gold.n_ratings is not None]
    return GoldTable(
        name=" + ".join(names),
        kind=first.kind,
        level=first.level,
        keys=tuple(keys),
        scores=np.concatenate([gold.scores for gold in golds]),
        higher_is_better=first.higher_is_better,
        signature=_pooled_signature(golds),
        documents=tuple(documents) if has_documents else None,
        origins=tuple(origins),
        n_ratings=np.concatenate(counts) if len(counts) == len(golds) else None,
        notes=(
            f"{len(golds)} sets were pooled without rescaling, so differences between the sets count as "
            "differences between segments. Standardised scores are relative to each campaign's own "
            "workers, so a campaign of better translations does not stand out.",
            *(note for gold in golds for note in gold.notes),
        ),
    )


def prefixed(name: str, key: Key) -> Key:
    """Return the key of a row after pooling, from the name of its set."""
    system, segment = key
    if segment:
        return system, f"{name}{POOLING_SEPARATOR}{segment}"
    return f"{name}{POOLING_SEPARATOR}{system}", ""


def pool_scores(tables: Sequence[ScoreTable], *, names: Sequence[str]) -> ScoreTable:
    """Pool one metric's scores for several sets, to match gold from `pool_gold`.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Of the same metric, level and direction.
    names : sequence of str
        The names passed to `pool_gold`, in the same order.

    Returns
    -------
    ScoreTable
    """
    problems = Problems()
    if not tables or len(names) != len(tables) or len(set(names)) != len(names):
        problems.add("", None, "each pooled set needs a different name")
    _report_differences(tables, ("name", "level", "higher_is_better"), problems)
    refuse_if_any(problems)
    return replace(
        tables[0],
        keys=tuple(
            prefixed(name, key)
            for name, table in zip(names, tables, strict=True)
            for key in table.keys
        ),
        scores=np.concatenate([table.scores for table in tables]),
        sha256=tables[0].sha256 if len({table.sha256 for table in tables}) == 1 else "",
    )


def _report_differences(
    tables: Sequence[ScoreTable] | Sequence[GoldTable], fields: Iterable[str], problems: Problems
) -> None:
    for field in fields:
        if len({getattr(table, field) for table in tables}) > 1:
            listed = ", ".join(f"{table.name}: {getattr(table, field)}" for table in tables)
            problems.add("", None, f"the sets differ in {field.replace('_', ' ')} ({listed})")


def _check_poolable(golds: Sequence[GoldTable], names: Sequence[str]) -> None:
    problems = Problems()
    if len(golds) < 2:
        problems.add("", None, "choose at least two sets to pool")
    if len(names) != len(golds) or len(set(names)) != len(names):
        problems.add("", None, "each pooled set needs a different name")
    _report_differences(golds, ("kind", "level", "higher_is_better"), problems)
    refuse_if_any(problems)


def _pooled_signature(golds: Sequence[GoldTable]) -> str:
    parts = dict.fromkeys(gold.signature for gold in golds)
    return "|".join([f"pooled:{len(golds)}", *parts])
