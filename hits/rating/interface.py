"""The strings of the workers' pages in words that no catalogue has: a campaign's own, or those of a language's file."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from gettext import NullTranslations
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.translation import trans_real

from ..guidance_files import FALLBACK_LANGUAGE, interface_in
from ..models import Campaign

PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}")
# Templates do not escape what is translated, and the slider's labels are split at bars.
FORBIDDEN = re.compile(r'[<>&"|]')

_ENTRY = re.compile(r'^msgid "(.+)"$(?:\nmsgid_plural "(.+)"$)?', re.M)


@cache
def interface_strings() -> dict[str, Any]:
    """Return every string of the workers' pages in English, by itself; one with a number has two forms."""
    [folder] = settings.LOCALE_PATHS
    # The catalogues have the same strings, each on a line, so any of them lists them all.
    catalogue = next(Path(folder).glob("*/LC_MESSAGES/django.po")).read_text(encoding="utf-8")
    return {
        text: {"one": text, "other": plural} if plural else text
        for text, plural in _ENTRY.findall(catalogue)
    }


def fault_in_interface(english: str, text: str) -> str | None:
    """Return why a text cannot take the place of the English string, or None if it can."""
    if sorted(PLACEHOLDER.findall(text)) != sorted(PLACEHOLDER.findall(english)):
        wanted = ", ".join(PLACEHOLDER.findall(english)) or "none"
        return f"has other placeholders than the English text ({wanted})"
    if match := FORBIDDEN.search(text):
        return f"contains {match[0]}, which the pages cannot show here"
    return None


class OwnWords(NullTranslations):
    """What Django asks for translations: the campaign's own words, then those of the catalogue."""

    def __init__(self, words: dict[str, Any], language: str, catalogue: Any) -> None:
        super().__init__()
        self._words = words
        self._language = language
        self._catalogue = catalogue

    def gettext(self, message: str) -> str:
        return self._words.get(message) or str(self._catalogue.gettext(message))

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        own = self._words.get(msgid1, {}).get("one" if n == 1 else "other")
        return own or str(self._catalogue.ngettext(msgid1, msgid2, n))

    def to_language(self) -> str:
        return self._language


def words_of(campaign: Campaign) -> dict[str, Any]:
    """Return the strings of the pages that do not come from a catalogue: the campaign's own, or those of a file."""
    own: dict[str, Any] = campaign.guidance.get("interface", {})
    return own or interface_in(campaign.page_language)


def page_language_of(campaign: Campaign) -> str:
    """Return the language of buttons and messages; own ones are in the target language."""
    has_own = bool(campaign.guidance.get("interface"))
    return campaign.target_language if has_own else campaign.page_language


@contextmanager
def speaking(campaign: Campaign) -> Iterator[None]:
    """Show pages in the campaign's interface language, or in its own words."""
    has_catalogue = campaign.page_language in dict(settings.LANGUAGES)
    catalogue_language = campaign.page_language if has_catalogue else FALLBACK_LANGUAGE
    with translation.override(catalogue_language):
        if words := words_of(campaign):
            # Django has no other way to use a catalogue that is not a file; `override` restores the last one.
            catalogue = trans_real.translation(catalogue_language)
            own_words = OwnWords(words, page_language_of(campaign), catalogue)
            trans_real._active.value = own_words  # type: ignore[attr-defined]
        yield
