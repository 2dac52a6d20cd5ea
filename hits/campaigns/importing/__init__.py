"""Import a campaign from files. A refused import stores nothing and lists what to fix."""

from da_platform.files.problems import MAX_LISTED, Problem

from .detection import FORMATS
from .service import ImportSummary, import_campaign
from .storing import fingerprint

__all__ = ["FORMATS", "MAX_LISTED", "ImportSummary", "Problem", "fingerprint", "import_campaign"]
