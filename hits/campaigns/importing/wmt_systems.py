"""Read a folder of WMT since 2025: a JSONL file with the test set, and one for each system with what it produced."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from da_platform.files.problems import Problems
from da_platform.files.reading import CampaignFolder, files_in, read_lines
from da_platform.files.texts import fault_in_name

from .records import Draft, ReadingOptions
from .tables import json_pairs
from .wmt_jsonl import WMTReader, is_wanted, language_pair

SYSTEMS = "systems"
ENDING = ".jsonl"


def is_wmt_systems(path: Path) -> bool:
    """Return whether a folder has JSONL files of systems."""
    return any(file.name.endswith(ENDING) for file in _files(path / SYSTEMS))


def _files(folder: Path) -> list[Path]:
    return files_in(folder) if folder.is_dir() else []


def read_wmt_systems(path: Path, options: ReadingOptions, problems: Problems) -> Draft:
    folder = CampaignFolder(path)
    test_sets = [file for file in files_in(path) if file.name.endswith(ENDING)]
    if len(test_sets) != 1:
        listed = ", ".join(folder.shown(file) for file in test_sets) or "none"
        problems.add(
            folder.shown(path),
            None,
            f"must have one .jsonl file with the test set next to systems/; there are: {listed}",
        )
        return Draft()
    wanted = _documents(folder, test_sets[0], options)
    outputs: dict[str, dict[str, str]] = {document: {} for document in wanted}
    n_elsewhere = sum(
        _read_system(folder, file, outputs, options, problems)
        for file in _files(path / SYSTEMS)
        if file.name.endswith(ENDING)
    )
    draft = WMTReader(test_sets[0], options, problems, outputs).read()
    if n_elsewhere:
        draft.notes.append(f"{n_elsewhere:,} outputs are of documents that are not imported")
    return draft


def _documents(folder: CampaignFolder, path: Path, options: ReadingOptions) -> Iterator[str]:
    """Yield the documents of the campaign's languages. The reader of the test set reports what is wrong with it."""
    for _, line in read_lines(folder, path, Problems(), mender=options.mender.scout()):
        try:
            cells = json.loads(line or "")
        except (ValueError, RecursionError):
            continue
        if isinstance(cells, dict) and isinstance(cells.get("doc_id"), str):
            pair = language_pair(cells)
            if pair is None or is_wanted(pair, options):
                yield cells["doc_id"]


def _read_system(
    folder: CampaignFolder,
    path: Path,
    outputs: dict[str, dict[str, str]],
    options: ReadingOptions,
    problems: Problems,
) -> int:
    """Add a system's outputs to those of each document; return how many are of other documents."""
    name, file = path.name.removesuffix(ENDING), folder.shown(path)
    if fault := fault_in_name(name):
        problems.add(file, None, f"the system's name {fault}")
    n_elsewhere = 0
    for number, line in read_lines(folder, path, problems, mender=options.mender):
        pairs = None if line is None else json_pairs(line, file, number, problems)
        if pairs is None:
            continue
        cells: dict[str, Any] = dict(pairs)
        document, text = cells.get("doc_id"), cells.get("hypothesis")
        if not isinstance(document, str) or not isinstance(text, str):
            problems.add(file, number, "has no doc_id and hypothesis that are texts")
        elif document not in outputs:
            n_elsewhere += 1
        elif name in outputs[document]:
            problems.add(file, number, f"has document {document!r} twice")
        else:
            outputs[document][name] = text
    return n_elsewhere
