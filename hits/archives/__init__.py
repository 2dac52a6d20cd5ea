"""Finished collections -> closed campaigns, so that old ratings can be analysed anew."""

from .decisions import Judgement
from .service import FORMATS, CollectionSummary, import_collection

__all__ = ["FORMATS", "CollectionSummary", "Judgement", "import_collection"]
