"""Template tags for the pages of results."""

from typing import Any

from django import template
from django.template.context import Context

from da_platform.plots.rendering import CONTENT_TYPES, Picture
from hits.models import Participation

from ..gold.weights import latest_weight, reasons_for

register = template.Library()


@register.inclusion_tag("analysis/_picture.html", takes_context=True)
def result_picture(context: Context, picture: Picture, **other: Any) -> dict[str, Any]:
    """Show a figure of the page's run, with its downloads."""
    run = other.get("run", context.get("run"))
    return {
        "picture": picture,
        "campaign": context["campaign"],
        "run": run,
        "number": str(run.number) if run else "",
        "formats": list(CONTENT_TYPES),
    }


@register.inclusion_tag("analysis/_worker_weight.html")
def worker_weight(participation: Participation) -> dict[str, Any]:
    """Show what the worker's ratings are worth in the newest weighted gold, and why; nothing without one."""
    weight = latest_weight(participation)
    return {
        "campaign": participation.campaign,
        "weight": weight,
        "reasons": reasons_for(weight) if weight else [],
    }
