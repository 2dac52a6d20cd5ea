"""Read folders of mt-metrics-eval: all metrics and human scores of a language pair."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from da_platform.files.mending import Mender
from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, files_in, read_lines

from .errors import ScoresRefused, refuse_if_any
from .gold_tables import read_gold
from .reading import ScoreFile, read_scores
from .score_tables import GoldKind, GoldTable, Level

METRICS_FOLDER = "metric-scores"
HUMAN_FOLDER = "human-scores"

_ENDINGS: dict[Level, str] = {"segment": ".seg.score", "system": ".sys.score"}


def read_metric_folder(
    root: Path,
    *,
    language_pair: str,
    level: Level = "segment",
    directions: Mapping[str, bool] | bool | None = None,
) -> list[ScoreFile]:
    """Read every metric of a language pair from `metric-scores/PAIR/NAME.seg.score`.

    Parameters
    ----------
    root : Path
        The folder of one test set.
    language_pair : str
    level : {"segment", "system"}
    directions : bool or mapping of str to bool, optional
        As in `read_scores`. The project stores all scores so that higher is better, even error
        rates; this is suggested, not assumed.

    Returns
    -------
    list of ScoreFile
        By name, without metrics that have no scores at this level.
    """
    problems = Problems()
    folder = root / METRICS_FOLDER / language_pair
    files = []
    for path in _paths(root, folder, level, problems):
        try:
            files.append(read_scores(path, format="mt-metrics-eval", directions=directions))
        except ScoresRefused as refusal:
            for problem in refusal.problems:
                problems.add(problem.file, problem.line, problem.reason)
            problems.total += refusal.n_problems - len(refusal.problems)
    refuse_if_any(problems)
    return files


def _paths(root: Path, folder: Path, level: Level, problems: Problems) -> list[Path]:
    if not folder.is_dir() or not CampaignFolder(root).holds(folder):
        problems.add(root.name, None, f"has no folder {folder.relative_to(root).as_posix()}")
        return []
    paths = [path for path in files_in(folder) if path.name.endswith(_ENDINGS[level])]
    if not paths:
        problems.add(root.name, None, f"has no {level} scores in {folder.name}")
    return paths


def human_scores(root: Path, *, language_pair: str, level: Level = "segment") -> dict[str, Path]:
    """Return the files of human scores for a language pair: `human-scores/PAIR.NAME.seg.score`."""
    folder = root / HUMAN_FOLDER
    if not folder.is_dir():
        return {}
    start, ending = f"{language_pair}.", _ENDINGS[level]
    return {
        path.name.removeprefix(start).removesuffix(ending): path
        for path in files_in(folder)
        if path.name.startswith(start) and path.name.endswith(ending)
    }


def read_human_scores(
    root: Path,
    *,
    language_pair: str,
    name: str,
    kind: GoldKind,
    level: Level = "segment",
    higher_is_better: bool,
) -> GoldTable:
    """Read human scores of one name as gold, with the documents if the folder has them.

    Parameters
    ----------
    root : Path
    language_pair, name : str
        As in the name of the file, such as `mqm`.
    kind : {"da", "hter", "mqm", "ranking", "other"}
    level : {"segment", "system"}
    higher_is_better : bool
        The project stores human scores so that higher is better, even MQM.

    Returns
    -------
    GoldTable
    """
    paths = human_scores(root, language_pair=language_pair, level=level)
    if name not in paths:
        problems = Problems()
        listed = ", ".join(paths) or "none"
        problems.add(
            root.name, None, f"has no {level} scores {name!r} for {language_pair}, only: {listed}"
        )
        refuse_if_any(problems)
    gold = read_gold(
        paths[name],
        kind=kind,
        higher_is_better=higher_is_better,
        format="mt-metrics-eval",
        name=f"{language_pair} {name}",
    )
    return _with_documents(gold, root / "documents" / f"{language_pair}.docs")


def _with_documents(gold: GoldTable, path: Path) -> GoldTable:
    if gold.level != "segment" or not path.exists():
        return gold
    problems = Problems()
    mender = Mender(cleans=True)
    lines = [line for _, line in read_lines(CampaignFolder(path), path, problems, mender=mender)]
    # A line is a domain and a document, separated by a tab or a space.
    names = [(line or "").replace("\t", " ").rpartition(" ")[2] for line in lines]
    n_segments = len({segment for _, segment in gold.keys})
    if not problems.total and len(names) != n_segments:
        problems.add(path.name, None, f"has {len(names):,} lines for {n_segments:,} segments")
    refuse_if_any(problems)
    return replace(gold, documents=tuple(names[int(segment) - 1] for _, segment in gold.keys))
