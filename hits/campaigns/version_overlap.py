"""How much versions of a text share with the gray text and the other outputs of its segment. Pure: no database."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import regex
from numpy.typing import NDArray

# Other outputs of the segment that a version is compared with exactly.
N_OTHERS_COMPARED = 4
# The longest character n-grams that are compared, as in chrF.
CHRF_ORDER, CHRF_BETA = 6, 2.0
# An odd factor, so that n-grams become numbers that hardly ever collide, modulo 2^64.
GRAM_BASE = np.uint64(0x9E3779B97F4A7C15)

_AROUND = regex.compile(r"^([\p{P}\p{S}]*)(.*?)([\p{P}\p{S}]*)$", regex.DOTALL)

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


def around(unit: str) -> tuple[str, str, str]:
    """Split a word into the marks before it, the word, and the marks after it; marks alone are a word."""
    match = _AROUND.match(unit)
    before, core, after = match.groups() if match else ("", unit, "")
    return (before, core, after) if core else ("", unit, "")


def fold(words: Sequence[str]) -> list[str]:
    return [word.casefold() for word in words]


@dataclass(frozen=True, slots=True)
class SegmentWords:
    """The gray text and the outputs of a segment, as words without marks."""

    key: Hashable
    gray: list[str]
    gray_text: str
    outputs: list[list[str]] = field(default_factory=list)
    output_texts: list[str] = field(default_factory=list)


class WordRows:
    """Texts of equally many words as rows of numbers, so that all are measured at once."""

    def __init__(self, texts: list[list[str]]) -> None:
        numbers: dict[str, int] = {}
        self._ids: Ids = np.array(
            [[numbers.setdefault(word, len(numbers)) for word in fold(text)] for text in texts]
        )
        self._numbers, self._words = numbers, list(numbers)
        self.n_words = self._ids.shape[1]
        self._by_length: dict[int, tuple[list[tuple[str, ...]], Ids]] = {}

    def _ngrams(self, n: int) -> tuple[list[tuple[str, ...]], Ids]:
        """The different n-grams of all rows, and how often each row has them."""
        if n not in self._by_length:
            base, width = len(self._words), max(self.n_words - n + 1, 0)
            codes = np.zeros((len(self._ids), width), dtype=np.int64)
            for offset in range(n):
                codes = codes * base + self._ids[:, offset : offset + width]
            different, places = np.unique(codes, return_inverse=True)
            counts = _count_in_rows(places.reshape(codes.shape), len(different))
            columns = []
            for _ in range(n):
                different, numbers = np.divmod(different, base)
                columns.append([self._words[number] for number in numbers.tolist()])
            self._by_length[n] = list(zip(*reversed(columns), strict=True)), counts
        return self._by_length[n]

    @cached_property
    def _counts(self) -> NDArray[np.float32]:
        return _count_in_rows(self._ids, len(self._words)).astype(np.float32)

    def share_of_distinct_words(self) -> Floats:
        return (self._counts > 0).sum(axis=1) / self.n_words

    def mean_of_words(self, value: Callable[[str], float]) -> Floats:
        return self._counts @ np.array([value(word) for word in self._words]) / self.n_words

    def share_of_ngrams(self, n: int, is_counted: Callable[[tuple[str, ...]], bool]) -> Floats:
        grams, counts = self._ngrams(n)
        counted = np.array([is_counted(gram) for gram in grams], dtype=np.int64)
        return counts @ counted / max(self.n_words - n + 1, 1)

    def ngram_f1(self, other: list[str], n: int) -> Floats:
        grams, counts = self._ngrams(n)
        wanted = ngrams(other, n)
        common = np.minimum(counts, np.array([wanted[gram] for gram in grams], dtype=np.int64))
        return 2 * common.sum(axis=1) / max(self.n_words - n + 1 + wanted.total(), 1)

    def share_of_letters(self, other: "Letters") -> Floats:
        """Share of the character n-grams inside words that the other text has too: much like chrF."""
        n_known = np.array([other[word] for word in self._words])
        return (self._counts @ n_known) / (self._counts @ self._n_grams)

    @cached_property
    def _n_grams(self) -> Ids:
        return np.array([len(_grams(word)) for word in self._words])


class Letters(dict[str, int]):
    """How many character n-grams of a word another text has too; every word is counted only once."""

    def __init__(self, other: list[str]) -> None:
        self._known = {gram for word in fold(other) for gram in _grams(word)}

    def __missing__(self, word: str) -> int:
        self[word] = sum(gram in self._known for gram in _grams(word))
        return self[word]


def ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    folded = fold(words)
    return Counter(zip(*(folded[i:] for i in range(n)), strict=False))


def _count_in_rows(ids: Ids, n_ids: int) -> Ids:
    """Count how often each row has each number below `n_ids`."""
    places = ids + n_ids * np.arange(len(ids))[:, None]
    return np.bincount(places.ravel(), minlength=len(ids) * n_ids).reshape(len(ids), n_ids)


@lru_cache(maxsize=4096)
def _grams(word: str) -> tuple[str, ...]:
    return tuple(
        word[i : i + n] for n in range(1, CHRF_ORDER + 1) for i in range(len(word) - n + 1)
    )


@dataclass(frozen=True)
class TextToDegrade:
    """A text to degrade, as words without marks."""

    words: list[str]
    segment: SegmentWords
    characters: "Characters"

    @cached_property
    def others(self) -> list[list[str]]:
        return [output for output in self.segment.outputs if output != self.words]

    @cached_property
    def other_letters(self) -> list["Letters"]:
        return [Letters(other) for other in self.others]

    @cached_property
    def gray_letters(self) -> "Letters":
        return Letters(self.segment.gray)

    @cached_property
    def _shares(self) -> dict[str, float]:
        """Of each word of the segment: 1 if the gray text has it, and the share of other outputs that do."""
        shares: defaultdict[str, float] = defaultdict(float)
        for word in set(fold(self.segment.gray)):
            shares[word] += 1
        for words in self.others:
            for word in set(fold(words)):
                shares[word] += 1 / len(self.others)
        return dict(shares)

    @cached_property
    def shared_up_to(self) -> list[float]:
        """The sum of the shares of the words before each place."""
        return np.cumsum(
            [0.0, *(self._shares.get(word, 0.0) for word in fold(self.words))]
        ).tolist()

    @cached_property
    def _new_shares(self) -> dict[str, float]:
        own = set(fold(self.words))
        return {word: share for word, share in self._shares.items() if word not in own}

    def gain(self, piece: list[str] | None) -> float:
        """The sum of the shares of words that the text does not have; -1 for no piece."""
        if piece is None:
            return -1.0
        return sum(self._new_shares.get(word, 0.0) for word in fold(piece))


class Characters:
    """Compares versions of one text with the gray text and other outputs by chrF, marks included.

    A library would count the n-grams of the other texts again for every version.
    """

    def __init__(self, text: str, spans: list[tuple[int, int]], segment: SegmentWords) -> None:
        self._marks = [around(text[start:end])[::2] for start, end in spans]
        self._others = [other for other in segment.output_texts if other != text]
        self._others = self._others[:N_OTHERS_COMPARED]
        self._gray = [segment.gray_text] if segment.gray_text else []

    def changes(self, words: list[str], versions: list[list[str]]) -> dict[str, Floats]:
        """How chrF changes from the words to each version."""
        texts = [self._text(version) for version in [words, *versions]]
        scores = chrf_of_each(texts, self._others + self._gray)
        changes = scores[1:] - scores[0]
        by_name = {}
        if self._others:
            by_name["other outputs' characters"] = changes[:, : len(self._others)].mean(axis=1)
        if self._gray:
            by_name["gray characters"] = changes[:, -1]
        return by_name

    def _text(self, words: list[str]) -> str:
        units = zip(self._marks, words, strict=True)
        return "".join(f"{before}{word}{after}" for (before, after), word in units)


def chrf_of_each(texts: list[str], others: list[str]) -> Floats:
    """Return chrF, between 0 and 1, of each text (row) with each other text (column)."""
    unspaced = ["".join(text.split()) for text in texts + others]
    rows = np.repeat(np.arange(len(unspaced)), [len(text) for text in unspaced])
    letters = np.frombuffer("".join(unspaced).encode("utf-32-le"), dtype=np.uint32).astype(
        np.uint64
    )
    precision = np.zeros((len(texts), len(others)))
    recall, n_orders = precision.copy(), precision.copy()
    grams = np.zeros_like(letters)
    for n in range(1, CHRF_ORDER + 1):
        grams = grams[: len(letters) - n + 1] * GRAM_BASE + letters[n - 1 :]
        inside = rows[: len(grams)] == rows[n - 1 :]
        different, places = np.unique(grams[inside], return_inverse=True)
        cells = rows[: len(grams)][inside] * len(different) + places
        counts = np.bincount(cells, minlength=len(unspaced) * len(different))
        counts = counts.reshape(len(unspaced), len(different))
        counts, other_counts = counts[: len(texts)], counts[len(texts) :]
        totals, other_totals = counts.sum(axis=1)[:, None], other_counts.sum(axis=1)
        for column, other in enumerate(other_counts):
            common = np.minimum(counts, other).sum(axis=1)
            precision[:, column] += common / np.maximum(totals[:, 0], 1)
            recall[:, column] += common / max(other_totals[column], 1)
        n_orders += (totals > 0) & (other_totals > 0)
    weighted = CHRF_BETA**2 * precision + recall
    product = (1 + CHRF_BETA**2) * precision * recall
    return product / np.where(weighted > 0, weighted, 1) / np.maximum(n_orders, 1)
