"""Parsers of score files. In all formats, the cells of a row have the same names."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from da_platform.files.problems import Problems
from da_platform.files.texts import MAX_NAME_LENGTH
from hits.campaigns.importing.tables import csv_cells, json_pairs

from .directions import split_declared
from .raw_files import RawFile

# The number of a line, and its cells by role or column title.
Row = tuple[int, dict[str, str]]

# Titles that a column of each role may have, in lower case and with _ for spaces and hyphens.
ROLES = {
    "metric": ("metric", "method", "metric_name", "method_name"),
    "language_pair": ("language_pair", "lang_pair", "langpair", "lp"),
    "testset": ("testset", "test_set"),
    "domain": ("domain",),
    "document": ("document", "doc", "document_id"),
    "reference": ("reference", "ref", "refset"),
    "system": ("system", "system_id", "sys"),
    "segment": ("segment", "segment_id", "segment_number", "sid", "seg_id", "seg"),
    "score": ("score", "segment_score", "system_score"),
    "rank": ("rank", "segment_rank"),
    "human": ("human", "gold"),
}
_ROLE_OF = {title: role for role, titles in ROLES.items() for title in titles}

# No two parts can match the same digits, or backtracking over a long cell would take hours.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_COUNT = re.compile(r"\d+", re.ASCII)
_LANGUAGE_PAIR = re.compile(r"[a-z]{2,3}(_[A-Za-z]+)?-[a-z]{2,3}(_[A-Za-z]+)?")

# Lines read to detect a format without a header.
MAX_SNIFFED_LINES = 200


@dataclass
class Sheet:
    """The rows of a file. `titles` are the columns that are metrics themselves."""

    rows: list[Row] = field(default_factory=list)
    titles: tuple[str, ...] = ()
    roles: frozenset[str] = frozenset()
    # Directions declared in the header, by role or title.
    declared: dict[str, bool] = field(default_factory=dict)
    # What the file says about the models behind its scores, such as their number of parameters.
    figures: dict[str, str] = field(default_factory=dict)


Parser = Callable[[RawFile, Problems], Sheet]


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def is_count(text: str) -> bool:
    return _COUNT.fullmatch(text) is not None


def is_language_pair(text: str) -> bool:
    return _LANGUAGE_PAIR.fullmatch(text) is not None


def role_of(title: str) -> str | None:
    return _ROLE_OF.get(re.sub(r"[\s-]+", "_", title.strip().casefold()))


# Tables with a header -------------------------------------------------------------------------


def parse_tsv(raw: RawFile, problems: Problems) -> Sheet:
    return _with_header(_split(raw, problems, "\t"), raw.name, problems)


def parse_spaces(raw: RawFile, problems: Problems) -> Sheet:
    return _with_header(_split(raw, problems, " "), raw.name, problems)


def parse_csv(raw: RawFile, problems: Problems) -> Sheet:
    lines = raw.lines(problems, may_have_crlf=True)
    return _with_header(csv_cells(lines, raw.name, problems), raw.name, problems)


def _split(raw: RawFile, problems: Problems, separator: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in raw.lines(problems):
        if line is not None:
            yield number, line.split(separator)


def _with_header(lines: Iterator[tuple[int, list[str]]], file: str, problems: Problems) -> Sheet:
    number, header = next(lines, (0, []))
    if number != 1:
        # The first line could not be read, which has been reported.
        return Sheet()
    names = _named_columns(header, file, 1, problems)
    if names is None:
        return Sheet()
    sheet = _sheet(names, header)
    for number, cells in lines:
        if cells in ([], [""]):
            problems.add(file, number, "is an empty line")
        elif len(cells) != len(names):
            problems.add(file, number, f"has {len(cells)} cells, but the header has {len(names)}")
        else:
            sheet.rows.append((number, dict(zip(names, cells, strict=True))))
    return sheet


def _named_columns(
    header: Sequence[str], file: str, line: int, problems: Problems
) -> list[str] | None:
    """Return each column's role, or its title if it has none; None if there is a problem."""
    if any(len(title) > MAX_NAME_LENGTH for title in header):
        reason = f"has a column whose name is longer than {MAX_NAME_LENGTH} characters"
        problems.add(file, line, reason)
        return None
    plain = [split_declared(title)[0] for title in header]
    names = [role_of(title) or title for title in plain]
    n_before = problems.total
    for name, count in Counter(names).items():
        if not name.strip():
            problems.add(file, line, "has a column without a name")
        elif count > 1:
            problems.add(file, line, f"has {count} columns named {name!r}")
    if not {"segment", "system", "document"} & set(names):
        reason = "has neither a column 'system' nor a column 'segment' or 'document'"
        problems.add(file, line, reason)
    if "score" in names and (titles := _metric_titles(names)):
        listed = ", ".join(map(repr, titles))
        problems.add(
            file, line, f"has the column 'score' and so cannot have other metric columns: {listed}"
        )
    if not _metric_titles(names) and not {"score", "human"} & set(names):
        problems.add(file, line, "has no column with scores")
    return names if problems.total == n_before else None


