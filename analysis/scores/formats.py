"""Which format a file of scores has, told by what is in it."""

from collections.abc import Sequence
from itertools import islice

from hits.importing.problems import Problems

from .files import RawFile
from .rows import (
    LOOKED_AT,
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
    parse_wmt_qe_pairs,
    role_of,
    split_qe,
)

PARSERS: dict[str, Parser] = {
    "tsv": parse_tsv,
    "csv": parse_csv,
    "spaces": parse_spaces,
    "jsonl": parse_jsonl,
    "mt-metrics-eval": parse_mt_metrics_eval,
    "wmt-metrics": parse_wmt_metrics,
    "wmt-qe": parse_wmt_qe,
    "wmt-qe-pairs": parse_wmt_qe_pairs,
}
FORMATS = tuple(PARSERS)

_SEPARATORS = {"tsv": "\t", "csv": ",", "spaces": " "}
_WMT_WIDTHS = range(5, 12)
_NO_SCORE = ("None", "none", "NA", "nan")


def find_format(raw: RawFile, problems: Problems) -> str | None:
    """Tell a file's format by its first lines; None, and a problem, when that cannot be done.

    Parameters
    ----------
    raw : RawFile
    problems : Problems

    Returns
    -------
    str or None
        One of `FORMATS`.
    """
    # Whatever is wrong with these lines is reported when they are read in earnest.
    unread = Problems()
    lines = [line for _, line in islice(raw.lines(unread), LOOKED_AT) if line]
    if not lines:
        if unread.total:
            problems.add(unread.listed[0].file, unread.listed[0].line, unread.listed[0].reason)
        else:
            problems.add(raw.name, None, "has no line that is not empty")
        return None
    found = _candidates(lines)
    if len(found) == 1:
        return found[0]
    if found:
        problems.add(
            raw.name, None, f"could be {' or '.join(found)}; name its format to have it read"
        )
    else:
        problems.add(
            raw.name,
            1,
            "neither names its columns (such as system, segment, score) nor has the lines of a known "
            f"format; name its format if it is one of {', '.join(FORMATS)}",
        )
    return None


def _candidates(lines: Sequence[str]) -> list[str]:
    if lines[0].lstrip().startswith("{"):
        return ["jsonl"]
    if with_header := [name for name in _SEPARATORS if _is_header(lines[0], _SEPARATORS[name])]:
        # A header of spaces inside one of tabs or commas is a title of several words.
        return with_header[:1]
    tests = {
        "mt-metrics-eval": _looks_like_mt_metrics_eval,
        "wmt-metrics": _looks_like_wmt_metrics,
        "wmt-qe": _looks_like_wmt_qe,
        "wmt-qe-pairs": _looks_like_wmt_qe_pairs,
    }
    return [name for name, fits in tests.items() if fits(lines)]


def _is_header(line: str, separator: str) -> bool:
    cells = line.split(separator)
    roles = {role_of(cell.strip('"')) for cell in cells}
    return len(cells) > 1 and bool(roles & {"system", "segment"})


def _mostly(answers: Sequence[bool]) -> bool:
    """Say whether nine in ten hold: a few broken lines are named later, one by one."""
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
    below = [row for row in rows if len(row) > 1]
    return bool(below) and _mostly(
        [
            len(row) == 4 and is_language_pair(row[0]) and is_count(row[2]) and is_number(row[3])
            for row in below
        ]
    )
