"""What can go wrong in operation, each with a message fit for the reader."""

from ..exceptions import PlatformError


class BackupRefused(PlatformError):
    """A backup that cannot be made, read or restored."""
