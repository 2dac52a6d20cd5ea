"""Tables of metric scores and gold, and their alignment row by row."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from da_platform.files.problems import Problems

from .errors import refuse_if_any
from .fixes import keep_system, leave_out_metrics
from .gaps import Gaps, Key, shown

__all__ = [
    "GOLD_KINDS",
    "LEVELS",
    "Alignment",
    "GoldKind",
    "GoldTable",
    "Key",
    "Level",
    "ScoreTable",
    "align",
    "shown",
]

Level = Literal["segment", "system"]

LEVELS: tuple[Level, ...] = ("segment", "system")

GoldKind = Literal["da", "hter", "mqm", "ranking", "other"]
GOLD_KINDS: tuple[GoldKind, ...] = ("da", "hter", "mqm", "ranking", "other")


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """One metric's scores, in the order of its file.

    Attributes
    ----------
    name : str
    level : {"segment", "system"}
    keys : tuple of (system, segment)
        The segment is empty at system level.
    scores : ndarray, shape (n,)
        Finite, one per key.
    higher_is_better : bool or None
        None until the direction is declared or confirmed.
    sha256 : str
        Of the file, or of the texts from which the platform computed the scores.
    signature : str
        How the scores were computed, if known.
    gold : str
        The only gold to evaluate them against, by name; empty for any. Workers' scores are kept from
        gold that contains them.
    document_of : mapping of segments to documents, or None
        Needed only if the gold is of documents and the scores are of segments.
    """

    name: str
    level: Level
    keys: tuple[Key, ...]
    scores: NDArray[np.float64]
    higher_is_better: bool | None
    sha256: str = ""
    signature: str = ""
    gold: str = ""
    document_of: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        _check_parallel(self.keys, self.scores)
        if not np.isfinite(self.scores).all():
            raise ValueError("`scores` must be finite.")


@dataclass(frozen=True, slots=True)
class GoldTable:
    """Gold to evaluate metrics against, in the order of segments.

    Attributes
    ----------
    name : str
    kind : {"da", "hter", "mqm", "ranking", "other"}
    level : {"segment", "system"}
    keys : tuple of (system, segment)
    scores : ndarray, shape (n,)
        NaN where there is no gold, such as for a translation with too few ratings.
    higher_is_better : bool
    signature : str
        How the gold was computed.
    documents, origins : tuple of str or None
        The document of each row, and the campaign or file it came from if several were pooled.
    n_ratings : ndarray of int, shape (n,), or None
        Number of ratings behind each score.
    notes : tuple of str
        Remarks for the reader of results, such as how golds were pooled.
    sha256 : str
        Of the file; empty for a campaign's own gold.
    translations : tuple of int or None
        Keys of the translations of a campaign's own gold.
    """

    name: str
    kind: GoldKind
    level: Level
    keys: tuple[Key, ...]
    scores: NDArray[np.float64]
    higher_is_better: bool
    signature: str = ""
    documents: tuple[str, ...] | None = None
    origins: tuple[str, ...] | None = None
    n_ratings: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    sha256: str = ""
    translations: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        _check_parallel(self.keys, self.scores)
        for parallel in (self.documents, self.origins, self.n_ratings):
            if parallel is not None and len(parallel) != len(self.keys):
                raise ValueError("`documents`, `origins` and `n_ratings` must match `keys`.")
        if np.isinf(self.scores).any():
            raise ValueError("`scores` must be finite or NaN.")

    @property
    def systems(self) -> tuple[str, ...]:
        """The distinct systems, in order of appearance."""
        return tuple(dict.fromkeys(system for system, _ in self.keys))


@dataclass(frozen=True, slots=True)
class Alignment:
    """Scores of metrics and gold for the same rows, those with a gold score.

    Attributes
    ----------
    metrics : tuple of str
    scores : ndarray, shape (metrics, n)
        Segment scores, with no signs reversed.
    higher_is_better : tuple of bool
    keys : tuple of (system, segment), n long
    gold : ndarray, shape (n,)
    gold_is_better_higher : bool
    systems, segments : ndarray of int, shape (n,)
        Index of each row's system and segment, in order of appearance.
    documents, origins : tuple of str or None
    n_without_gold : int
        Rows left out for lack of a gold score.
    n_ignored : int
        Scores left out because the gold does not have their rows.
    """

    metrics: tuple[str, ...]
    scores: NDArray[np.float64]
    higher_is_better: tuple[bool, ...]
    keys: tuple[Key, ...]
    gold: NDArray[np.float64]
    gold_is_better_higher: bool
    systems: NDArray[np.int64]
    segments: NDArray[np.int64]
    documents: tuple[str, ...] | None
    origins: tuple[str, ...] | None
    n_without_gold: int
    n_ignored: int


def align(
    tables: Sequence[ScoreTable],
    gold: GoldTable,
    *,
    without_systems: Collection[str] = (),
    ignore_extra: bool = False,
) -> Alignment:
    """Align the scores of metrics with gold, row by row.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Each must have exactly one score for every row of the gold, even where the gold has none.
    gold : GoldTable
    without_systems : collection of str
        Systems to leave out on both sides, such as a reference among the outputs.
    ignore_extra : bool
        Ignore scores for rows that are not in the gold, instead of refusing them.

    Returns
    -------
    Alignment

    Raises
    ------
    ScoresRefused
        Listing missing, extra and duplicate scores of each metric, a level other than that of the
        gold, and unconfirmed directions.
    """
    problems = Problems()
    if not tables:
        problems.add("", None, "there are no metrics to evaluate")
    for name, count in Counter(table.name for table in tables).items():
        if count > 1:
            problems.add("", None, f"{count} metrics are named {name!r}")
    _check_gold(gold, problems)
    _check_left_out(tables, gold, without_systems, problems)
    expected_keys = {key: None for key in gold.keys if key[0] not in without_systems}
    n_ignored, gaps = 0, Gaps(gold.keys)
    matrix = np.full((len(tables), len(expected_keys)), np.nan)
    # Tables often share one tuple of keys, which then needs to be looked up only once.
    places_of: dict[int, _Places] = {}
    for column, table in zip(matrix, tables, strict=True):
        if not _is_comparable(table, gold, problems):
            continue
        places = places_of.get(id(table.keys))
        if places is None:
            places = places_of[id(table.keys)] = _Places.of(table.keys, expected_keys)
        for key, count in places.duplicates:
            problems.add(table.name, None, f"has {count} scores for {shown(key)}")
        extra = [] if ignore_extra else [k for k in places.extra if k[0] not in without_systems]
        gaps.add(table.name, missing=places.missing, extra=extra)
        n_ignored += len(places.extra)
        if not places.missing:
            column[:] = table.scores[places.rows]
    gaps.report(problems)
    refuse_if_any(problems)
    return _alignment(tables, gold, matrix, without_systems, n_ignored)


def _alignment(
    tables: Sequence[ScoreTable],
    gold: GoldTable,
    matrix: NDArray[np.float64],
    without_systems: Collection[str],
    n_ignored: int,
) -> Alignment:
    used = np.array([system not in without_systems for system, _ in gold.keys], dtype=bool)
    has_gold = ~np.isnan(gold.scores)
    rows = np.flatnonzero(used & has_gold)
    keys = tuple(gold.keys[row] for row in rows)
    return Alignment(
        metrics=tuple(table.name for table in tables),
        scores=matrix[:, has_gold[used]],
        higher_is_better=tuple(bool(table.higher_is_better) for table in tables),
        keys=keys,
        gold=gold.scores[rows],
        gold_is_better_higher=gold.higher_is_better,
        systems=_numbered(system for system, _ in keys),
        segments=_numbered(segment for _, segment in keys),
        documents=_picked(gold.documents, rows),
        origins=_picked(gold.origins, rows),
        n_without_gold=int(used.sum()) - len(rows),
        n_ignored=n_ignored,
    )


def segment_of_output(key: Key) -> str:
    """Return the name of the segment that an output becomes where each has a reference of its own."""
    system, segment = key
    return f"{segment} by {system}"


def _check_gold(gold: GoldTable, problems: Problems) -> None:
    for key, count in Counter(gold.keys).items():
        if count > 1:
            problems.add(gold.name, None, f"has {count} gold scores for {shown(key)}")


def _check_left_out(
    tables: Sequence[ScoreTable],
    gold: GoldTable,
    without_systems: Collection[str],
    problems: Problems,
) -> None:
    """Refuse unknown names: with a misspelt one, the system would stay in unnoticed."""
    distinct = {id(table.keys): table.keys for table in tables}
    systems = set(gold.systems).union(*({name for name, _ in keys} for keys in distinct.values()))
    for system in without_systems:
        if system not in systems:
            fix = keep_system(system)
            problems.add("", None, f"there is no system {system!r} to leave out", fix)


def _is_comparable(table: ScoreTable, gold: GoldTable, problems: Problems) -> bool:
    if table.higher_is_better is None:
        reason = "needs a confirmed direction: is higher or lower better?"
        problems.add(table.name, None, reason, leave_out_metrics([table.name]))
    if table.level != gold.level:
        problems.add(
            table.name, None, f"has {table.level} scores, but {gold.name} is at {gold.level} level"
        )
    return table.level == gold.level


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the expected keys are in a table, and what is wrong with its keys."""

    rows: NDArray[np.int64]
    duplicates: list[tuple[Key, int]]
    missing: list[Key]
    extra: list[Key]

    @classmethod
    def of(cls, keys: tuple[Key, ...], expected: dict[Key, None]) -> "_Places":
        rows = {key: row for row, key in enumerate(keys)}
        duplicates = []
        if len(rows) < len(keys):
            duplicates = [(key, count) for key, count in Counter(keys).items() if count > 1]
        missing = [key for key in expected if key not in rows]
        extra = [key for key in rows if key not in expected]
        found = [] if missing else [rows[key] for key in expected]
        return cls(np.array(found, dtype=np.int64), duplicates, missing, extra)


def _numbered(names: Iterable[str]) -> NDArray[np.int64]:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _picked(values: tuple[str, ...] | None, rows: NDArray[np.int64]) -> tuple[str, ...] | None:
    return None if values is None else tuple(values[row] for row in rows)


def _check_parallel(keys: Sequence[Key], scores: NDArray[np.float64]) -> None:
    if scores.shape != (len(keys),):
        raise ValueError("`scores` must have one element per key.")
