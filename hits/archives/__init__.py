"""Finished collections -> closed campaigns, so that old ratings can be analysed anew."""

from .judging import Judgement
from .service import FORMATS, CollectionSummary, import_collection

__all__ = ["FORMATS", "CollectionSummary", "Judgement", "import_collection"]
