"""Say which metrics are as good as workers."""

from ..scores.human_rows import ROW_NAMES
from ..stats.thresholds import bare
from .results import GoldEvaluation, Options


def human_sentence(gold: GoldEvaluation, options: Options) -> str:
    """Return how the metrics compare with each row of workers in r; empty without such rows.

    "No significant difference" does not mean equal: with few translations, no test can tell.
    """
    tests = gold.comparison
    if tests is None:
        return ""
    adjusted = tests.adjusted
    sentences = []
    for row in ROW_NAMES:
        if row not in tests.metrics:
            continue
        at_row = tests.metrics.index(row)
        groups: dict[str, list[str]] = {"better": [], "worse": [], "no significant difference": []}
        for place, metric in enumerate(tests.metrics):
            if metric in ROW_NAMES:
                continue
            if adjusted[place, at_row] < options.alpha:
                groups["better"].append(metric)
            elif adjusted[at_row, place] < options.alpha:
                groups["worse"].append(metric)
            else:
                groups["no significant difference"].append(metric)
        found = "; ".join(
            f"{group}: {', '.join(names)}" for group, names in groups.items() if names
        )
        sentences.append(f" Against {row} (p < {bare(options.alpha)}): {found}.")
    return "".join(sentences)