def _sheet(names: Sequence[str], header: Sequence[str]) -> Sheet:
    directions = zip(names, (split_declared(title)[1] for title in header), strict=True)
    return Sheet(
        titles=_metric_titles(names),
        roles=frozenset(names) & ROLES.keys(),
        declared={name: flag for name, flag in directions if flag is not None},
    )


def _metric_titles(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in ROLES)


def parse_jsonl(raw: RawFile, problems: Problems) -> Sheet:
    sheet = Sheet()
    names: dict[str, str] = {}
    for number, line in raw.lines(problems):
        pairs = None if line is None else json_pairs(line, raw.name, number, problems)
        if pairs is None:
            continue
        if not sheet.rows and not names:
            named = _named_columns([title for title, _ in pairs], raw.name, number, problems)
            if named is None:
                return sheet
            names = {title: name for (title, _), name in zip(pairs, named, strict=True)}
            sheet = _sheet(named, list(names))
        if sorted(title for title, _ in pairs) != sorted(names):
            problems.add(raw.name, number, "does not have the same keys as the first row")
        elif cells := _json_cells(pairs, names, raw.name, number, problems):
            sheet.rows.append((number, cells))
    return sheet


def _json_cells(
    pairs: Sequence[tuple[str, object]],
    names: dict[str, str],
    file: str,
    number: int,
    problems: Problems,
) -> dict[str, str] | None:
    cells = {}
    for title, value in pairs:
        if value is None:
            cells[names[title]] = "null"
        elif isinstance(value, bool) or not isinstance(value, (str, int, float)):
            problems.add(file, number, f"the value of {title!r} is neither a string nor a number")
            return None
        else:
            cells[names[title]] = value if isinstance(value, str) else repr(value)
    return cells


# The first lines of submissions to WMT's QE tasks: bytes on disk, parameters, and models in the ensemble.
MODEL_FIGURES = ("bytes", "parameters", "models")

# Formats without a header ---------------------------------------------------------------------


def parse_mt_metrics_eval(raw: RawFile, problems: Problems) -> Sheet:
    """Parse lines of a system and a score. A system's n-th line is its n-th segment."""
    scores: list[tuple[int, str, str]] = []
    for number, line in raw.lines(problems):
        if line is None:
            continue
        cells = line.split("\t") if "\t" in line else line.split(" ")
        if len(cells) != 2:
            problems.add(raw.name, number, f"has {len(cells)} cells, not 2: a system and a score")
            continue
        scores.append((number, cells[0], cells[1]))
    counts = Counter(system for _, system, _ in scores)
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {count:,}" for name, count in list(counts.items())[:10])
        problems.add(raw.name, None, f"has different numbers of scores per system: {listed}")
    sheet = Sheet(roles=frozenset({"system", "score"}))
    if max(counts.values(), default=0) > 1:
        sheet.roles |= {"segment"}
    n_segments: Counter[str] = Counter()
    for number, system, score in scores:
        n_segments[system] += 1
        segment = str(n_segments[system]) if "segment" in sheet.roles else ""
        sheet.rows.append((number, {"system": system, "segment": segment, "score": score}))
    return sheet


