"""Tables of a ranking in the form of the WMT papers."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from ..tables.table import ENDS, NOTHING, Cell, Column, Table, correlation, count, interval, number
from .results import Facts

# WMT's marks of the sign test, at .10, .05 and .01.
MARKS = ("", "*", "†", "‡")


def systems_table(facts: Facts) -> Table:
    """The official ranking: cluster, score, rank range and system (WMT15, table 6)."""
    systems, named = facts["systems"], _named(facts)
    ends = {
        place
        for place, (row, below) in enumerate(pairwise(systems))
        if row["cluster"] != below["cluster"]
    }
    rows = [
        [
            # The number of a cluster stands next to its first system.
            Cell(str(row["cluster"]) if place == 0 or place - 1 in ends else "", row["cluster"]),
            number(row["score"]),
            Cell(_range(row), (row["best"], row["worst"])),
            named(row["system"]),
        ]
        for place, row in enumerate(systems)
    ]
    return Table(
        name="ranking",
        caption=f"Ranking of the systems of {facts['campaign']}",
        columns=[
            Column("#"),
            Column("score"),
            Column("range", parts=("best", "worst")),
            Column("system", is_number=False),
        ],
        rows=rows,
        note=(
            f"TrueSkill over {facts['n_judgements']:,} pairwise judgements by {facts['n_judges']} judges. "
            "Systems between lines cannot be told apart by their rank ranges (95%). "
            f"Signature: {facts['signature']}"
        ),
        lines_after=frozenset(ends),
    )


# How WMT named the files of systems.
_FILE_NAME = re.compile(r"newstest\d{4}\.(.+)\.\d+\.[a-z]{2}-[a-z]{2}(?:\.txt)?")


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return names for tables and figures: those of WMT's files without test set, number and language pair.

    All stay as they are unless the names remain distinct.
    """
    matches = [_FILE_NAME.fullmatch(name) for name in names]
    short = {name: match[1] for name, match in zip(names, matches, strict=True) if match}
    is_distinct = len(set(short.values())) == len(set(names))
    return short if is_distinct else {name: name for name in names}


def _named(facts: Facts) -> Callable[[str], Cell]:
    """Return what makes a cell of the name of a system."""
    short = short_names([row["system"] for row in facts["systems"]])
    # Whole in CSV.
    return lambda name: Cell(short.get(name, name), name)


def opinions_table(facts: Facts) -> Table:
    """The same systems by TrueSkill, expected wins and Bradley-Terry, each with its rank."""
    systems, named = facts["systems"], _named(facts)
    names = ("score", "expected_wins", "strength")
    ranks = {name: _ranks([row[name] for row in systems]) for name in names}
    return Table(
        name="opinions",
        caption=f"Three ways to score the systems of {facts['campaign']}",
        columns=[
            Column("system", is_number=False),
            *(
                Column(title)
                for score in ("TrueSkill", "expected wins", "Bradley-Terry")
                for title in (score, f"rank by {score}")
            ),
            Column("standard error"),
            Column("range by Bradley-Terry"),
            Column("# by Bradley-Terry"),
        ],
        rows=[
            [
                named(row["system"]),
                *(
                    cell
                    for name in names
                    for cell in (number(row[name]), _rank(ranks[name][place]))
                ),
                number(row["strength_error"]),
                *_own_range(row),
            ]
            for place, row in enumerate(systems)
        ],
        note=(
            "Expected wins: mean over opponents of wins / (wins + losses). Bradley-Terry: logit strengths, a tie "
            "is half a win for each, with standard errors; ranges and clusters (#) over draws of the strengths."
        ),
    )


def _own_range(row: Facts) -> tuple[Cell, Cell]:
    """Return the rank range and the cluster by Bradley-Terry, which rankings of earlier versions lack."""
    if "strength_cluster" not in row:
        return Cell(NOTHING), Cell(NOTHING)
    best, worst = row["strength_best"], row["strength_worst"]
    shown = str(best) if best == worst else f"{best}–{worst}"
    return Cell(shown), count(row["strength_cluster"])


