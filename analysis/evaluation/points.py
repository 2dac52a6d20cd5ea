"""The points of a scatter plot for a page: where they are in the figure, and the texts behind them."""

from collections.abc import Iterable
from typing import Any

from da_platform.plots.rendering import Picture
from da_platform.plots.svg import hover_points
from hits.models import Campaign, SystemOutput

from ..models import Evaluation
from ..plots.scatter import hovered
from ..scores.score_tables import Key
from .file_names import file_names
from .result_page import picture_maker
from .results import EvaluationResult
from .stored_evaluations import rows_of

# What is known about a segment and its translation.
Texts = dict[str, str]


def points_of(evaluation: Evaluation, result: EvaluationResult, name: str) -> dict[str, Any] | None:
    """Return the points of a scatter plot, worst gold first; None if there is no such plot.

    Places are shares of the figure's width and height.
    """
    subject = _subject(result, name)
    make_picture = picture_maker(evaluation, result, name)
    if subject is None or make_picture is None:
        return None
    gold, metric = subject
    keys = rows_of(evaluation, gold, [metric]).alignment.keys
    shown = [keys[row] for row in hovered(len(keys))]
    # A document has no text of its own, though it could share its name with a segment.
    is_segment = result.options.level == "segment"
    texts = _texts(evaluation.campaign if is_segment else None, shown)
    points = [
        {"x": round(x, 5), "y": round(y, 5), "label": label, **texts.get(key, {})}
        for (x, y, label), key in zip(_places(make_picture()), shown, strict=True)
    ]
    return {"points": sorted(points, key=lambda point: -point["y"]), "n": len(keys)}


def _subject(result: EvaluationResult, name: str) -> tuple[str, str] | None:
    """Return the gold and the metric in a scatter plot."""
    files = file_names(result)
    for gold in result.golds:
        for row in gold.segment:
            parts = (row.metric, gold.gold.name)
            if name in (files["scatter", *parts], files["standardised", *parts]):
                return gold.gold.name, row.metric
    return None


def _places(picture: Picture) -> list[tuple[float, float, str]]:
    return hover_points(picture.render("svg"))


def _texts(campaign: Campaign | None, keys: Iterable[Key]) -> dict[Key, Texts]:
    """Return the texts of a campaign's outputs; files have none."""
    if campaign is None:
        return {}
    wanted = set(keys)
    outputs = SystemOutput.objects.filter(system__campaign=campaign).values_list(
        "system__name",
        "segment__name",
        "own_text",
        "translation__text",
        "segment__reference",
        "segment__source",
    )
    return {
        (system, segment): {
            "translation": text if own_text is None else own_text,
            "reference": reference or source,
        }
        for system, segment, own_text, text, reference, source in outputs.iterator()
        if (system, segment) in wanted
    }
