"""Tables of what the way of showing translations did to their scores."""

from collections.abc import Callable

from ..tables.table import ENDS, NOTHING, Cell, Column, Table, correlation, count, interval, number
from .presentation_effects import Facts


def screens_table(facts: Facts) -> Table | None:
    """Mean deviations by place on a screen; None unless outputs were shown side by side."""
    if not (effect := facts["screens"]):
        return None
    return _places(
        effect,
        name="screen-places",
        caption=f"Scores by place on the screen in {facts['campaign']}",
        note="Mean deviation of trusted z-scores from the mean of their screen. Each worker sees a "
        "different order, so the permutation test within screens is exact",
    )


def documents_table(facts: Facts) -> Table | None:
    """Mean deviations by place in a run; None unless documents were shown."""
    if not (effect := facts["documents"]):
        return None
    return _places(
        effect,
        name="document-places",
        caption=f"Scores by place in the document in {facts['campaign']}",
        note="Mean deviation of genuine trusted z-scores from the mean of their run, averaged over "
        "workers and systems. The order is the author's, so a difference may come from the "
        "texts. Permutation within runs",
    )


def _places(effect: Facts, *, name: str, caption: str, note: str) -> Table:
    found = places_in_words(effect)
    return Table(
        name=name,
        caption=caption,
        columns=[Column("place"), Column("deviation in z"), Column("scores")],
        rows=[
            [count(place), number(mean), count(n)]
            for place, mean, n in zip(effect["places"], effect["means"], effect["n"], strict=True)
        ],
        note=f"{note}. {found} Signature: {effect['signature']}",
    )


def places_in_words(effect: Facts) -> str:
    """Say what both tests of places found."""
    if effect["pvalue"] is None:
        return "Nothing was shown in several places, so there is nothing to test."
    return (
        f"Any difference between places: {_p(effect['pvalue'])}; change per place: {number(effect['slope']).text} in z, "
        f"{_p(effect['slope_pvalue'])} ({effect['n_units']:,} screens or runs with several texts)."
    )


def context_table(facts: Facts) -> Table | None:
    """Each system's z in both campaigns, over the same texts; None without another campaign."""
    if not (effect := facts["context"]):
        return None
    names = ("systems", "first", "second", "differences", "low", "high", "pvalues", "adjusted", "n")
    rows = zip(*(effect[name] for name in names), strict=True)
    return Table(
        name="context",
        caption=f"The same texts in {facts['campaign']} and {effect['against']}",
        columns=[
            Column("system", is_number=False),
            Column("z here"),
            Column("z there"),
            Column("difference"),
            Column("95% interval", parts=ENDS),
            Column("p"),
            Column("p (Holm)"),
            Column("texts"),
        ],
        rows=[
            [
                Cell(system, system),
                number(first),
                number(second),
                number(difference),
                interval(low, high, 3),
                number(pvalue, 4),
                number(adjusted, 4),
                count(n),
            ]
            for system, first, second, difference, low, high, pvalue, adjusted, n in rows
        ],
        note=f"{context_in_words(effect)} Signature: {effect['signature']}",
    )


def context_in_words(effect: Facts) -> str:
    """Say what was compared, and how alike both scores are."""
    r = correlation(effect["r"]).text
    alike = "" if r == NOTHING else f" The two scores correlate at r = {r}."
    return (
        f"Here: {_shown(effect['shown'])} (gold {effect['gold']}); there: {_shown(effect['shown_there'])} "
        f"(gold {effect['gold_there']} of {effect['against']}). {sum(effect['n']):,} outputs of "
        f"{effect['n_documents']:,} documents have the same text and complete gold in both.{alike} Intervals and "
        "two-sided tests resample whole documents. z has a mean of about 0 in each campaign, so a difference is one "
        "relative to the other systems."
    )


def _shown(label: str) -> str:
    return label[:1].lower() + label[1:]


def _p(p: float) -> str:
    return f"p = {p:.4f}"


# None where nothing of the kind was shown.
TABLES: dict[str, Callable[[Facts], Table | None]] = {
    "screen-places": screens_table,
    "document-places": documents_table,
    "context": context_table,
}


def tables_of(facts: Facts) -> dict[str, Table]:
    """Return the tables that these effects have."""
    made = {name: make(facts) for name, make in TABLES.items()}
    return {name: table for name, table in made.items() if table}


def in_words(facts: Facts) -> list[str]:
    """Say in sentences what was measured, for the methods of a report."""
    sentences = []
    if screens := facts["screens"]:
        sentences.append(
            "Deviations of z-scores from the mean of their screen were tested for an effect of the place on the screen, "
            f"by permutation within screens. {places_in_words(screens)}"
        )
    if documents := facts["documents"]:
        sentences.append(
            "Deviations of z-scores from the mean of their run were tested for an effect of the place in the document, "
            f"by permutation within runs. {places_in_words(documents)}"
        )
    if context := facts["context"]:
        sentences.append(
            f"Scores were compared with those of the same texts in another campaign. {context_in_words(context)}"
        )
    return [" ".join(sentences)] if sentences else []
