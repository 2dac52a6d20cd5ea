"""The columns of document scores."""

from analysis.gold.documents import document_rows
from analysis.models import GoldRun

from .batches import Batch
from .queries import Column, Kind

COLUMNS = (
    Column("campaign", Kind.TEXT),
    Column("system", Kind.TEXT),
    Column("document", Kind.TEXT),
    Column("raw", Kind.NUMBER),
    Column("z", Kind.NUMBER),
    Column("raw_se", Kind.NUMBER),
    Column("z_se", Kind.NUMBER),
    Column("n_segments", Kind.INTEGER),
    Column("n_incomplete", Kind.INTEGER),
    Column("n_ratings", Kind.INTEGER),
    Column("is_complete", Kind.FLAG),
)


def document_columns(run: GoldRun) -> Batch:
    """Return the columns of all documents, by system."""
    rows = list(document_rows(run, sort="system"))
    values = [[row[column.name] for row in rows] for column in COLUMNS[2:]]
    names = [row["system_name"] for row in rows]
    return [[run.campaign.name] * len(rows), names, *values]
