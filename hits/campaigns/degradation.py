"""Degrade a translation. Pure: no database, and the same generator gives the same text.

A span of words in the middle is replaced by as many words from other segments' references. This damages the
meaning, but keeps the length, the beginning and end, the vocabulary of the test set and the system's white space.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import cache

import numpy as np
import regex

# Attempts to find a replacement that really differs.
MAX_TRIES = 50

# A span is only taken from a single donor if at least this many donors are long enough. Otherwise the one
# long reference of a test set would appear in every long degraded text.
MIN_DONORS = 10

# From this many words on, the first word and the last two are left alone.
MIN_UNITS_PROTECTED = 5
N_PROTECTED_START, N_PROTECTED_END = 1, 2

_SPACED_UNIT = regex.compile(r"\S+")
# In languages without spaces between words, a unit is a grapheme, or a whole foreign word or number.
_UNSPACED_SCRIPTS = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Khmer}\p{Lao}\p{Myanmar}\p{Tibetan}"
    r"\p{Tai_Tham}\p{New_Tai_Lue}\p{Javanese}\p{Balinese}"
)
_UNSPACED_UNIT = regex.compile(
    rf"(?V1)[[\p{{L}}\p{{N}}]--[{_UNSPACED_SCRIPTS}]][[\p{{L}}\p{{M}}\p{{N}}'’.\-]--[{_UNSPACED_SCRIPTS}]]*(?<![.'’\-])|(?=\S)\X"
)
_END_PUNCTUATION = regex.compile(r"[\p{P}\p{S}]*$")
_GAP = regex.compile(r"(?<=(\S))(\s+)(?=(\S))")


class CannotDegrade(ValueError):
    """This text cannot be degraded; choose another one."""


def unit_spans(text: str, *, spaced: bool) -> list[tuple[int, int]]:
    """Return where each word of `text` begins and ends, or each character if words are not spaced."""
    pattern = _SPACED_UNIT if spaced else _UNSPACED_UNIT
    return [match.span() for match in pattern.finditer(text)]


def span_length(n_units: int) -> int:
    """Return how many words of a text to replace."""
    if n_units <= 3:
        return 1
    if n_units <= 5:
        return 2
    if n_units <= 7:
        return 3
    if n_units <= 14:
        return 4
    if n_units <= 19:
        return 5
    return n_units // 4


def choose_span(n_units: int, rng: np.random.Generator) -> tuple[int, int]:
    """Choose the words to replace; return the index of the first, and one past the last."""
    length = span_length(n_units)
    if n_units >= MIN_UNITS_PROTECTED:
        last_start = n_units - N_PROTECTED_END - length
        start = int(rng.integers(N_PROTECTED_START, last_start + 1))
    else:
        # The only word of one, the last of two, the middle of three or four.
        start = n_units // 2 if n_units <= 3 else 1
    return start, start + length


class DonorPool:
    """The texts that replacement words are taken from.

    Parameters
    ----------
    texts : sequence of str
        References of the test set or, if there are none, translations.
    keys : sequence of hashable
        Key of each text. A degraded text never takes words from a text with its own key.
    spaced : bool
        Whether the language puts spaces between words.
    """

    def __init__(self, texts: Sequence[str], keys: Sequence[Hashable], *, spaced: bool) -> None:
        self.spaced = spaced
        self._texts = texts
        numbers: dict[Hashable, int] = {}
        self._keys = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=int)
        self._key_numbers = numbers
        n_units = np.array([len(unit_spans(text, spaced=spaced)) for text in texts], dtype=int)
        # Not the first and last words: their case and punctuation would stand out. If all texts have
        # only one or two words, there is no choice.
        self._n_edge = 1 if (n_units > 2).any() else 0
        self._n_usable = n_units - 2 * self._n_edge

    def draw(self, n_units: int, *, key: Hashable, rng: np.random.Generator) -> str:
        """Draw words from texts with other keys than `key`, in as few spans as possible.

        Every span of the right length in these texts is equally likely. Spans keep their white space.
        """
        foreign = self._n_usable * (self._keys != self._key_numbers.get(key, -1))
        return (" " if self.spaced else "").join(self._draw(n_units, foreign, rng))

    def _draw(self, n_units: int, usable: np.ndarray, rng: np.random.Generator) -> list[str]:
        n_required = min(MIN_DONORS, int(np.count_nonzero(usable > 0)))
        n_windows = np.maximum(usable - n_units + 1, 0)
        if n_units > 1 and np.count_nonzero(n_windows) < n_required:
            half = n_units // 2
            return self._draw(n_units - half, usable, rng) + self._draw(half, usable, rng)
        ends = np.cumsum(n_windows)
        if n_required == 0:
            raise CannotDegrade("There are no texts of other segments to take words from.")
        place = int(rng.integers(ends[-1]))
        donor = int(np.searchsorted(ends, place, side="right"))
        start = self._n_edge + place - int(ends[donor] - n_windows[donor])
        return [self._span(donor, start, start + n_units)]

    def _span(self, donor: int, start: int, end: int) -> str:
        text = self._texts[donor]
        units = unit_spans(text, spaced=self.spaced)
        return text[units[start][0] : units[end - 1][1]]


class Spacing:
    """Which white space a system uses, and where.

    French has a no-break space before a colon, but some systems write a plain one. Either would stand
    out in the other's texts, so donors' words are spaced as the system would space them.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        counts = Counter(gap for text in texts for gap in _GAP.findall(text))
        all_gaps: Counter[str] = Counter()
        by_place: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for (left, gap, right), n_times in counts.items():
            all_gaps[gap] += n_times
            for place in _places(left, right):
                by_place[place][gap] += n_times
        self._usual = {place: _most_common(gaps) for place, gaps in by_place.items()}
        self._written = set(all_gaps)
        self._fallback = _most_common(all_gaps) if all_gaps else " "

    def follow(self, text: str, begin: int, end: int) -> str:
        """Rewrite the gaps within and next to `text[begin:end]` as the system would."""
        return _GAP.sub(
            lambda gap: (
                self._as_usual(gap) if gap.end() >= begin and gap.start() <= end else gap.group()
            ),
            text,
        )

    def _as_usual(self, gap: regex.Match[str]) -> str:
        left, space, right = gap.groups()
        for place in _places(left, right):
            if place in self._usual:
                return self._usual[place]
        return space if space in self._written else self._fallback


