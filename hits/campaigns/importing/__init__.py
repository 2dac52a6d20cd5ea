"""Campaign files -> rows. A campaign that is refused leaves nothing behind but a list of what to mend."""

from da_platform.files.problems import MAX_LISTED, Problem

from .detection import FORMATS
from .service import ImportSummary, import_campaign
from .storing import fingerprint

__all__ = ["FORMATS", "MAX_LISTED", "ImportSummary", "Problem", "fingerprint", "import_campaign"]
