"""Import finished collections as closed campaigns, to analyse their ratings again."""

from .decisions import Judgement
from .service import FORMATS, CollectionSummary, import_collection

__all__ = ["FORMATS", "CollectionSummary", "Judgement", "import_collection"]
