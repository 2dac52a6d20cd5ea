"""Mend uploaded texts where that takes no guessing, and keep a list of what was mended."""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

# Kept one by one; further mends are only counted.
MAX_KEPT = 100_000

# Encodings of one byte per character: a stray byte can be read on its own.
SINGLE_BYTE_ENCODINGS = (
    *(f"windows-{number}" for number in range(1250, 1259)),
    *(f"iso-8859-{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16)),
    "koi8-r",
    "koi8-u",
)
ENCODINGS = (*SINGLE_BYTE_ENCODINGS, "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr")

# White space that would break a text into lines or cells.
_BREAK_CHARACTERS = "\t\n\v\f\r\x85\u2028\u2029"
_BREAKS = re.compile(f"[{_BREAK_CHARACTERS}]+")
# C1 controls are kept: what they were before they were wrongly decoded would be a guess.
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class Mend:
    """A mend; `line` is None if it concerns the whole file."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.what}"


@dataclass
class Mender:
    """Mends what it may, and keeps the mends. By default, it mends nothing.

    `cleans` allows to remove byte order marks, CR LF and control characters and to normalise texts
    to NFC. `encoding` is how to read what is not UTF-8.
    """

    cleans: bool = False
    encoding: str = ""
    mends: list[Mend] = field(default_factory=list)
    n_mends: int = 0

    def scout(self) -> "Mender":
        """Return a mender that reads the same, for a first look, and whose mends are not kept."""
        return Mender(self.cleans, self.encoding)

    def add(self, file: str, line: int | None, what: str) -> None:
        self.n_mends += 1
        if len(self.mends) < MAX_KEPT:
            self.mends.append(Mend(file, line, what))

    def text(self, text: str, file: str, line: int | None) -> str:
        """Return the text without control characters and in NFC, if that is allowed."""
        if not self.cleans or (text.isascii() and text.isprintable()):
            return text
        mended = _CONTROLS.sub("", text)
        mended = _BREAKS.sub(" ", mended.strip(_BREAK_CHARACTERS))
        if mended != text:
            self.add(file, line, _removed(text))
        if not unicodedata.is_normalized("NFC", mended):
            mended = unicodedata.normalize("NFC", mended)
            self.add(file, line, "normalised to Unicode form NFC")
        return mended

    def decoded(self, raw: bytes, file: str, line: int) -> str | None:
        """Read a line that is not UTF-8 in the encoding; None if that fails too.

        Of a line that is UTF-8 for the most part, only the other bytes are read in the encoding.
        """
        if not self.encoding:
            return None
        strays = raw.decode(errors="surrogateescape")
        n_strays = sum("\udc80" <= character <= "\udcff" for character in strays)
        n_others = len(_BEYOND_ASCII.findall(strays)) - n_strays
        is_mixed = self.encoding in SINGLE_BYTE_ENCODINGS and n_strays < n_others
        try:
            text = (
                raw.decode(errors=_handler_name(self.encoding))
                if is_mixed
                else raw.decode(self.encoding)
            )
        except UnicodeDecodeError:
            return None
        noun = "byte" if n_strays == 1 else "bytes"
        what = f"{n_strays:,} {noun}" if is_mixed else "the line"
        self.add(file, line, f"read {what} as {self.encoding}, not UTF-8")
        return text


def _removed(text: str) -> str:
    """Say which characters were removed or replaced by a space."""
    parts = []
    for pattern, verb in ((_CONTROLS, "removed"), (_BREAKS, "made a space of")):
        counts = Counter("".join(pattern.findall(text)))
        if counts:
            parts.append(f"{verb} {_listed(counts.items())}")
    return " and ".join(parts)


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(
        f"U+{ord(character):04X}" + (f" ({n} times)" if n > 1 else "")
        for character, n in sorted(counts)
    )


def _handler_name(encoding: str) -> str:
    return f"da-platform-{encoding}"


def _read_strays(encoding: str, error: UnicodeError) -> tuple[str, int]:
    """Decode the bytes that are not UTF-8."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode(encoding), error.end


for _encoding in SINGLE_BYTE_ENCODINGS:
    codecs.register_error(_handler_name(_encoding), partial(_read_strays, _encoding))
