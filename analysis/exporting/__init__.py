"""Export ratings, evidence and gold to files of any size, with a record of how."""

from da_platform.files.errors import ExportError, ExportFailed, ExportRefused

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
