"""Escape texts in exported cells, so that spreadsheets do not run them as formulas, and undo it."""

import re
from collections.abc import Callable, Iterable
from urllib.parse import unquote

# Characters with which a formula may begin, including full-width and small forms, super- and
# subscripts and the minus sign, which some spreadsheets fold into the plain characters.
_FORMULA_SIGNS = "=+\\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−"
# Some spreadsheets skip white space and invisible characters before the sign; others split the cell at
# a leading tab or line break. Apostrophes match too, so that an added one can be told from an original.
_RISKY = re.compile(f"'*(?:[\t\r\n]|[\\s\u200b-\u200f\u2060\ufeff]*[{_FORMULA_SIGNS}])")

_TSV_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_TSV_ESCAPE = re.compile(r"[\\\t\n\r]")
_TSV_ESCAPED = re.compile(r"\\([\\tnr])")
_TSV_MEANING = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}

_SPACE_OR_PERCENT = re.compile(r"[\s%]")
_NAMES_SEPARATOR = "|"


def defuse(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula."""
    return f"'{text}" if _RISKY.match(text) else text


def undo_defuse(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _RISKY.match(cell) else cell


def escape_tsv(text: str) -> str:
    r"""Write tab, line feed, carriage return and backslash as \t, \n, \r and \\."""
    return _TSV_ESCAPE.sub(lambda match: _TSV_ESCAPES[match[0]], text)


def undo_escape_tsv(cell: str) -> str:
    return _TSV_ESCAPED.sub(lambda match: _TSV_MEANING[match[1]], cell)


def join_names(names: Iterable[str]) -> str:
    r"""Join names with `|`, writing a `|` in a name as `\|` and a backslash as `\\`."""
    return _NAMES_SEPARATOR.join(re.sub(r"([\\|])", r"\\\1", name) for name in names)


def undo_join_names(cell: str) -> list[str]:
    if not cell:
        return []
    names = [""]
    for piece in re.findall(r"\\.|\||[^\\|]+", cell, re.DOTALL):
        if piece == _NAMES_SEPARATOR:
            names.append("")
        else:
            names[-1] += piece[1:] if piece[0] == "\\" else piece
    return names


def escape_spaces(text: str) -> str:
    """Percent-encode white space and `%`, for layouts whose readers split lines at any space."""
    return _SPACE_OR_PERCENT.sub(
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), text
    )


undo_escape_spaces = unquote


class CellCache(dict):
    """Caches the results of a function on cells, since names and ids recur."""

    MAX_CELLS = 50_000

    def __init__(self, function: Callable[..., str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, cell: object) -> str:
        if len(self) >= self.MAX_CELLS:
            self.clear()
        self[cell] = result = self._function(cell)
        return result