def parse_wmt_metrics(raw: RawFile, problems: Problems) -> Sheet:
    """Parse a submission to the WMT metrics task, at segment or system level.

    Lines begin with metric, language pair and test set, and end with system, segment number and
    score, or with system and score. Depending on the year there is nothing in between, a reference,
    a domain and a reference, or domain, document and reference. Early years add two words after the
    score.
    """
    lines = [(number, cells) for number, cells in _split(raw, problems, "\t")]
    widths = Counter(len(cells) for _, cells in lines)
    if not widths:
        return Sheet()
    width = widths.most_common(1)[0][0]
    usual = [cells for _, cells in lines if len(cells) == width]
    n_tail = 0 if any(is_number(cells[-1]) for cells in usual) else 2
    names = _wmt_columns(usual, width - n_tail)
    if names is None:
        problems.add(raw.name, None, f"has {width} cells per line, unlike any WMT metrics format")
        return Sheet()
    sheet = Sheet(roles=frozenset(names))
    for number, cells in lines:
        if len(cells) != width:
            problems.add(raw.name, number, f"has {len(cells)} cells, but most lines have {width}")
        else:
            sheet.rows.append((number, dict(zip(names, cells, strict=False))))
    return sheet


def _wmt_columns(usual: Sequence[Sequence[str]], width: int) -> list[str] | None:
    tail = ["system", "score"]
    if width >= 6 and all(is_count(cells[width - 2]) for cells in usual):
        tail = ["system", "segment", "score"]
    between = ["domain", "document", "reference"]
    n_between = width - 3 - len(tail)
    if n_between not in range(4):
        return None
    if n_between == 2:
        between = ["domain", "reference"]
    return ["metric", "language_pair", "testset", *between[len(between) - n_between :], *tail]


def parse_wmt_qe(raw: RawFile, problems: Problems) -> Sheet:
    """Parse lines of QE system, segment number, score and rank (0 if there is no ranking)."""
    return _four_cells(raw, problems, ("metric", "segment", "score", "rank"))


def parse_wmt_qe_pairs(raw: RawFile, problems: Problems) -> Sheet:
    """Parse lines of language pair, QE system, segment number and score, after figures about the model."""
    return _four_cells(
        raw, problems, ("language_pair", "metric", "segment", "score"), figures=MODEL_FIGURES
    )


def parse_wmt_qe_lines(raw: RawFile, problems: Problems) -> Sheet:
    """Parse gold of WMT QE: a score per line. The first line is segment 0, as in submissions."""
    sheet = Sheet(roles=frozenset({"segment", "score"}))
    for number, line in raw.lines(problems):
        if line is None:
            continue
        sheet.rows.append((number, {"segment": str(number - 1), "score": line.strip()}))
    return sheet


def _four_cells(
    raw: RawFile, problems: Problems, names: tuple[str, ...], *, figures: Sequence[str] = ()
) -> Sheet:
    """Parse rows of four cells, after at most one line for each of the `figures`."""
    sheet = Sheet(roles=frozenset(names))
    for number, line in raw.lines(problems):
        if line is None:
            continue
        cells = split_qe(line)
        is_figure = not sheet.rows and len(cells) == 1 and is_number(cells[0])
        if is_figure and len(sheet.figures) < len(figures):
            sheet.figures[figures[len(sheet.figures)]] = cells[0]
            continue
        if len(cells) != len(names):
            problems.add(raw.name, number, f"has {len(cells)} cells, not {len(names)}")
        else:
            sheet.rows.append((number, dict(zip(names, cells, strict=True))))
    return sheet


def split_qe(line: str) -> list[str]:
    """Split a line at its tabs, or at any white space if it has none."""
    return line.split("\t") if "\t" in line else line.split()