def _ranks(scores: Sequence[float | None]) -> list[int | None]:
    """Return the rank of each score, 1 for the highest; equal scores share the better rank."""
    given = [score for score in scores if score is not None]
    return [
        None if score is None else 1 + sum(other > score for other in given) for score in scores
    ]


def _rank(rank: int | None) -> Cell:
    return Cell(NOTHING) if rank is None else count(rank)


def head_to_head_table(facts: Facts) -> Table:
    """How often the column's system was ranked above the row's, without ties (WMT15, tables 25 to 34)."""
    pairs, systems = facts["head_to_head"], facts["systems"]
    names, named = pairs["systems"], _named(facts)
    rows = []
    for row, name in enumerate(names):
        cells = [named(name)]
        for column in range(len(names)):
            share = pairs["shares"][column][row]
            text = (
                NOTHING if share is None else f".{round(100 * share):02d}" if share < 1 else "1.0"
            )
            mark = MARKS[pairs["marks"][column][row]] if share is not None else ""
            cells.append(Cell(text + mark, share, bold=share is not None and share > 0.5))
        rows.append(cells)
    summaries: list[tuple[str, Callable[[Facts], Cell]]] = [
        ("score", lambda row: number(row["score"], 2)),
        ("rank", lambda row: Cell(_range(row))),
    ]
    for title, cell in summaries:
        rows.append([Cell(title), *map(cell, systems)])
    return Table(
        name="head-to-head",
        caption=f"Head-to-head comparison of the systems of {facts['campaign']}",
        columns=[
            Column("System", is_number=False),
            *(Column(named(name).text, is_upright=True) for name in names),
        ],
        rows=rows,
        note=(
            "Each cell is how often the system in the column was judged better than the one in the row, ignoring "
            "ties; bold if it won more often. Sign test: * p ≤ .10, † p ≤ .05, ‡ p ≤ .01."
        ),
        lines_after=frozenset({len(names) - 1}),
    )


def agreement_table(facts: Facts) -> Table:
    """Kappa between and within judges, ours and as published (WMT15, tables 4 and 5)."""
    return Table(
        name="agreement",
        caption=f"Agreement of the judges of {facts['campaign']}",
        columns=_KAPPA_COLUMNS,
        rows=[_kappa_cells(row) for row in facts["agreement"]],
        note=_KAPPA_NOTE,
    )


def groups_table(facts: Facts) -> Table | None:
    """Kappa within each group of judges, if there are groups."""
    if not (groups := facts.get("groups")):
        return None
    return Table(
        name="agreement-by-group",
        caption=f"Agreement within groups of the judges of {facts['campaign']}",
        columns=[Column("group", is_number=False), Column("judges"), *_KAPPA_COLUMNS],
        rows=[[Cell(row["group"]), count(row["n_judges"]), *_kappa_cells(row)] for row in groups],
        note=f"Judges are compared with others of their group. {_KAPPA_NOTE}",
    )


_KAPPA_COLUMNS = (
    Column("agreement", is_number=False),
    Column("counting", is_number=False),
    *(Column(title) for title in ("P(A)", "P(E)", "kappa", "comparisons")),
    Column("degree", is_number=False),
)
_KAPPA_NOTE = (
    "strict: the same two outputs in any order, between different judges. published: as WMT counted. "
    "Degrees as in Landis and Koch (1977)."
)


def _kappa_cells(row: Facts) -> list[Cell]:
    return [
        Cell({"inter": "between judges", "intra": "within judges"}[row["between"]]),
        Cell(row["counting"]),
        *(number(row[name]) for name in ("p_agree", "p_chance", "kappa")),
        count(row["n_comparable"]),
        Cell(row["word"] or NOTHING),
    ]


def metrics_table(facts: Facts) -> Table | None:
    """Tau and accuracy of metrics on single judgements, if there are metrics."""
    metrics = facts.get("metrics") or {}
    if not metrics.get("segments"):
        return None
    return Table(
        name="metrics",
        caption=f"Agreement of metrics with the judgements of {facts['campaign']}",
        columns=[
            Column("metric", is_number=False),
            Column("tau"),
            Column("95% interval", parts=ENDS),
            Column("tau without ties"),
            Column("accuracy"),
            Column("ties"),
            Column("judgements"),
        ],
        rows=[
            [
                Cell(row["metric"]),
                correlation(row["tau"]),
                interval(row["low"], row["high"]),
                correlation(row["tau_decided"]),
                correlation(row["accuracy"]),
                count(row["n_tied"]),
                count(row["n"]),
            ]
            for row in metrics["segments"]
        ],
        note=_certainty_note(metrics),
    )


