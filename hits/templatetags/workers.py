"""Numbers about workers, as people read them."""

from django import template

register = template.Library()


@register.filter
def pvalue(p: float | None) -> str:
    """Write a p-value with four digits; one that would read as 0 is said to be smaller."""
    if p is None:
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
