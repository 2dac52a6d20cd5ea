"""Rows of score files, whatever their format: what each cell is, under the same names."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from hits.importing.problems import Problems
from hits.importing.tables import csv_cells, json_pairs
from hits.importing.texts import MAX_NAME_LENGTH

from .directions import split_declared
from .files import RawFile

# A row's cells by role, and the line it stands on.
Row = tuple[int, dict[str, str]]

# Columns by what they mean; titles are compared in small letters, with _ for other separators.
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

# Digits can be read in one way only: where there are two, a long cell takes hours.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_COUNT = re.compile(r"\d+", re.ASCII)
_LANGUAGE_PAIR = re.compile(r"[a-z]{2,3}(_[A-Za-z]+)?-[a-z]{2,3}(_[A-Za-z]+)?")

# Of a format without a header, at most this many lines are looked at to tell it from others.
LOOKED_AT = 200


@dataclass
class Sheet:
    """The rows of one file, and the titles of columns that stand for metrics of their own."""

    rows: list[Row] = field(default_factory=list)
    titles: tuple[str, ...] = ()
    roles: frozenset[str] = frozenset()
    # Directions that the header declares, by role or title.
    declared: dict[str, bool] = field(default_factory=dict)


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
        # The first line could not be read, and that was reported.
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
    """Return each column's role, or its own title where it has none; None when they make no sense."""
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
            problems.add(file, line, f"column {name!r} is there {count} times")
    if "segment" not in names and "system" not in names:
        problems.add(file, line, "has neither a column 'system' nor a column 'segment'")
    if "score" in names and (others := _metric_titles(names)):
        listed = ", ".join(map(repr, others))
        problems.add(file, line, f"beside the column 'score' there cannot be others: {listed}")
    if not _metric_titles(names) and not {"score", "human"} & set(names):
        problems.add(file, line, "has no column with scores")
    return names if problems.total == n_before else None


def _sheet(names: Sequence[str], header: Sequence[str]) -> Sheet:
    ways = zip(names, (split_declared(title)[1] for title in header), strict=True)
    return Sheet(
        titles=_metric_titles(names),
        roles=frozenset(names) & ROLES.keys(),
        declared={name: way for name, way in ways if way is not None},
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
            problems.add(raw.name, number, "does not have the same names as the first row")
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
            problems.add(file, number, f"the value of {title!r} is neither a text nor a number")
            return None
        else:
            cells[names[title]] = value if isinstance(value, str) else repr(value)
    return cells


# Formats without a header ---------------------------------------------------------------------


def parse_mt_metrics_eval(raw: RawFile, problems: Problems) -> Sheet:
    """Lines of a system and a score. A system's n-th line is its n-th segment."""
    systems: list[tuple[int, str, str]] = []
    for number, line in raw.lines(problems):
        if line is None:
            continue
        cells = line.split("\t") if "\t" in line else line.split(" ")
        if len(cells) != 2:
            problems.add(raw.name, number, f"has {len(cells)} cells, not 2: a system and a score")
            continue
        systems.append((number, cells[0], cells[1]))
    counts = Counter(system for _, system, _ in systems)
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {count:,}" for name, count in list(counts.items())[:10])
        problems.add(raw.name, None, f"does not have as many scores for every system: {listed}")
    sheet = Sheet(roles=frozenset({"system", "score"}))
    if max(counts.values(), default=0) > 1:
        sheet.roles |= {"segment"}
    so_far: Counter[str] = Counter()
    for number, system, score in systems:
        so_far[system] += 1
        segment = str(so_far[system]) if "segment" in sheet.roles else ""
        sheet.rows.append((number, {"system": system, "segment": segment, "score": score}))
    return sheet


def parse_wmt_metrics(raw: RawFile, problems: Problems) -> Sheet:
    """Lines of the WMT metrics task, of segments or of systems.

    They begin with metric, language pair and test set and end with system, segment number and score,
    or with system and score. Between stand, as the years went by, nothing, a reference, a domain and
    a reference, or domain, document and reference. Early years add two words after the score.
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
        problems.add(raw.name, None, f"has {width} cells a line, which no WMT metrics format has")
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
    """Lines of a QE system's name, segment number, score and rank; 0 where it gave no ranking."""
    return _four_cells(raw, problems, ("metric", "segment", "score", "rank"))


def parse_wmt_qe_pairs(raw: RawFile, problems: Problems) -> Sheet:
    """Lines of language pair, QE system, segment number and score, below figures about the model."""
    return _four_cells(
        raw, problems, ("language_pair", "metric", "segment", "score"), skips_figures=True
    )


def _four_cells(
    raw: RawFile, problems: Problems, names: tuple[str, ...], *, skips_figures: bool = False
) -> Sheet:
    sheet = Sheet(roles=frozenset(names))
    for number, line in raw.lines(problems):
        if line is None:
            continue
        cells = split_qe(line)
        if skips_figures and not sheet.rows and len(cells) == 1 and is_number(cells[0]):
            continue
        if len(cells) != len(names):
            problems.add(raw.name, number, f"has {len(cells)} cells, not {len(names)}")
        else:
            sheet.rows.append((number, dict(zip(names, cells, strict=True))))
    return sheet


def split_qe(line: str) -> list[str]:
    """Submissions were separated by tabs or by any white space, and both are read."""
    return line.split("\t") if "\t" in line else line.split()
