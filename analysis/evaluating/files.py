"""From files alone: read scores and gold, see to it that every direction is known, and evaluate."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from hits.importing.files import files_in
from hits.importing.problems import Problem, Problems

from ..scores.errors import ScoresRefused, refuse_if_any
from ..scores.files import RawFile
from ..scores.gold import USUAL_DIRECTIONS, read_gold
from ..scores.reading import ScoreFile, default_name, open_raw, read_scores, without_ranks
from ..scores.table import GOLD_KINDS, GoldKind, GoldTable, ScoreTable
from .engine import Evaluated, Progress, evaluate
from .results import Options
from .rows import Texts, lengths_of


class DirectionsUnknown(ScoresRefused):
    """Nobody has said which way some metrics or golds go. Holds their names and what they suggest."""

    def __init__(self, names: Sequence[str], suggested: Mapping[str, tuple[str, str]]) -> None:
        self.names = list(names)
        self.suggested = dict(suggested)
        # All of them, however many: each has to be confirmed.
        problems = [Problem(name, None, self._question(name)) for name in names]
        super().__init__(problems, len(problems))

    def _question(self, name: str) -> str:
        word, reason = self.suggested.get(name, ("", "its name does not tell"))
        return f"is higher or lower better? ({f'perhaps {word}: ' if word else ''}{reason})"


@dataclass(frozen=True, slots=True)
class GoldFile:
    """Where gold is, of which kind, and in which column of a table with several."""

    path: Path
    kind: GoldKind = "other"
    column: str | None = None
    name: str | None = None

    @classmethod
    def parse(cls, text: str) -> "GoldFile":
        """Read `gold.tsv`, `hter=gold.tsv` or `hter=gold.tsv::COLUMN`."""
        kind, equals, rest = text.partition("=")
        if not equals or kind not in GOLD_KINDS:
            kind, rest = "other", text
        path, _, column = rest.partition("::")
        return cls(Path(path), cast(GoldKind, kind), column or None)

    @property
    def shown_name(self) -> str:
        return self.name or self.column or default_name(self.path.name)


@dataclass(frozen=True, slots=True)
class Directions:
    """Which way metrics and golds go, as somebody said. `as_suggested`: what names suggest is confirmed."""

    higher: Collection[str] = ()
    lower: Collection[str] = ()
    otherwise: bool | None = None
    as_suggested: bool = False

    def of(self, name: str) -> bool | None:
        if name in self.higher:
            return True
        return False if name in self.lower else None

    def check(self, names: Collection[str]) -> None:
        """Refuse what contradicts itself, and names that nothing has."""
        problems = Problems()
        for name in dict.fromkeys([*self.higher, *self.lower]):
            if name in self.higher and name in self.lower:
                problems.add(name, None, "is said to be better higher and better lower")
            if name not in names:
                listed = ", ".join(sorted(names)[:20])
                problems.add("", None, f"there is nothing named {name!r}; there is: {listed}")
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
    progress: Progress = lambda n_done, n_total: None,
) -> Evaluated:
    """Evaluate metrics in files against gold in files; no campaign and no database is needed.

    Parameters
    ----------
    scores : sequence of str or Path
        Files in any format of `analysis.scores`, or folders of such files.
    golds : sequence of str, Path or GoldFile
        `gold.tsv`, or with a kind and a column: `hter=gold.tsv::HUMAN`.
    directions : Directions, optional
        For whatever does not say of itself which way it goes. Gold of the kinds `da` and `hter` does.
    options : Options, optional
    texts, documents : str or Path, optional
        A text, or the name of a document, for each segment: a line each, in the order of the gold's
        segments. For results by length and by document.
    only : mapping, optional
        Which `language_pair`, `testset` or `reference` to read of files that hold several.
    ranks : bool
        Evaluate rankings too that were submitted beside scores.
    progress : callable

    Returns
    -------
    Evaluated

    Raises
    ------
    DirectionsUnknown
        Naming what somebody has to confirm.
    ScoresRefused
        Naming everything else that is wrong.
    """
    read = read_files(
        scores,
        golds,
        directions=directions,
        texts=texts,
        documents=documents,
        only=only,
        ranks=ranks,
    )
    return evaluate(read.tables, read.golds, options=options, texts=read.texts, progress=progress)


@dataclass(frozen=True, slots=True)
class FilesRead:
    """What `evaluate` wants, as files had it."""

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
) -> FilesRead:
    """Read all that `evaluate_files` evaluates; the parameters are the same."""
    said = directions or Directions()
    files = _read_all(scores, only)
    if not ranks:
        files = [without_ranks(file) for file in files]
    wanted = [one if isinstance(one, GoldFile) else GoldFile.parse(str(one)) for one in golds]
    tables = [table for file in files for table in file.tables]
    said.check({*(table.name for table in tables), *(gold.shown_name for gold in wanted)})
    ways = _gold_directions(wanted, said)
    directed = _directed(files, said, [name for name, way in ways.items() if way is None])
    gold_tables = [
        read_gold(
            one.path,
            kind=one.kind,
            higher_is_better=bool(ways[one.shown_name]),
            column=one.column,
            name=one.shown_name,
            only=only,
        )
        for one in wanted
    ]
    if documents is not None:
        gold_tables = [with_documents(gold, Path(documents)) for gold in gold_tables]
    measured = None if texts is None else texts_in(Path(texts), gold_tables)
    return FilesRead(directed, gold_tables, measured)


def _read_all(scores: Sequence[str | Path], only: Mapping[str, str] | None) -> list[ScoreFile]:
    """Read every file; what is wrong in any of them is told at once."""
    problems = Problems()
    found = []
    for path in _paths(scores, problems):
        try:
            found.append(read_scores(path, only=only))
        except ScoresRefused as refusal:
            for one in refusal.problems:
                problems.add(one.file, one.line, one.reason)
            problems.total += refusal.n_problems - len(refusal.problems)
    refuse_if_any(problems)
    return found


def _paths(scores: Sequence[str | Path], problems: Problems) -> list[Path]:
    paths: list[Path] = []
    for path in map(Path, scores):
        inside = list(files_in(path)) if path.is_dir() else [path]
        if not inside:
            problems.add(path.name, None, "is an empty folder")
        paths += inside
    return paths


def _gold_directions(golds: Sequence[GoldFile], said: Directions) -> dict[str, bool | None]:
    ways = {}
    for gold in golds:
        way = said.of(gold.shown_name)
        ways[gold.shown_name] = USUAL_DIRECTIONS.get(gold.kind) if way is None else way
    return ways


def _directed(
    files: Sequence[ScoreFile], said: Directions, unknown_golds: Sequence[str]
) -> list[ScoreTable]:
    """Give every table its direction, or refuse with a list of what to confirm."""
    tables, unknown = [], list(unknown_golds)
    suggested: dict[str, tuple[str, str]] = {}
    for file in files:
        for table in file.tables:
            way = said.of(table.name)
            way = table.higher_is_better if way is None else way
            hint = file.suggestions.get(table.name)
            if way is None and hint is not None:
                suggested[table.name] = hint.word, hint.reason
                way = hint.higher_is_better if said.as_suggested else None
            way = said.otherwise if way is None else way
            if way is None:
                unknown.append(table.name)
            tables.append(replace(table, higher_is_better=way))
    if unknown:
        raise DirectionsUnknown(list(dict.fromkeys(unknown)), suggested)
    return tables


def _lines(source: Path | RawFile, segments: Sequence[str]) -> dict[str, str]:
    """Return a line of the file for each segment, in their order."""
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
    """Measure texts, a line for each segment; None where no gold is of segments."""
    by_segment = [gold for gold in golds if gold.level == "segment"]
    return lengths_of(_lines(source, _segments(by_segment[0]))) if by_segment else None


def with_documents(gold: GoldTable, source: Path | RawFile) -> GoldTable:
    """Return gold that knows the document of each segment; a line for each."""
    if gold.level != "segment":
        return gold
    # Some lists have a domain before the document, and a tab or a space between.
    names = {
        segment: line.replace("\t", " ").rpartition(" ")[2]
        for segment, line in _lines(source, _segments(gold)).items()
    }
    return replace(gold, documents=tuple(names[segment] for _, segment in gold.keys))
