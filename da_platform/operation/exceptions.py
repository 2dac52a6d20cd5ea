"""Errors in operation, with messages for the user."""

from ..exceptions import PlatformError


class BackupRefused(PlatformError):
    """A backup that cannot be made, read or restored."""
