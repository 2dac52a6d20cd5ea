from django import template
from django.utils.safestring import SafeString

from .text_formatting import format_text

register = template.Library()


@register.filter
def formatted(text: str) -> SafeString:
    """Show an admin's plain text with its paragraphs and lists."""
    return format_text(text)
