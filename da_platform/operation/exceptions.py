"""What can go wrong in operation, each with a message fit for the reader."""

from hits.exceptions import HitsError


class BackupRefused(HitsError):
    """A backup that cannot be made, read or restored."""
