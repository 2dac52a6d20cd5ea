"""Evaluate a test set in a folder of mt-metrics-eval, as it is."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, files_in
from hits.campaigns.importing.mt_metrics_eval import SYNTHETIC_REFERENCE

from ..scores.errors import refuse_if_any
from ..scores.mt_metrics_eval import HUMAN_FOLDER, METRICS_FOLDER
from ..scores.reading import without_language_pair
from ..scores.score_tables import GoldKind
from .engine import Evaluated, Progress, evaluate
from .from_files import Directions, FilesRead, GoldFile, read_files
from .results import Options

FORMAT = "mt-metrics-eval"
_ENDINGS = (".seg.score", ".sys.score")
# Kinds of gold by a part of their name; others need none.
_KINDS: dict[str, GoldKind] = {"mqm": "mqm", "da": "da", "esa": "da", "wmt": "da"}


@dataclass(frozen=True, slots=True)
class TestSet:
    """The files of a language pair in a folder. `notes` say which of them are left out."""

    pair: str
    scores: list[Path]
    golds: list[GoldFile]
    references: list[str]
    documents: Path | None
    texts: Path | None
    notes: list[str] = field(default_factory=list)


def find_test_set(root: Path, *, pair: str | None = None, golds: Collection[str] = ()) -> TestSet:
    """Find the files of a language pair.

    Parameters
    ----------
    root : Path
        The folder of one test set, such as `wmt23`.
    pair : str, optional
        Such as `en-de`; by default, the only one.
    golds : collection of str
        Names of human scores such as `mqm`, also written `en-de.mqm`; by default, all.

    Raises
    ------
    ScoresRefused
    """
    problems = Problems()
    pair = _pair(root, pair, problems)
    refuse_if_any(problems)
    metrics = _files(root, root / METRICS_FOLDER / pair)
    human = [path for path in _files(root, root / HUMAN_FOLDER) if path.name.startswith(f"{pair}.")]
    scores = [path for path in metrics if path.name.endswith(_ENDINGS)]
    gold_files = _golds(root, human, {without_language_pair(name) for name in golds}, problems)
    if not scores:
        problems.add(root.name, None, f"has no scores in {METRICS_FOLDER}/{pair}")
    refuse_if_any(problems)
    n_other = sum(not path.name.endswith(_ENDINGS) for path in (*metrics, *human))
    notes = []
    if n_other:
        notes.append(
            f"{n_other} files are left out: they have neither scores of segments (.seg.score) nor of "
            "systems (.sys.score)"
        )
    references = [
        path.name.removeprefix(f"{pair}.").removesuffix(".txt")
        for path in _files(root, root / "references")
        if path.name.startswith(f"{pair}.")
    ]
    return TestSet(
        pair=pair,
        scores=scores,
        golds=gold_files,
        references=references,
        documents=_existing(root / "documents" / f"{pair}.docs"),
        texts=_existing(root / "sources" / f"{pair}.txt"),
        notes=notes,
    )


def _pair(root: Path, pair: str | None, problems: Problems) -> str:
    folders = [path for path in _files(root, root / METRICS_FOLDER) if path.is_dir()]
    pairs = [path.name for path in folders]
    listed = ", ".join(pairs)
    if not pairs:
        problems.add(root.name, None, f"has no folder {METRICS_FOLDER} with language pairs")
    elif pair is None and len(pairs) > 1:
        problems.add(root.name, None, f"has several language pairs; choose one (--pair): {listed}")
    elif pair is not None and pair not in pairs:
        problems.add(root.name, None, f"has no language pair {pair!r}, only {listed}")
    return pair or next(iter(pairs), "")


def _files(root: Path, folder: Path) -> list[Path]:
    return files_in(folder) if folder.is_dir() and CampaignFolder(root).holds(folder) else []


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


def _golds(
    root: Path, human: Sequence[Path], names: Collection[str], problems: Problems
) -> list[GoldFile]:
    by_name: dict[str, list[Path]] = {}
    for path in human:
        if path.name.endswith(_ENDINGS):
            name = without_language_pair(path.name)
            by_name.setdefault(name.removesuffix(".score").rpartition(".")[0], []).append(path)
    listed = ", ".join(by_name) or "none"
    for name in names:
        if name not in by_name:
            problems.add(root.name, None, f"has no human scores {name!r}; there are: {listed}")
    if not by_name and not names:
        problems.add(root.name, None, f"has no human scores in {HUMAN_FOLDER}")
    return [
        GoldFile(path, _kind(name), name=name)
        for name, paths in by_name.items()
        for path in paths
        if not names or name in names
    ]


def _kind(name: str) -> GoldKind:
    words = re.split(r"[^a-z]+", name.casefold())
    return next((kind for part, kind in _KINDS.items() if part in words), "other")


def evaluate_folder(
    root: Path,
    *,
    pair: str | None = None,
    golds: Collection[str] = (),
    directions: Directions | None = None,
    options: Options | None = None,
    keep: Collection[str] = (),
    processes: int = 1,
    progress: Progress = lambda n_done, n_total: None,
) -> tuple[Evaluated, list[str]]:
    """Evaluate all metrics of a test set against its human scores.

    Parameters
    ----------
    root, pair, golds
        As in `find_test_set`.
    directions : Directions, optional
        For scores that are not stored as the format says: higher is better, for metrics and golds.
    options : Options, optional
    keep : collection of str
        References to evaluate like systems. Others are left out, and so are synthetic ones.
    processes : int
    progress : callable

    Returns
    -------
    Evaluated, list of str
        And sentences about what was left out.
    """
    test_set = find_test_set(root, pair=pair, golds=golds)
    files = read_files(
        test_set.scores,
        test_set.golds,
        directions=_directions(test_set, directions or Directions()),
        texts=test_set.texts,
        documents=test_set.documents,
        format=FORMAT,
        gold_format=FORMAT,
    )
    options = options or Options()
    left_out = _left_out(test_set, files, {*keep, *options.without_systems})
    evaluated = evaluate(
        files.tables,
        files.golds,
        # The folder has scores of systems that people did not rate.
        options=replace(
            options, without_systems=(*options.without_systems, *left_out), ignore_extra=True
        ),
        texts=files.texts,
        processes=processes,
        progress=progress,
    )
    sentences = [f"{system} is left out: {reason}." for system, reason in left_out.items()]
    return evaluated, [*sentences, *(f"{note}." for note in test_set.notes)]


def _directions(test_set: TestSet, given: Directions) -> Directions:
    """Complete the directions: the format keeps all scores so that higher is better."""
    golds = {gold.shown_name for gold in test_set.golds}
    higher = [name for name in golds if given.of(name) is None]
    otherwise = True if given.otherwise is None else given.otherwise
    return replace(given, higher=[*given.higher, *higher], otherwise=otherwise)


def _left_out(test_set: TestSet, files: FilesRead, named: Collection[str]) -> Mapping[str, str]:
    all_keys = [table.keys for table in files.tables] + [gold.keys for gold in files.golds]
    systems = {system for keys in all_keys for system, _ in keys}
    reasons = {
        system: "it is a synthetic reference"
        for system in systems
        if SYNTHETIC_REFERENCE.fullmatch(system)
    }
    reasons |= {name: "it is a reference" for name in test_set.references if name in systems}
    return {name: reasons[name] for name in sorted(reasons) if name not in named}
