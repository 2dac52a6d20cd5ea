"""Read text files with one segment per line."""

from collections.abc import Sequence

from da_platform.files.problems import Problems
from da_platform.files.texts import fault_in_text

from ..scores.raw_files import RawFile


def text_lines(raw: RawFile, problems: Problems, *, may_be_empty: bool = False) -> list[str]:
    """Return the lines of a file, adding a problem for each that is not a text."""
    lines = []
    for number, line in raw.lines(problems):
        text = line or ""
        if line is not None and not (may_be_empty and not text.strip()):
            if not text.strip():
                problems.add(raw.name, number, "is empty")
            elif fault := fault_in_text(text):
                problems.add(raw.name, number, fault)
        lines.append(text)
    return lines


def check_parallel(raw: RawFile, n: int, expected: int, problems: Problems, *, other: str) -> None:
    """Add a problem if a file does not have as many lines as another."""
    if n != expected:
        lines = "1 line" if n == 1 else f"{n:,} lines"
        problems.add(raw.name, None, f"has {lines}, but {other} has {expected:,}")


def optional_lines(
    files: Sequence[RawFile], problems: Problems, *, n: int, parallel_to: str
) -> list[str]:
    """Return the lines of a file that need not be given, but must be as long as another one."""
    if not files:
        return []
    lines = text_lines(files[0], problems)
    check_parallel(files[0], len(lines), n, problems, other=parallel_to)
    return lines
