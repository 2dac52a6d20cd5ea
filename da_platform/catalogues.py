"""The languages that the workers' pages are translated into: those with a catalogue."""

from pathlib import Path

from langcodes import Language


def catalogue_languages(folder: Path) -> list[tuple[str, str]]:
    """Return the code and the name, in the language itself, of each language with a catalogue."""
    names = sorted(path.parents[1].name for path in folder.glob("*/LC_MESSAGES/django.mo"))
    return [(code, name_in_itself(code)) for code in map(_language_code, names)]


def _language_code(locale_name: str) -> str:
    """Return `zh-hans` for `zh_Hans`."""
    return locale_name.lower().replace("_", "-")


def name_in_itself(code: str) -> str:
    name = Language.get(code).autonym()
    return name[0].upper() + name[1:]