def _certainty_note(metrics: Facts) -> str:
    return (
        "tau = (concordant − discordant) / judgements without human ties; a tie of the metric counts in the denominator, "
        "as in WMT14, or not at all. Intervals: t over segments (jackknife). "
        f"Of {metrics['n_judgements']:,} judgements, {metrics['share_ties']:.1%} are ties. As judges contradict each "
        f"other, no metric can have a tau above {metrics['ceiling']:.3f} or an accuracy above "
        f"{metrics['accuracy_ceiling']:.3f}."
    )


def metric_systems_table(facts: Facts) -> Table | None:
    """Correlations of metrics with the scores of systems, if there are metrics for three systems."""
    metrics = facts.get("metrics") or {}
    if not metrics.get("systems"):
        return None
    return Table(
        name="metrics-systems",
        caption=f"Correlation of metrics with the ranking of the systems of {facts['campaign']}",
        columns=[
            Column("metric", is_number=False),
            Column("Pearson"),
            Column("95% interval", parts=ENDS),
            Column("Spearman"),
            Column("Kendall"),
            Column("pairwise accuracy"),
            Column("Pearson with expected wins"),
            Column("systems"),
        ],
        rows=[
            [
                Cell(row["metric"]),
                correlation(row["pearson"]),
                interval(row["low"], row["high"]),
                *(
                    correlation(row[name])
                    for name in ("spearman", "kendall", "accuracy", "expected_wins")
                ),
                count(row["n"]),
            ]
            for row in metrics["systems"]
        ],
        note=(
            "With TrueSkill scores, unless named otherwise. Intervals: Fisher's z. Without system scores of its own a "
            "metric has the mean over its segments."
        ),
    )


def direct_assessment_table(facts: Facts) -> Table | None:
    """The ranking next to direct assessment of the same systems, if there is gold for them."""
    if not (other := facts.get("direct_assessment")):
        return None
    named = _named(facts)
    return Table(
        name="direct-assessment",
        caption=f"Ranking of {facts['campaign']} next to direct assessment of {other['campaign']}",
        columns=[
            Column("system", is_number=False),
            Column("TrueSkill"),
            Column("range", parts=("best", "worst")),
            Column("cluster"),
            Column("z"),
            Column("cluster by z"),
        ],
        rows=[
            [
                named(row["system"]),
                number(row["score"]),
                Cell(_range(row), (row["best"], row["worst"])),
                count(row["cluster"]),
                number(row["z"]),
                _rank(row["z_cluster"]),
            ]
            for row in other["rows"]
        ],
        note=(
            f"z: gold {other['run']} of {other['campaign']}. Over {other['n']} systems that have both: "
            f"Pearson {correlation(other['pearson']).text}, Spearman {correlation(other['spearman']).text}, "
            f"Kendall {correlation(other['kendall']).text}. Signature of the gold: {other['signature']}"
        ),
    )


# None where a ranking lacks what a table shows.
TABLES: dict[str, Callable[[Facts], Table | None]] = {
    "ranking": systems_table,
    "opinions": opinions_table,
    "head-to-head": head_to_head_table,
    "agreement": agreement_table,
    "agreement-by-group": groups_table,
    "metrics": metrics_table,
    "metrics-systems": metric_systems_table,
    "direct-assessment": direct_assessment_table,
}


def tables_of(facts: Facts) -> dict[str, Table]:
    """Return the tables that this ranking has."""
    made = {name: make(facts) for name, make in TABLES.items()}
    return {name: table for name, table in made.items() if table}


def _range(row: Facts) -> str:
    return str(row["best"]) if row["best"] == row["worst"] else f"{row['best']}-{row['worst']}"
