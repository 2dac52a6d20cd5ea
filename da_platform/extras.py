"""Packages that few need: extras of the wheel, imported when they are first used."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from .exceptions import PlatformError


class ExtraMissing(PlatformError):
    """A package of an extra is not installed."""


def missing_extra(extra: str) -> str:
    return f"This needs packages that are not installed: pip install 'da-platform[{extra}]'"


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Import the packages of an extra in the block, or say what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ExtraMissing(missing_extra(extra)) from error


def is_installed(package: str) -> bool:
    return find_spec(package) is not None
