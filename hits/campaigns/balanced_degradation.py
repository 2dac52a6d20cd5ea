"""Make a bad translation whose form does not give it away. Pure: no database, and randomness is passed in.

The published recipe (`degradation.py`) always lowers the overlap with the gray text, so a script that counts
common words passes the test of workers. Here many damaged versions of a text are drawn, and one is kept whose
overlap with the gray text, and with everything else a script could remember, hardly changes on average. Every
version has lost words that carry meaning, and has others in the wrong place.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
import regex
from numpy.typing import NDArray

from .degradation import (
    MIN_UNITS_PROTECTED,
    N_PROTECTED_END,
    N_PROTECTED_START,
    CannotDegrade,
    Spacing,
    span_length,
    unit_spans,
)

# Damaged versions drawn at first; the best of them are damaged further in some rounds, and in the end the
# few best get an exact and slower look.
N_VERSIONS = 120
N_ROUNDS = 3
N_BEST = 8
# A version must have lost at least this share of the weight that a span of the published length has on
# average; the rarer a word, the more it weighs.
LEAST_DAMAGE = 0.6
MOST_LOST = 1.3
# Words of the same segment go to another part of the sentence: at least this share of its length away.
WRONG_PLACE = 0.25
# The change that is aimed at varies from text to text, so that no value of it is a sign.
AIM_SD = 0.02
# Words, or characters where words are not spaced, taken from one place at a time: few enough that nobody
# recognises where they come from.
LONGEST_PIECE = 3
LONGEST_UNSPACED_PIECE = 6
P_SWAP = 0.3
P_CONTINUED = 0.7
CHRF_ORDER, CHRF_BETA = 6, 2.0


@dataclass(frozen=True, slots=True)
class Balance:
    """How a measure enters the choice: its weight, and the change to aim at.

    Versions that lose overlap are easier to find than those that gain it, so the aim lies a little above
    zero where the result would otherwise lie below.
    """

    weight: float
    lean: float = 0.0


GRAY_WORDS = Balance(3.0, 0.015)
GRAY_CHARACTERS = Balance(3.0, 0.03)
GRAY_NEIGHBOURS = Balance(1.0, 0.02)
OTHER_OUTPUTS = Balance(2.0, 0.03)
KNOWN_NEIGHBOURS = Balance(1.5, 0.02)
DISTINCT_WORDS = Balance(3.0, 0.01)
FREQUENCY = Balance(0.2, 0.0)

_AROUND = regex.compile(r"^([\p{P}\p{S}]*)(.*?)([\p{P}\p{S}]*)$", regex.DOTALL)
_PAIRED_MARKS = regex.compile(r"[\p{Ps}\p{Pe}\p{Pi}\p{Pf}\"]")

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


def _around(unit: str) -> tuple[str, str, str]:
    """Split a word into the marks before it, the word, and the marks after it; marks alone are a word."""
    match = _AROUND.match(unit)
    before, core, after = match.groups() if match else ("", unit, "")
    return (before, core, after) if core else ("", unit, "")


def _fold(words: Sequence[str]) -> list[str]:
    return [word.casefold() for word in words]


@dataclass(frozen=True, slots=True)
class _Segment:
    """The gray text and the outputs of a segment, as words without marks."""

    key: Hashable
    gray: list[str]
    outputs: list[list[str]] = field(default_factory=list)


class _Dice:
    """Numbers from a generator, drawn in blocks: one at a time they take longer than the work."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._numbers = self._draw()

    def _draw(self) -> Iterator[float]:
        while True:
            yield from self._rng.random(2048).tolist()

    def uniform(self) -> float:
        return next(self._numbers)

    def below(self, n: int) -> int:
        return int(next(self._numbers) * n)


