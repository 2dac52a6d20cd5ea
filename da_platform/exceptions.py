"""Refusals that any part of the platform may raise, each with a message fit for the reader."""


class PlatformError(Exception):
    """The platform refuses to do what was asked."""


class SealBroken(PlatformError):
    """A secret was sealed with a key that the platform no longer has."""


class TooMuch(PlatformError):
    """A file holds more than the platform reads."""
