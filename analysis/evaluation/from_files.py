"""Evaluate scores in files against gold in files, without a campaign or a database."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from da_platform.files.problems import Problem, Problems
from da_platform.files.reading import files_in

from ..scores.errors import ScoresRefused, refuse_if_any
from ..scores.gold_tables import USUAL_DIRECTIONS, read_gold
from ..scores.raw_files import RawFile
from ..scores.reading import (
    ScoreFile,
    default_name,
    open_raw,
    read_scores,
    without_language_pair,
    without_ranks,
)
from ..scores.score_tables import GOLD_KINDS, GoldKind, GoldTable, Key, ScoreTable
from .aligned_rows import Texts, lengths_of
from .engine import Evaluated, Progress, evaluate
from .preferences import read_judgements
from .results import Options

# Scores of mt-metrics-eval that are neither of segments nor of systems. Skipped in folders.
_OTHER_LEVELS = (".domain.score", ".doc.score")


class DirectionsUnknown(ScoresRefused):
    """Metrics or golds without a direction. Holds their names and suggested directions."""

    def __init__(self, names: Sequence[str], suggested: Mapping[str, tuple[str, str]]) -> None:
        self.names = list(names)
        self.suggested = dict(suggested)
        # Not cut at `MAX_LISTED`: each of them has to be confirmed.
        problems = [Problem(name, None, self._question(name)) for name in names]
        super().__init__(problems, len(problems))

    def _question(self, name: str) -> str:
        word, reason = self.suggested.get(name, ("", "its name does not say"))
        return f"is higher or lower better? ({f'probably {word}: ' if word else ''}{reason})"


@dataclass(frozen=True, slots=True)
class GoldFile:
    """A gold file, the kind of gold, and its column in a table with several."""

    path: Path
    kind: GoldKind = "other"
    column: str | None = None
    name: str | None = None

    @classmethod
    def parse(cls, text: str) -> "GoldFile":
        """Parse `gold.tsv`, `hter=gold.tsv` or `hter=gold.tsv::COLUMN`."""
        kind, equals, source = text.partition("=")
        if not equals or kind not in GOLD_KINDS:
            kind, source = "other", text
        path, _, column = source.partition("::")
        return cls(Path(path), cast(GoldKind, kind), column or None)

    @property
    def shown_name(self) -> str:
        return self.name or self.column or default_name(self.path.name)


@dataclass(frozen=True, slots=True)
class Directions:
    """Declared directions of metrics and golds. `as_suggested` accepts what metric names suggest."""

    higher: Collection[str] = ()
    lower: Collection[str] = ()
    otherwise: bool | None = None
    as_suggested: bool = False

    def of(self, name: str) -> bool | None:
        """Return whether higher is better; `zh-en.mqm` answers to `mqm` as well."""
        names = {name, without_language_pair(name)}
        if not names.isdisjoint(self.higher):
            return True
        return None if names.isdisjoint(self.lower) else False

    def check(self, names: Collection[str]) -> None:
        """Refuse contradictory directions and unknown names."""
        problems = Problems()
        for name in dict.fromkeys([*self.higher, *self.lower]):
            if name in self.higher and name in self.lower:
                problems.add(name, None, "cannot be both higher and lower")
            if name not in names and name not in map(without_language_pair, names):
                listed = ", ".join(sorted(names)[:20])
                problems.add(
                    "", None, f"there is no metric or gold named {name!r}; choose from: {listed}"
                )
        refuse_if_any(problems)


def evaluate_files(
    scores: Sequence[str | Path],
    golds: Sequence[str | Path | GoldFile],
    *,
    directions: Directions | None = None,
    options: Options | None = None,
    texts: str | Path | None = None,
    documents: str | Path | None = None,
    only: Mapping[str, str] | None = None,
    ranks: bool = False,
    format: str | None = None,
    gold_format: str | None = None,
    system: str = "",
    judgements: str | Path | None = None,
    processes: int = 1,
    progress: Progress = lambda n_done, n_total: None,
) -> Evaluated:
    """Evaluate metrics in files against gold in files.

    Parameters
    ----------
    scores : sequence of str or Path
        Files in any format of `analysis.scores`, or folders of such files.
    golds : sequence of str, Path or GoldFile
        `gold.tsv`, or with a kind and a column `hter=gold.tsv::HUMAN`.
    directions : Directions, optional
        For metrics and golds that do not declare one. Gold of the kinds `da` and `hter` has one.
    texts, documents : str or Path, optional
        One line per segment, in the order of the gold's, for results by length and by document.
    only : mapping, optional
        Which `language_pair`, `testset` or `reference` to read from files that hold several.
    ranks : bool
        Also evaluate rankings submitted with the scores.
    format, gold_format : str, optional
        Format of the score files and of the gold files; by default, detected from their content.
    system : str
        The system that was scored, for files that do not name systems when others do.
    judgements : str or Path, optional
        Preferences of people: a table with the columns segment, better and worse.
    processes : int
        Number of processes that evaluate. More than one is safe only in a program without threads.

    Raises
    ------
    DirectionsUnknown, ScoresRefused
        Listing the directions to confirm, or everything else that is wrong.
    """
    files = read_files(
        scores,
        golds,
        directions=directions,
        texts=texts,
        documents=documents,
        only=only,
        ranks=ranks,
        format=format,
        gold_format=gold_format,
        system=system,
    )
    return evaluate(
        files.tables,
        files.golds,
        options=options,
        texts=files.texts,
        judgements=read_judgements(Path(judgements)) if judgements else None,
        processes=processes,
        progress=progress,
    )


@dataclass(frozen=True, slots=True)
class FilesRead:
    """The inputs of `evaluate`, read from files."""

    tables: list[ScoreTable]
    golds: list[GoldTable]
    texts: Texts | None


def read_files(
    scores: Sequence[str | Path],
    golds: Sequence[str | Path | GoldFile],
    *,
    directions: Directions | None = None,
    texts: str | Path | None = None,
    documents: str | Path | None = None,
    only: Mapping[str, str] | None = None,
    ranks: bool = False,
    format: str | None = None,
    gold_format: str | None = None,
    system: str = "",
) -> FilesRead:
    """Read the inputs of `evaluate_files`. The parameters are the same."""
    declared = directions or Directions()
    read = partial(read_scores, only=only, format=format, system=system)
    files = _read_all(scores, read)
    if not ranks:
        files = [without_ranks(file) for file in files]
    gold_files = [
        gold if isinstance(gold, GoldFile) else GoldFile.parse(str(gold)) for gold in golds
    ]
    tables = [table for file in files for table in file.tables]
    declared.check({*(table.name for table in tables), *(gold.shown_name for gold in gold_files)})
    gold_flags = _gold_directions(gold_files, declared)
    unknown_golds = [name for name, flag in gold_flags.items() if flag is None]
    directed = _directed(files, declared, unknown_golds)
    gold_tables = [
        read_gold(
            gold.path,
            kind=gold.kind,
            higher_is_better=bool(gold_flags[gold.shown_name]),
            column=gold.column,
            name=gold.shown_name,
            format=gold_format,
            system=system,
            only=only,
        )
        for gold in gold_files
    ]
    if documents is not None:
        gold_tables = [with_documents(gold, Path(documents)) for gold in gold_tables]
    lengths = None if texts is None else texts_in(Path(texts), gold_tables)
    return FilesRead(directed, gold_tables, lengths)


def _read_all(scores: Sequence[str | Path], read: Callable[[Path], ScoreFile]) -> list[ScoreFile]:
    """Read every file, and raise all their problems as one refusal."""
    problems = Problems()
    files = []
    paths = paths_of(scores, problems)
    # Metrics score the same translations: one tuple of keys for all of them saves most of the memory, and lets
    # `align` look the keys up once.
    shared_keys: dict[tuple[Key, ...], tuple[Key, ...]] = {}
    for path in paths:
        try:
            file = read(path)
        except ScoresRefused as refusal:
            for problem in refusal.problems:
                problems.add(problem.file, problem.line, problem.reason, problem.fix)
            problems.total += refusal.n_problems - len(refusal.problems)
        else:
            tables = [
                replace(table, keys=shared_keys.setdefault(table.keys, table.keys))
                for table in file.tables
            ]
            files.append(replace(file, tables=tuple(tables)))
    refuse_if_any(problems)
    return files


def paths_of(scores: Sequence[str | Path], problems: Problems) -> list[Path]:
    """Return the files, and those in the folders."""
    paths: list[Path] = []
    for path in map(Path, scores):
        inside = [path]
        if path.is_dir():
            inside = [file for file in files_in(path) if not file.name.endswith(_OTHER_LEVELS)]
        if not inside:
            problems.add(path.name, None, "is an empty folder")
        paths += inside
    return paths


def _gold_directions(golds: Sequence[GoldFile], declared: Directions) -> dict[str, bool | None]:
    flags = {}
    for gold in golds:
        flag = declared.of(gold.shown_name)
        flags[gold.shown_name] = USUAL_DIRECTIONS.get(gold.kind) if flag is None else flag
    return flags


def _directed(
    files: Sequence[ScoreFile], declared: Directions, unknown_golds: Sequence[str]
) -> list[ScoreTable]:
    """Give every table its direction, or raise with the list of those to confirm."""
    tables, unknown = [], list(unknown_golds)
    suggested: dict[str, tuple[str, str]] = {}
    for file in files:
        for table in file.tables:
            flag = declared.of(table.name)
            flag = table.higher_is_better if flag is None else flag
            hint = file.suggestions.get(table.name)
            if flag is None and hint is not None:
                suggested[table.name] = hint.word, hint.reason
                flag = hint.higher_is_better if declared.as_suggested else None
            flag = declared.otherwise if flag is None else flag
            if flag is None:
                unknown.append(table.name)
            tables.append(replace(table, higher_is_better=flag))
    if unknown:
        raise DirectionsUnknown(list(dict.fromkeys(unknown)), suggested)
    return tables


def _lines(source: Path | RawFile, segments: Sequence[str]) -> dict[str, str]:
    """Return the line of each segment."""
    problems = Problems()
    raw = open_raw(source, problems)
    lines = [line or "" for _, line in raw.lines(problems)]
    if not problems.total and len(lines) != len(segments):
        problems.add(raw.name, None, f"has {len(lines):,} lines for {len(segments):,} segments")
    refuse_if_any(problems)
    return dict(zip(segments, lines, strict=True))


def _segments(gold: GoldTable) -> list[str]:
    return list(dict.fromkeys(segment for _, segment in gold.keys))


def texts_in(source: Path | RawFile, golds: Sequence[GoldTable]) -> Texts | None:
    """Measure the text of each segment, one per line; None without segment gold."""
    by_segment = [gold for gold in golds if gold.level == "segment"]
    return lengths_of(_lines(source, _segments(by_segment[0]))) if by_segment else None


def with_documents(gold: GoldTable, source: Path | RawFile) -> GoldTable:
    """Add the document of each segment, one per line, to gold."""
    if gold.level != "segment":
        return gold
    # A line may have a domain before the document, separated by a tab or a space.
    names = {
        segment: line.replace("\t", " ").rpartition(" ")[2]
        for segment, line in _lines(source, _segments(gold)).items()
    }
    return replace(gold, documents=tuple(names[segment] for _, segment in gold.keys))
