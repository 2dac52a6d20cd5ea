"""Errors of exports, with messages for the user."""

from da_platform.exceptions import PlatformError


class ExportError(PlatformError):
    """An export that was not made. No partial file is left."""


class ExportRefused(ExportError):
    """An export that is not possible, or not allowed for this user."""


class ExportFailed(ExportError):
    """The file could not be written completely."""
