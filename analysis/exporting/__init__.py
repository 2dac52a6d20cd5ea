"""Ratings, evidence and gold out of the platform, as files of any size that say how they were made."""

from .errors import ExportError, ExportFailed, ExportRefused
from .service import FORMATS, KINDS, ExportSummary, default_file_name, export

__all__ = [
    "FORMATS",
    "KINDS",
    "ExportError",
    "ExportFailed",
    "ExportRefused",
    "ExportSummary",
    "default_file_name",
    "export",
]
