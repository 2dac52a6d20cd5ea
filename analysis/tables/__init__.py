"""Tables ready for a paper: LaTeX and Markdown, and the same numbers as CSV with all their digits."""

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
