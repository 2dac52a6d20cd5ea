"""Tables of a ranking in the form of the WMT papers."""

from collections.abc import Callable

from ..tables.table import NOTHING, Cell, Column, Table
from .results import Facts

# WMT's marks of the sign test, at .10, .05 and .01.
MARKS = ("", "*", "†", "‡")


def systems_table(facts: Facts) -> Table:
    """The official ranking: cluster, score, rank range and system (WMT15, table 6)."""
    systems = facts["systems"]
    rows = [
        [
            Cell(str(row["cluster"]), row["cluster"]),
            Cell(f"{row['score']:.3f}", row["score"]),
            Cell(_range(row), (row["best"], row["worst"])),
            Cell(row["system"]),
            Cell(_number(row["expected_wins"]), row["expected_wins"]),
            Cell(_number(row["strength"]), row["strength"]),
        ]
        for row in systems
    ]
    ends = {
        place
        for place, (row, below) in enumerate(zip(systems, systems[1:], strict=False))
        if row["cluster"] != below["cluster"]
    }
    return Table(
        name="ranking",
        caption=f"Ranking of the systems of {facts['campaign']}",
        columns=[
            Column("#"),
            Column("score"),
            Column("range", parts=("best", "worst")),
            Column("system", is_number=False),
            Column("expected wins"),
            Column("Bradley-Terry"),
        ],
        rows=rows,
        note=(
            f"TrueSkill over {facts['n_judgements']:,} pairwise judgements by {facts['n_judges']} judges. "
            "Systems between lines cannot be told apart by their rank ranges (95%). "
            f"Signature: {facts['signature']}"
        ),
        lines_after=frozenset(ends),
    )


def head_to_head_table(facts: Facts) -> Table:
    """How often the column's system was ranked above the row's, without ties (WMT15, tables 25 to 34)."""
    pairs, systems = facts["head_to_head"], facts["systems"]
    names = pairs["systems"]
    rows = []
    for row, name in enumerate(names):
        cells = [Cell(name)]
        for column in range(len(names)):
            share = pairs["shares"][column][row]
            text = (
                NOTHING if share is None else f".{round(100 * share):02d}" if share < 1 else "1.0"
            )
            mark = MARKS[pairs["marks"][column][row]] if share is not None else ""
            cells.append(Cell(text + mark, share, bold=share is not None and share > 0.5))
        rows.append(cells)
    summaries: list[tuple[str, Callable[[Facts], Cell]]] = [
        ("score", lambda row: Cell(f"{row['score']:.2f}", row["score"])),
        ("rank", lambda row: Cell(_range(row))),
    ]
    for title, cell in summaries:
        rows.append([Cell(title), *map(cell, systems)])
    return Table(
        name="head-to-head",
        caption=f"Head-to-head comparison of the systems of {facts['campaign']}",
        columns=[Column("System", is_number=False), *(Column(name) for name in names)],
        rows=rows,
        note=(
            "Each cell is how often the system in the column was judged better than the one in the row, ignoring "
            "ties; bold if it won more often. Sign test: * p ≤ .10, † p ≤ .05, ‡ p ≤ .01."
        ),
        lines_after=frozenset({len(names) - 1}),
    )


def agreement_table(facts: Facts) -> Table:
    """Kappa between and within judges, ours and as published."""
    return Table(
        name="agreement",
        caption=f"Agreement of the judges of {facts['campaign']}",
        columns=[
            Column("agreement", is_number=False),
            Column("counting", is_number=False),
            *(Column(title) for title in ("P(A)", "P(E)", "kappa", "comparisons")),
            Column("degree", is_number=False),
        ],
        rows=[
            [
                Cell({"inter": "between judges", "intra": "within judges"}[row["between"]]),
                Cell(row["counting"]),
                *(Cell(_number(row[name]), row[name]) for name in ("p_agree", "p_chance", "kappa")),
                Cell(f"{row['n_comparable']:,}", row["n_comparable"]),
                Cell(row["word"] or NOTHING),
            ]
            for row in facts["agreement"]
        ],
        note="Degrees as in Landis and Koch (1977).",
    )


TABLES: dict[str, Callable[[Facts], Table]] = {
    "ranking": systems_table,
    "head-to-head": head_to_head_table,
    "agreement": agreement_table,
}


def _range(row: Facts) -> str:
    return str(row["best"]) if row["best"] == row["worst"] else f"{row['best']}-{row['worst']}"


def _number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"
