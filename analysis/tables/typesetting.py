"""Typeset a report as PDF with Typst."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from da_platform.extras import needs_extra
from da_platform.plots.rendering import Picture

from .table import Table


def table_as_json(table: Table) -> dict[str, Any]:
    """Return what a template shows of a table."""
    return {
        "caption": table.caption,
        "note": table.note,
        "columns": [
            {"title": column.title, "is_number": column.is_number} for column in table.columns
        ],
        "rows": [[{"text": cell.text, "bold": cell.bold} for cell in row] for row in table.rows],
        "lines_after": sorted(table.lines_after),
    }


def typeset(template: Path, facts: dict[str, Any], pictures: Sequence[Picture]) -> bytes:
    """Return the PDF of a template, which reads the facts and pictures from `report.json`.

    Text from users is passed as data, never as markup.
    """
    # Imported here because they take a second to load.
    import matplotlib

    with needs_extra("pdf"):
        import typst

    shown = [
        {"file": f"{picture.name}.svg", "title": picture.title, "text": picture.alternative}
        for picture in pictures
    ]
    with tempfile.TemporaryDirectory(prefix="report-") as folder:
        root = Path(folder)
        (root / template.name).write_bytes(template.read_bytes())
        for picture in pictures:
            (root / f"{picture.name}.svg").write_bytes(picture.render("svg"))
        content = json.dumps(facts | {"pictures": shown})
        (root / "report.json").write_text(content, encoding="utf-8")
        # Matplotlib brings a font for scripts that the built-in one lacks.
        fonts = [str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")]
        pdf: bytes = typst.compile(str(root / template.name), root=str(root), font_paths=fonts)
        return pdf