class BalancedDegrader:
    """Degrades the outputs of a campaign.

    Parameters
    ----------
    texts : sequence of str
        All outputs. New words come from them, and never from another segment's gray text.
    keys : sequence of hashable
        The segment that each output belongs to.
    grays : mapping of hashable to str
        The text shown in gray with a segment's outputs; empty where there is none.
    gray_is_readable : bool
        Whether gray texts are in the language of the outputs, so that their words may be borrowed.
    spaced : bool
        Whether the language puts spaces between words.
    """

    def __init__(
        self,
        texts: Sequence[str],
        keys: Sequence[Hashable],
        grays: Mapping[Hashable, str],
        *,
        gray_is_readable: bool,
        spaced: bool,
    ) -> None:
        self.spaced = spaced
        self.gray_is_readable = gray_is_readable
        self._longest_piece = LONGEST_PIECE if spaced else LONGEST_UNSPACED_PIECE
        self._segments = {key: _Segment(key, self._words(gray)) for key, gray in grays.items()}
        self._outputs = [self._words(text) for text in texts]
        self._keys = list(keys)
        for key, words in zip(self._keys, self._outputs, strict=True):
            self._segments[key].outputs.append(words)

    def _words(self, text: str) -> list[str]:
        return [_around(text[a:b])[1] for a, b in unit_spans(text, spaced=self.spaced)]

    @cached_property
    def _places_of(self) -> dict[str, list[tuple[int, int]]]:
        """Where in the outputs each word is followed by others."""
        places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, words in enumerate(self._outputs):
            for i, word in enumerate(words[:-2]):
                places[word.casefold()].append((number, i))
        return dict(places)

    @cached_property
    def _n_segments_with(self) -> tuple[Counter[str], Counter[tuple[str, str]]]:
        """In how many segments each word and each pair of neighbours occurs."""
        words: Counter[str] = Counter()
        neighbours: Counter[tuple[str, str]] = Counter()
        for segment in self._segments.values():
            outputs = [_fold(output) for output in segment.outputs]
            words.update({word for output in outputs for word in output})
            neighbours.update({pair for output in outputs for pair in pairwise(output)})
        return words, neighbours

    def _weight(self, word: str) -> float:
        """How much meaning a word carries: the logarithm of how rare it is."""
        return float(np.log((len(self._segments) + 1) / (self._n_segments_with[0][word] + 1)))

    def degrade(
        self, text: str, *, key: Hashable, spacing: Spacing, rng: np.random.Generator
    ) -> str:
        """Return `text` with about a quarter of its words replaced, some of them moved.

        The result has as many words and marks, and begins and ends as the text does.

        Raises
        ------
        CannotDegrade
            If the text has at most one character, or no version of it has lost enough.
        """
        spans = unit_spans(text, spaced=self.spaced)
        if not spans or len(text.strip()) <= 1:
            raise CannotDegrade("An empty or one-character text cannot be degraded.")
        words = [_around(text[start:end])[1] for start, end in spans]
        version = self._search(words, self._segments[key], rng)
        return self._written(text, spans, words, version, spacing)

    def _search(self, words: list[str], segment: _Segment, rng: np.random.Generator) -> list[str]:
        """Draw versions and keep the best balanced, round by round."""
        dice, aim = _Dice(rng), float(rng.normal(0, AIM_SD))
        best = self._damaged_versions(words, [words] * N_VERSIONS, segment, dice)
        if not best:
            raise CannotDegrade("No version of the text is damaged enough.")
        for _ in range(N_ROUNDS):
            best = self._best_balanced(words, best, segment, aim)
            parents = best * (N_VERSIONS // len(best))
            best += self._damaged_versions(words, parents, segment, dice)
        best = self._best_balanced(words, best, segment, aim)
        if not segment.gray:
            return best[0]
        gray = "".join(segment.gray)
        wanted = chrf("".join(words), gray) + aim + GRAY_CHARACTERS.lean
        return min(best, key=lambda version: abs(chrf("".join(version), gray) - wanted))

    # Drawing versions ------------------------------------------------------------------------

    def _damaged_versions(
        self, words: list[str], parents: list[list[str]], segment: _Segment, dice: _Dice
    ) -> list[list[str]]:
        """Damage each parent once; keep what has lost enough, and no more than is wanted, of the text."""
        folded = _fold(words)
        weights = {word: self._weight(word) for word in folded}
        length = span_length(len(words))
        least = LEAST_DAMAGE * length * sum(map(weights.__getitem__, folded)) / len(folded)
        n_stutters = _n_stutters(folded)
        before = Counter(folded)
        versions = []
        for parent in parents:
            version = self._version(parent, 1 + dice.below(length), segment, dice)
            if version is None:
                continue
            after = _fold(version)
            lost = before - Counter(after)
            damage = sum(weights[word] * n for word, n in lost.items())
            if (
                damage >= least
                and lost.total() <= MOST_LOST * length + 1
                and _n_stutters(after) <= n_stutters
            ):
                versions.append(version)
        return versions

    def _version(
        self, words: list[str], length: int, segment: _Segment, dice: _Dice
    ) -> list[str] | None:
        """Let two spans change places, or replace one span by other words."""
        start, end = _changeable(len(words))
        version, length = list(words), min(length, end - start)
        if end - start >= 4 and dice.uniform() < P_SWAP:
            _swap_spans(version, start, end, longest=length + 1, dice=dice)
        share_own = dice.uniform()
        place = start + dice.below(end - start - length + 1)
        filling: list[str] = []
        while len(filling) < length:
            n_taken = min(length - len(filling), 1 + dice.below(self._longest_piece))
            at = place + len(filling)
            piece = None
            if dice.uniform() < share_own:
                piece = self._own_piece(segment, n_taken, at / len(words), dice)
            if piece is None:
                left = filling[-1] if filling else version[at - 1] if at else ""
                piece = self._foreign_piece(left, n_taken, segment.key, dice)
            if piece is None:
                return None
            filling += piece
        version[place : place + length] = filling
        return version

    def _own_piece(
        self, segment: _Segment, n_words: int, place: float, dice: _Dice
    ) -> list[str] | None:
        """Take words of the gray text or of another output from a wrong place."""
        sources = list(segment.outputs)
        if self.gray_is_readable and segment.gray:
            sources += [segment.gray] * len(sources)
        source = sources[dice.below(len(sources))]
        n_starts = len(source) - n_words - 1
        if n_starts < 1:
            return None
        start = 1 + dice.below(n_starts)
        if abs(start / len(source) - place) < WRONG_PLACE:
            return None
        return _without_paired_marks(source[start : start + n_words])

    def _foreign_piece(
        self, left: str, n_words: int, key: Hashable, dice: _Dice
    ) -> list[str] | None:
        """Take words of another segment's output, where possible from behind the same word as here."""
        places = self._places_of.get(left.casefold(), [])
        for _ in range(10):
            if places and dice.uniform() < P_CONTINUED:
                number, at = places[dice.below(len(places))]
                start = at + 1
            else:
                number = dice.below(len(self._outputs))
                start = 1 + dice.below(max(1, len(self._outputs[number]) - n_words - 1))
            output = self._outputs[number]
            # The last word is left out: its case and marks would stand out.
            if self._keys[number] == key or start + n_words >= len(output):
                continue
            if piece := _without_paired_marks(output[start : start + n_words]):
                return piece
        return None

    # Choosing --------------------------------------------------------------------------------

    def _best_balanced(
        self, words: list[str], versions: list[list[str]], segment: _Segment, aim: float
    ) -> list[list[str]]:
        """Return the few versions whose measures change most nearly as they should, best first."""
        rows = _WordRows([words, *versions])
        distances = np.zeros(len(versions))
        for measure, balance in self._measures(rows, words, segment):
            change = measure[1:] - measure[0]
            distances += balance.weight * np.square(change - aim - balance.lean)
        return [versions[i] for i in np.argsort(distances)[:N_BEST].tolist()]

    def _measures(
        self, rows: "_WordRows", words: list[str], segment: _Segment
    ) -> Iterator[tuple[Floats, Balance]]:
        """What a script could count in a text, of all versions at once."""
        n_segments_with, known = self._n_segments_with
        own = {pair for output in segment.outputs for pair in pairwise(_fold(output))}
        yield rows.share_of_neighbours(lambda pair: known[pair] > (pair in own)), KNOWN_NEIGHBOURS
        yield rows.share_of_distinct_words(), DISTINCT_WORDS
        yield rows.mean_of_words(lambda word: np.log1p(n_segments_with[word])), FREQUENCY
        others = [output for output in segment.outputs if output != words]
        if others:
            yield np.mean([rows.word_f1(other) for other in others], axis=0), OTHER_OUTPUTS
            yield np.mean([rows.neighbour_f1(other) for other in others], axis=0), OTHER_OUTPUTS
        if segment.gray:
            yield rows.word_f1(segment.gray), GRAY_WORDS
            yield rows.neighbour_f1(segment.gray), GRAY_NEIGHBOURS
            yield rows.character_f(segment.gray), GRAY_CHARACTERS

    # Writing ---------------------------------------------------------------------------------

    def _written(
        self,
        text: str,
        spans: list[tuple[int, int]],
        words: list[str],
        version: list[str],
        spacing: Spacing,
    ) -> str:
        """Put the version's words where the text has its own; marks and spaces stay."""
        written = text
        for (start, end), old, new in reversed(list(zip(spans, words, version, strict=True))):
            if old == new:
                continue
            before, _, after = _around(text[start:end])
            if start == spans[0][0]:
                new = _with_case_of(old, new)
            unit = before + _in_case_of(text, new) + after
            written = written[:start] + unit + written[end:]
        return spacing.follow(written, 0, len(written)) if not self.spaced else written


def _changeable(n_words: int) -> tuple[int, int]:
    """Return the range of words that may change: not the first and the last two of a longer text."""
    if n_words >= MIN_UNITS_PROTECTED:
        return N_PROTECTED_START, n_words - N_PROTECTED_END
    return (1 if n_words > 1 else 0), n_words


def _swap_spans(words: list[str], start: int, end: int, *, longest: int, dice: _Dice) -> None:
    """Let two spans between `start` and `end` change places."""
    room = end - start
    n_moved = 2 + dice.below(min(room, longest) - 1)
    n_first = 1 + dice.below(n_moved - 1)
    gap = dice.below(room - n_moved + 1)
    a = start + dice.below(room - n_moved - gap + 1)
    b, c, d = a + n_first, a + n_first + gap, a + n_moved + gap
    words[a:d] = words[c:d] + words[b:c] + words[a:b]


def _without_paired_marks(words: list[str]) -> list[str] | None:
    """Return the words, or None if a bracket or quotation mark is among them."""
    return None if any(_PAIRED_MARKS.search(word) for word in words) else words


def _n_stutters(words: list[str]) -> int:
    """Count the words that stand next to themselves, at most one word between."""
    return sum(a == b for a, b in pairwise(words)) + sum(
        a == b for a, b in zip(words, words[2:], strict=False)
    )


def _in_case_of(text: str, new: str) -> str:
    if text.islower():
        return new.lower()
    return new.upper() if text.isupper() else new


def _with_case_of(old: str, new: str) -> str:
    if old[:1].isupper():
        return new[:1].upper() + new[1:]
    return new[:1].lower() + new[1:] if old[:1].islower() else new


class _WordRows:
    """Texts of equally many words as rows of numbers, so that all are measured at once."""

    def __init__(self, texts: list[list[str]]) -> None:
        numbers: dict[str, int] = {}
        self._ids: Ids = np.array(
            [[numbers.setdefault(word, len(numbers)) for word in _fold(text)] for text in texts]
        )
        self._numbers, self._words = numbers, list(numbers)
        self.n_words = self._ids.shape[1]

    @cached_property
    def _counts(self) -> Ids:
        return _count_in_rows(self._ids, len(self._words))

    @cached_property
    def _float_counts(self) -> NDArray[np.float32]:
        return self._counts.astype(np.float32)

    @cached_property
    def _neighbours(self) -> tuple[Ids, Ids]:
        """The distinct pairs of neighbours as numbers, and how often each row has them."""
        codes = self._ids[:, :-1] * len(self._words) + self._ids[:, 1:]
        distinct, places = np.unique(codes, return_inverse=True)
        return distinct, _count_in_rows(places.reshape(codes.shape), len(distinct))

    def share_of_distinct_words(self) -> Floats:
        return (self._counts > 0).sum(axis=1) / self.n_words

    def mean_of_words(self, value: Callable[[str], float]) -> Floats:
        return self._counts @ np.array([value(word) for word in self._words]) / self.n_words

    def share_of_neighbours(self, is_counted: Callable[[tuple[str, str]], bool]) -> Floats:
        distinct, n = self._neighbours
        lefts, rights = np.divmod(distinct, len(self._words))
        counted = [
            is_counted((self._words[left], self._words[right]))
            for left, right in zip(lefts.tolist(), rights.tolist(), strict=True)
        ]
        return n @ np.array(counted, dtype=np.int64) / max(self.n_words - 1, 1)

    def word_f1(self, other: list[str]) -> Floats:
        wanted = np.zeros(len(self._words), dtype=np.int64)
        for word in _fold(other):
            if word in self._numbers:
                wanted[self._numbers[word]] += 1
        return 2 * np.minimum(self._counts, wanted).sum(axis=1) / (self.n_words + len(other))

    def neighbour_f1(self, other: list[str]) -> Floats:
        distinct, n = self._neighbours
        numbers = [self._numbers.get(word, -1) for word in _fold(other)]
        codes = Counter(
            left * len(self._words) + right
            for left, right in pairwise(numbers)
            if left >= 0 and right >= 0
        )
        wanted = np.array([codes[code] for code in distinct.tolist()], dtype=np.int64)
        common = np.minimum(n, wanted).sum(axis=1)
        return 2 * common / max(self.n_words + len(other) - 2, 1)

    def character_f(self, other: list[str]) -> Floats:
        """Much like chrF, but of n-grams inside words alone: those add up word by word."""
        grams = Counter(gram for word in _fold(other) for gram in _grams(word))
        numbers = {gram: number for number, gram in enumerate(grams)}
        profiles = np.zeros((len(self._words), len(grams)), dtype=np.float32)
        totals = np.zeros(len(self._words))
        for row, word in enumerate(self._words):
            for gram in _grams(word):
                totals[row] += 1
                if gram in numbers:
                    profiles[row, numbers[gram]] += 1
        wanted = np.array(list(grams.values()), dtype=np.float32)
        common = np.minimum(self._float_counts @ profiles, wanted).sum(axis=1)
        return 2 * common / np.maximum(self._float_counts @ totals + wanted.sum(), 1)


def _count_in_rows(ids: Ids, n_ids: int) -> Ids:
    """Count how often each row has each number below `n_ids`."""
    places = ids + n_ids * np.arange(len(ids))[:, None]
    return np.bincount(places.ravel(), minlength=len(ids) * n_ids).reshape(len(ids), n_ids)


def _grams(word: str) -> list[str]:
    return [word[i : i + n] for n in range(1, CHRF_ORDER + 1) for i in range(len(word) - n + 1)]


def chrf(text: str, other: str) -> float:
    """Return the chrF of two texts without spaces, from 0 to 1."""
    precisions, recalls = [], []
    for n in range(1, min(CHRF_ORDER, len(text), len(other)) + 1):
        grams = Counter(text[i : i + n] for i in range(len(text) - n + 1))
        others = Counter(other[i : i + n] for i in range(len(other) - n + 1))
        common = (grams & others).total()
        precisions.append(common / grams.total())
        recalls.append(common / others.total())
    if not precisions:
        return 0.0
    precision, recall = float(np.mean(precisions)), float(np.mean(recalls))
    weighted = CHRF_BETA**2 * precision + recall
    return (1 + CHRF_BETA**2) * precision * recall / weighted if weighted else 0.0
