"""Render an admin's plain text as safe HTML: only paragraphs and lists. Any markup in it is shown as text."""

import re
from itertools import groupby

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

_BULLET = re.compile(r"\s*[-*•]\s+")
# A constant, with nothing from outside in it.
_BREAK = mark_safe("<br>")  # nosec B308
_NUMBER = re.compile(r"\s*\d{1,3}[.)]\s+")


def format_text(text: str) -> SafeString:
    """Turn blocks separated by blank lines into paragraphs, and lines beginning with `- ` or `1. ` into lists."""
    blocks = re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").strip())
    return format_html_join("\n", "{}", ((_block(block),) for block in blocks if block.strip()))


def _block(block: str) -> SafeString:
    pieces = groupby(block.split("\n"), key=_kind)
    return format_html_join("\n", "{}", ((_piece(kind, list(lines)),) for kind, lines in pieces))


def _kind(line: str) -> str:
    if _BULLET.match(line):
        return "ul"
    return "ol" if _NUMBER.match(line) else "p"


def _piece(kind: str, lines: list[str]) -> SafeString:
    if kind == "p":
        return format_html("<p>{}</p>", format_html_join(_BREAK, "{}", ((line,) for line in lines)))
    mark = _BULLET if kind == "ul" else _NUMBER
    items = format_html_join("", "<li>{}</li>", ((mark.sub("", line, count=1),) for line in lines))
    return format_html("<ul>{}</ul>" if kind == "ul" else "<ol>{}</ol>", items)
