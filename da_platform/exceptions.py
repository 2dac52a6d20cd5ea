"""Errors that any part of the platform may raise, with messages for the user."""


class PlatformError(Exception):
    """The base class of errors with a message for the user."""


class SealBroken(PlatformError):
    """A secret was encrypted with a key that the platform no longer has."""


class TooMuch(PlatformError):
    """A file is larger than the platform accepts."""
