"""Read what people concluded about pairs of systems, from the exports of a campaign or any such table."""

from collections.abc import Collection, Sequence

import numpy as np

from da_platform.files.problems import Problems

from ..scores.parsers import Row, Sheet, is_number
from ..scores.raw_files import RawFile
from ..scores.reading import parse
from ..stats._validation import Ints
from .base import refuse_if_any


def read_conclusions(
    raw: RawFile, systems: Sequence[str], problems: Problems, *, alpha: float
) -> Ints:
    """Return 1 where people prefer the system of the row, -1 where that of the column, else 0.

    Parameters
    ----------
    raw : RawFile
        A table (TSV or CSV) with the columns `system` and `cluster`, of which 1 is best; or with `system`,
        `other` and `p`: a p-value below `alpha` says that the system is better than the other.
    systems : sequence of str
        The systems to read, all of which must be in the table. Others are ignored.
    problems : Problems
    alpha : float

    Returns
    -------
    ndarray of int, shape (n_systems, n_systems)
    """
    _, sheet = parse(raw, None, problems)
    refuse_if_any(problems)
    titles = {title.casefold(): title for title in sheet.titles}
    rows = [row for row in sheet.rows if row[1].get("system") in systems]
    if "cluster" in titles:
        return _from_clusters(raw, rows, titles["cluster"], systems, problems)
    if {"other", "p"} <= titles.keys():
        return _from_tests(raw, rows, (titles["other"], titles["p"]), systems, problems, alpha)
    problems.add(raw.name, 1, _columns(sheet))
    return np.zeros((len(systems), len(systems)), dtype=np.int64)


def _columns(sheet: Sheet) -> str:
    found = ", ".join([*sorted(sheet.roles), *sheet.titles])
    return f"must have the columns system and cluster, or system, other and p; it has {found}"


def _from_clusters(
    raw: RawFile, rows: Sequence[Row], title: str, systems: Sequence[str], problems: Problems
) -> Ints:
    clusters = {}
    for line, cells in rows:
        if is_number(cells[title]):
            clusters[cells["system"]] = float(cells[title])
        else:
            problems.add(raw.name, line, "has no number as its cluster")
    _check_all(raw, systems, clusters.keys(), problems)
    places = np.array([clusters.get(name, 0) for name in systems])
    return np.sign(places[None] - places[:, None]).astype(np.int64)


def _from_tests(
    raw: RawFile,
    rows: Sequence[Row],
    titles: tuple[str, str],
    systems: Sequence[str],
    problems: Problems,
    alpha: float,
) -> Ints:
    other_title, p_title = titles
    found = np.zeros((len(systems), len(systems)), dtype=np.int64)
    seen = set()
    for line, cells in rows:
        if cells[other_title] not in systems:
            continue
        i, j = systems.index(cells["system"]), systems.index(cells[other_title])
        seen.add(frozenset((i, j)))
        if not is_number(cells[p_title]):
            problems.add(raw.name, line, "has no number as its p")
        elif float(cells[p_title]) < alpha:
            found[i, j], found[j, i] = 1, -1
    n_pairs = len(systems) * (len(systems) - 1) // 2
    if len(seen) < n_pairs:
        problems.add(raw.name, None, f"has {len(seen)} of the {n_pairs} pairs of these systems")
    return found


def _check_all(
    raw: RawFile, systems: Sequence[str], found: Collection[str], problems: Problems
) -> None:
    missing = [name for name in systems if name not in found]
    if missing:
        problems.add(raw.name, None, f"does not have these systems: {', '.join(missing)}")
