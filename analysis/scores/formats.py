"""Detect the format of a score file from its content."""

from collections.abc import Sequence
from itertools import islice

from da_platform.files.problems import Problems

from .parsers import (
    MAX_SNIFFED_LINES,
    Parser,
    is_count,
    is_language_pair,
    is_number,
    parse_csv,
    parse_jsonl,
    parse_mt_metrics_eval,
    parse_spaces,
    parse_tsv,
    parse_wmt_metrics,
    parse_wmt_qe,
    parse_wmt_qe_lines,
    parse_wmt_qe_pairs,
    role_of,
    split_qe,
)
from .raw_files import RawFile

PARSERS: dict[str, Parser] = {
    "tsv": parse_tsv,
    "csv": parse_csv,
    "spaces": parse_spaces,
    "jsonl": parse_jsonl,
    "mt-metrics-eval": parse_mt_metrics_eval,
    "wmt-metrics": parse_wmt_metrics,
    "wmt-qe": parse_wmt_qe,
    "wmt-qe-pairs": parse_wmt_qe_pairs,
    "wmt-qe-lines": parse_wmt_qe_lines,
}
FORMATS = tuple(PARSERS)

# On pages, the field is named after the option.
CHOOSE = "choose its format (--format, for gold --gold-format)"

_SEPARATORS = {"tsv": "\t", "csv": ",", "spaces": " "}
_WMT_WIDTHS = range(5, 12)
_NO_SCORE = ("None", "none", "NA", "nan")


def find_format(raw: RawFile, problems: Problems) -> str | None:
    """Detect a file's format from its first lines; add a problem and return None if that fails.

    Parameters
    ----------
    raw : RawFile
    problems : Problems

    Returns
    -------
    str or None
        One of `FORMATS`.
    """
    # Problems in these lines are reported again when the file is parsed.
    line_problems = Problems()
    lines = [line for _, line in islice(raw.lines(line_problems), MAX_SNIFFED_LINES) if line]
    if not lines:
        if line_problems.total:
            first = line_problems.listed[0]
            problems.add(first.file, first.line, first.reason)
        else:
            problems.add(raw.name, None, "has only empty lines")
        return None
    candidates = _candidates(lines)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        problems.add(raw.name, None, f"could be {' or '.join(candidates)}; {CHOOSE}")
    else:
        problems.add(
            raw.name,
            1,
            "has neither a header (such as system, segment, score) nor a format we recognise; if it is "
            f"one of {', '.join(FORMATS)}, {CHOOSE}",
        )
    return None


def _candidates(lines: Sequence[str]) -> list[str]:
    if lines[0].lstrip().startswith("{"):
        return ["jsonl"]
    if with_header := [name for name in _SEPARATORS if _is_header(lines[0], _SEPARATORS[name])]:
        # Spaces in a header with tabs or commas belong to titles of several words.
        return with_header[:1]
    tests = {
        "mt-metrics-eval": _looks_like_mt_metrics_eval,
        "wmt-metrics": _looks_like_wmt_metrics,
        "wmt-qe": _looks_like_wmt_qe,
        "wmt-qe-pairs": _looks_like_wmt_qe_pairs,
        "wmt-qe-lines": _looks_like_wmt_qe_lines,
    }
    return [name for name, fits in tests.items() if fits(lines)]


def _is_header(line: str, separator: str) -> bool:
    cells = line.split(separator)
    roles = {role_of(cell.strip('"')) for cell in cells}
    # A system could be called "doc", in a file of systems and scores.
    names_documents = "document" in roles and not any(map(is_number, cells))
    return len(cells) > 1 and (bool(roles & {"system", "segment"}) or names_documents)


def _mostly(answers: Sequence[bool]) -> bool:
    """Return whether nine in ten are true: a few broken lines are reported later, one by one."""
    return sum(answers) >= 0.9 * len(answers)


def _looks_like_mt_metrics_eval(lines: Sequence[str]) -> bool:
    rows = [line.split("\t") if "\t" in line else line.split(" ") for line in lines]
    return _mostly(
        [len(row) == 2 and (is_number(row[1]) or row[1] in _NO_SCORE) for row in rows]
    ) and not _mostly([is_number(row[0]) for row in rows])


def _looks_like_wmt_metrics(lines: Sequence[str]) -> bool:
    rows = [line.split("\t") for line in lines]
    return _mostly([len(row) in _WMT_WIDTHS and is_language_pair(row[1]) for row in rows])


def _looks_like_wmt_qe(lines: Sequence[str]) -> bool:
    rows = [split_qe(line) for line in lines]
    return _mostly(
        [len(row) == 4 and is_count(row[1]) and all(map(is_number, row[2:])) for row in rows]
    )


def _looks_like_wmt_qe_pairs(lines: Sequence[str]) -> bool:
    rows = [split_qe(line) for line in lines]
    scored = [row for row in rows if len(row) > 1]
    return bool(scored) and _mostly(
        [
            len(row) == 4 and is_language_pair(row[0]) and is_count(row[2]) and is_number(row[3])
            for row in scored
        ]
    )


def _looks_like_wmt_qe_lines(lines: Sequence[str]) -> bool:
    return _mostly([is_number(line.strip()) or line.strip() in _NO_SCORE for line in lines])
