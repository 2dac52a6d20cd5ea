"""Check whether texts and names can be shown to workers."""

import re
import unicodedata

# Far longer than any segment of a test set.
MAX_TEXT_LENGTH = 10_000
MAX_NAME_LENGTH = 200

_LINE_BREAKS = {
    "\n": "a line break",
    "\r": "a carriage return",
    "\v": "a line break",
    "\f": "a line break",
    "\x85": "a line break",
    "\u2028": "a line break",
    "\u2029": "a line break",
}
# Controls that change the text direction. The plain marks (U+200E, U+200F, U+061C) and the joiners
# (U+200C, U+200D) are allowed, because Persian, Hebrew and Indic texts need them.
_BIDI_CONTROLS = "\u202a-\u202e\u2066-\u2069"
_FORBIDDEN = re.compile(f"[\x00-\x1f\x7f\x85\u2028\u2029{_BIDI_CONTROLS}\ud800-\udfff]")
# Found in real test sets where Windows-1252 punctuation was decoded wrongly, such as U+0092 for an
# apostrophe. They are invisible and harmless, so they only deserve a note.
_C1_CONTROL = re.compile("[\x80-\x84\x86-\x9f]")
# Anything but white space and invisible characters: soft hyphen, zero-width ones, byte order mark.
_VISIBLE = re.compile("[^\\s\xad\u061c\u200b-\u200f\u2060-\u2064\ufeff\x80-\x9f]")


def fault_in_text(text: str, *, may_be_empty: bool = False) -> str | None:
    """Return why a text cannot be used, or None if it can."""
    if not text:
        return None if may_be_empty else "is empty"
    if match := _FORBIDDEN.search(text):
        return _forbidden_reason(match[0], match.start())
    if len(text) > MAX_TEXT_LENGTH:
        return f"is longer than {MAX_TEXT_LENGTH:,} characters"
    if not _VISIBLE.search(text):
        return "contains only white space or invisible characters"
    return None


def fault_in_name(name: str) -> str | None:
    """Return why the name of a system, segment or document cannot be used, or None if it can."""
    if fault := fault_in_text(name):
        return fault
    if len(name) > MAX_NAME_LENGTH:
        return f"is longer than {MAX_NAME_LENGTH} characters"
    if name != name.strip():
        return "begins or ends with white space"
    return None


def is_mendable(text: str) -> bool:
    """Return whether removing control characters and line breaks would mend a text."""
    match = _FORBIDDEN.search(text)
    return match is not None and unicodedata.category(match[0]) not in ("Cf", "Cs")


def has_c1_control(text: str) -> bool:
    return _C1_CONTROL.search(text) is not None


def _forbidden_reason(character: str, index: int) -> str:
    code = f"U+{ord(character):04X}"
    place = f"at character {index + 1}"
    if what := _LINE_BREAKS.get(character):
        return f"contains {what} ({code}) {place}; a text must be one line"
    if character == "\t":
        return f"contains a tab ({code}) {place}; is this a table?"
    category = unicodedata.category(character)
    if category == "Cs":
        return f"contains half a surrogate pair ({code}) {place}, which is not a character"
    if category == "Cf":
        name = unicodedata.name(character).lower()
        return f"contains a {name} ({code}) {place}, which can make a text look different from what it is"
    return f"contains a control character ({code}) {place}"