@cache
def _places(left: str, right: str) -> list[tuple[str, str]]:
    """Describe a gap by both of its neighbours, then by each one alone if it is a punctuation mark."""
    left, right = _kind(left), _kind(right)
    by_one_mark = [("", right), (left, "")]
    return [(left, right)] + [place for place in by_one_mark if not _is_wordy("".join(place))]


def _kind(character: str) -> str:
    """Return "0" for a digit, "a" for a letter, and a punctuation mark itself."""
    if character.isdigit():
        return "0"
    return "a" if _is_wordy(character) else character


def _is_wordy(character: str) -> bool:
    return not regex.match(r"[\p{P}\p{S}]", character)


def _most_common(gaps: Counter[str]) -> str:
    return gaps.most_common(1)[0][0]


def degrade(
    text: str, *, key: Hashable, donors: DonorPool, spacing: Spacing, rng: np.random.Generator
) -> str:
    """Return `text` with a span of its words replaced by as many words of other segments.

    The result differs from the text in more than case. It has as many words, the same beginning and end,
    and the spacing of its system: only its meaning gives it away.

    Raises
    ------
    CannotDegrade
        If the text has at most one character, or the donors offer nothing different.
    """
    spans = unit_spans(text, spaced=donors.spaced)
    if not spans or len(text.strip()) <= 1:
        raise CannotDegrade("An empty or one-character text cannot be degraded.")
    for _ in range(MAX_TRIES):
        first, after = choose_span(len(spans), rng)
        begin, end = spans[first][0], spans[after - 1][1]
        new = _in_case_of(text, donors.draw(after - first, key=key, rng=rng))
        if after == len(spans):
            new = _with_ending_of(text[begin:end], new)
        if first == 0:
            new = _with_first_letter_of(text[begin:end], new)
        result = spacing.follow(text[:begin] + new + text[end:], begin, begin + len(new))
        # Without spaces, two adjacent foreign words would become one.
        keeps_count = len(unit_spans(result, spaced=donors.spaced)) == len(spans)
        if keeps_count and new.casefold() != text[begin:end].casefold():
            return result
    raise CannotDegrade(f"No replacement changed the text in {MAX_TRIES} attempts.")


def _in_case_of(text: str, new: str) -> str:
    """Match a text that is all lower or all upper case, as some systems' output is."""
    if text.islower():
        return new.lower()
    return new.upper() if text.isupper() else new


def _with_ending_of(old: str, new: str) -> str:
    bare = _END_PUNCTUATION.sub("", new, count=1)
    # If `new` is all punctuation, keep it rather than lose the word.
    return bare + _ending(old) if bare else new


def _ending(text: str) -> str:
    match = _END_PUNCTUATION.search(text)
    return match.group() if match else ""


def _with_first_letter_of(old: str, new: str) -> str:
    if old[:1].isupper():
        return new[:1].upper() + new[1:]
    return new[:1].lower() + new[1:] if old[:1].islower() else new
