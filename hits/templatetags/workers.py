"""Format numbers about workers."""

from django import template

from ..workers.wording import p_in_digits

register = template.Library()


@register.filter
def pvalue(p: float | None) -> str:
    return "–" if p is None else p_in_digits(p)
