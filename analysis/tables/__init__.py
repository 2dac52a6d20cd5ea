"""Tables for papers: LaTeX, Markdown, and CSV with all digits."""

from .table import Cell, Column, Table, correlation, number
from .writing import to_latex, to_markdown

__all__ = [
    "Cell",
    "Column",
    "Table",
    "correlation",
    "number",
    "to_latex",
    "to_markdown",
]
