"""Write tables as LaTeX with booktabs, or as Markdown. Text from users is escaped in both."""

import re

from .table import Cell, Column, Table

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
    "–": "--",
    "…": r"\dots{}",
    "≤": r"$\leq$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
}
_LATEX_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_SPACES = re.compile(r"\s+")

# A table with more rows does not fit on a page and gets a smaller font.
ROWS_AT_NORMAL_SIZE = 30


def escape_latex(text: str) -> str:
    r"""Escape text for LaTeX: `a_b` becomes `a\_b`."""
    return _LATEX_SPECIAL.sub(lambda match: _LATEX[match[0]], _one_line(text))


def escape_markdown(text: str) -> str:
    """Escape text for Markdown, including table cells."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", _one_line(text))


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", "".join(char for char in text if char.isprintable() or char.isspace()))


def to_latex(table: Table) -> str:
    r"""Return a `table` environment with booktabs rules; needs `\usepackage{booktabs}`."""
    layout = "".join("r" if column.is_number else "l" for column in table.columns)
    titles = " & ".join(map(_latex_title, table.columns))
    has_shades = any(cell.shaded for row in table.rows for cell in row)
    has_upright = any(column.is_upright for column in table.columns)
    packages = {"booktabs": True, "colortbl": has_shades, "graphicx": has_upright}
    needed = " and ".join(rf"\usepackage{{{name}}}" for name in packages if packages[name])
    lines = [
        f"% Needs {needed}.",
        r"\begin{table}",
        r"\centering",
        *([r"\footnotesize"] if len(table.rows) > ROWS_AT_NORMAL_SIZE else []),
        rf"\begin{{tabular}}{{{layout}}}",
        r"\toprule",
        rf"{titles} \\",
        r"\midrule",
    ]
    for place, row in enumerate(table.rows):
        lines.append(rf"{' & '.join(map(_latex_cell, row))} \\")
        if place in table.lines_after and place < len(table.rows) - 1:
            lines.append(r"\midrule")
    sentence = " ".join(filter(None, [f"{table.caption}.", table.note]))
    lines += [
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{{escape_latex(sentence)}}}",
        rf"\label{{tab:{re.sub('[^a-z0-9-]+', '-', table.name.casefold())}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_title(column: Column) -> str:
    title = escape_latex(column.title)
    return rf"\rotatebox{{90}}{{{title}}}" if column.is_upright else title


def _latex_cell(cell: Cell) -> str:
    text = escape_latex(cell.text)
    # LaTeX would read a bracket at the start of a row as an option of the line break before it.
    text = f"{{{text}}}" if text.startswith("[") else text
    text = rf"\textbf{{{text}}}" if cell.bold else text
    return rf"\cellcolor[gray]{{.85}}{text}" if cell.shaded else text


def to_markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown, with the caption above and the note below."""
    lines = [
        f"**{escape_markdown(table.caption)}.**",
        "",
        _markdown_row([escape_markdown(column.title) for column in table.columns]),
        _markdown_row(["--:" if column.is_number else ":--" for column in table.columns]),
        *(_markdown_row([_markdown_cell(cell) for cell in row]) for row in table.rows),
    ]
    if table.note:
        lines += ["", escape_markdown(table.note)]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell) -> str:
    text = escape_markdown(cell.text)
    text = f"**{text}**" if cell.bold else text
    # Markdown has no shades.
    return f"{text} °" if cell.shaded else text


def content_of(table: Table, fmt: str) -> bytes:
    """Return a table as the content of a file: `tex`, `md` or `csv`."""
    if fmt == "csv":
        return table.csv()
    return (to_latex(table) if fmt == "tex" else to_markdown(table)).encode()
