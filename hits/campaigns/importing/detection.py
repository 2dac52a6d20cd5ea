"""Find the format of a campaign's files, and its reader."""

from collections.abc import Callable
from pathlib import Path

from da_platform.files.problems import Problems
from da_platform.files.reading import printable

from .media import is_media_folder, read_media_folder
from .mt_metrics_eval import OUTPUTS_FOLDER, read_mt_metrics_eval
from .pearmut import read_pearmut
from .plain_text import read_plain_text
from .records import Draft, ReadingOptions
from .tables import read_csv, read_jsonl, read_tsv
from .wmt_jsonl import is_wmt_jsonl, read_wmt_jsonl
from .wmt_sgml import has_sgml, read_wmt_sgml
from .wmt_systems import is_wmt_systems, read_wmt_systems
from .wmt_xml import read_wmt_xml

Reader = Callable[[Path, ReadingOptions, Problems], Draft]

FOLDER_READERS: dict[str, Reader] = {
    "plain-text": read_plain_text,
    "mt-metrics-eval": read_mt_metrics_eval,
    "wmt-sgml": read_wmt_sgml,
    "wmt-systems": read_wmt_systems,
    "media": read_media_folder,
}
FILE_READERS: dict[str, Reader] = {
    "tsv": read_tsv,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "wmt-xml": read_wmt_xml,
    "wmt-jsonl": read_wmt_jsonl,
    "pearmut": read_pearmut,
}
FORMATS = (*FOLDER_READERS, *FILE_READERS)

_FORMAT_OF_SUFFIX = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xml": "wmt-xml",
    ".json": "pearmut",
}


def find_reader(path: Path, format: str | None, problems: Problems) -> Reader | None:
    """Return the reader for this path; report a problem and return None if there is none."""
    if not path.exists():
        problems.add(printable(str(path)), None, "does not exist")
        return None
    format = format or _format_of(path)
    if format is None:
        problems.add(
            path.name,
            None,
            "has an unknown file extension: name it .tsv, .csv, .jsonl, .json or .xml, or give the format",
        )
        return None
    if format not in FORMATS:
        problems.add(
            "", None, f"{format!r} is not a supported format; choose from {', '.join(FORMATS)}"
        )
        return None
    if path.is_dir() != (format in FOLDER_READERS):
        kind = "a folder" if format in FOLDER_READERS else "a single file"
        problems.add(path.name, None, f"is not {kind}, as the format {format} requires")
        return None
    return (FOLDER_READERS | FILE_READERS)[format]


def _format_of(path: Path) -> str | None:
    if path.is_dir():
        if (path / OUTPUTS_FOLDER).is_dir():
            return "mt-metrics-eval"
        if is_wmt_systems(path):
            return "wmt-systems"
        if is_media_folder(path):
            return "media"
        return "wmt-sgml" if has_sgml(path) else "plain-text"
    format = _FORMAT_OF_SUFFIX.get(path.suffix.lower())
    return "wmt-jsonl" if format == "jsonl" and is_wmt_jsonl(path) else format
