"""Export HITs and results as Mechanical Turk batch files, and import results from them."""

from .exporting import BatchHIT, BatchItem, batch_hits, export_batch, read_batch_hits
from .results import ResultsSummary, import_results

__all__ = [
    "BatchHIT",
    "BatchItem",
    "ResultsSummary",
    "batch_hits",
    "export_batch",
    "import_results",
    "read_batch_hits",
]
