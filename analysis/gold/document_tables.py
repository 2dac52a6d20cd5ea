"""A table of the scores of documents, for reports."""

from ..models import GoldRun
from ..tables.table import Column, Table, number, text
from .documents import document_rows

# A report is no place for more; all of them can be exported.
MOST_DOCUMENTS = 40
MOST_SYSTEMS = 12


def document_table(run: GoldRun) -> Table | None:
    """Return the mean z-score of every document, with a column for each system; None without documents.

    Long tables end after some documents, and have the first systems only.
    """
    rows = list(document_rows(run))
    documents = list(dict.fromkeys(row["document"] for row in rows))
    systems = list(dict.fromkeys(row["system_name"] for row in rows))
    if not any(row["n_segments"] for row in rows):
        return None
    z = {(row["document"], row["system_name"]): row["z"] for row in rows}
    note = "Mean z-scores of the complete segments of each document."
    if len(documents) > MOST_DOCUMENTS or len(systems) > MOST_SYSTEMS:
        note += (
            f" The first {min(len(documents), MOST_DOCUMENTS):,} of {len(documents):,} documents and "
            f"{min(len(systems), MOST_SYSTEMS):,} of {len(systems):,} systems; the export of documents has all."
        )
    shown = systems[:MOST_SYSTEMS]
    return Table(
        name="documents",
        caption="Documents",
        columns=[Column("document", is_number=False), *map(Column, shown)],
        rows=[
            [text(document), *(number(z.get((document, system)), 2) for system in shown)]
            for document in documents[:MOST_DOCUMENTS]
        ],
        note=note,
    )
