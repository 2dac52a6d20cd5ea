"""What can go wrong while exporting, each with a message fit for the reader."""

from hits.exceptions import HitsError


class ExportError(HitsError):
    """An export that was not made; nothing of it is left behind."""


class ExportRefused(ExportError):
    """Something was asked for that the platform does not export, or not to this person."""


class ExportFailed(ExportError):
    """The file could not be written to its end."""
