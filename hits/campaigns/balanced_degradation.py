"""Make a bad translation whose form does not give it away. Pure: no database, and randomness is passed in.

The published recipe (`degradation.py`) always lowers the overlap with the gray text, so a script that counts
common words passes the test of workers. Here many damaged versions of a text are drawn, and one is kept whose
overlap with the gray text, and with everything else a script could remember, hardly changes on average. Every
version has lost words that carry meaning, and has others in the wrong place.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
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
N_VERSIONS = 160
N_ROUNDS = 4
N_BEST = 8
N_SHORTLIST = 24
# Other outputs of the segment that a version is compared with exactly.
N_OTHERS_COMPARED = 4
# A version must have lost at least this share of the weight that a span of the published length has on
# average; the rarer a word, the more it weighs.
LEAST_DAMAGE = 0.5
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
# Places tried, at most, for a span: the one whose words the gray text and the other outputs share least is
# damaged, because there is least overlap to lose.
N_PLACES = 6
# Pieces of the same segment tried, at most: the one with most words that the gray text and the other outputs
# share, and the text does not have, is taken, because it brings most overlap back.
N_PIECES = 6
P_CONTINUED = 0.7
# The longest character n-grams that are compared, as in chrF.
CHRF_ORDER, CHRF_BETA = 6, 2.0
# An odd factor, so that n-grams become numbers that hardly ever collide, modulo 2^64.
GRAM_BASE = np.uint64(0x9E3779B97F4A7C15)


# What a script could count in a text, and how much a change of it weighs in the choice.
WEIGHTS = {
    "gray words": 5.0,
    "gray neighbours": 2.0,
    "gray triples": 4.0,
    "gray letters": 1.0,
    "gray characters": 12.0,
    "other outputs' words": 4.0,
    "other outputs' letters": 1.0,
    "other outputs' characters": 8.0,
    "known neighbours": 2.0,
    "known triples": 2.0,
    "distinct words": 8.0,
    "frequency": 0.5,
    "length": 0.4,
}
# Versions that lose overlap are easier to find than those that gain it. So every choice leans against the changes
# that the ones before it made: over a campaign, and over the few pairs of one worker, they add up to nearly
# nothing. This is how much a choice makes up for the one before.
LEANING = 0.3
# A measure that cannot be made up for must not drown the others.
MOST_LEANING = 3.0
# Where the leaning ends up on real test sets, so that the first texts are as balanced as later ones.
FIRST_LEANING = {
    "gray words": 0.1,
    "gray triples": 0.2,
    "gray characters": 0.3,
    "other outputs' words": 0.5,
    "other outputs' letters": 0.3,
    "other outputs' characters": 0.5,
    "known triples": 0.4,
}
# A little more overlap rather than a little less: a script that counts it then fails more often than by chance.
GRAY_SURPLUS = 0.004

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
    gray_text: str
    outputs: list[list[str]] = field(default_factory=list)
    output_texts: list[str] = field(default_factory=list)


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
        self._segments = {
            key: _Segment(key, self._words(gray), gray) for key, gray in grays.items()
        }
        self._outputs = [self._words(text) for text in texts]
        self._keys = list(keys)
        for key, words, text in zip(self._keys, self._outputs, texts, strict=True):
            self._segments[key].outputs.append(words)
            self._segments[key].output_texts.append(text)
        self._leans = dict.fromkeys(WEIGHTS, 0.0) | FIRST_LEANING

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
    def _n_segments_with(self) -> Counter[tuple[str, ...]]:
        """In how many segments' outputs each word, pair and triple of words occurs."""
        n_segments: Counter[tuple[str, ...]] = Counter()
        for segment in self._segments.values():
            n_segments.update(
                {
                    gram
                    for output in segment.outputs
                    for n in (1, 2, 3)
                    for gram in _ngrams(output, n)
                }
            )
        return n_segments

    def _weight(self, word: str) -> float:
        """How much meaning a word carries: the logarithm of how rare it is."""
        return float(np.log((len(self._segments) + 1) / (self._n_segments_with[word,] + 1)))

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
        segment = self._segments[key]
        task = _Task(words, segment, _Characters(text, spans, segment))
        version = self._search(task, rng)
        self._lean_against(task, version)
        return self._written(text, spans, words, version, spacing)

    def _lean_against(self, task: "_Task", version: list[str]) -> None:
        """Let the next choice make up for what this one changed."""
        rows = _WordRows([task.words, version])
        changes = {name: float(m[1] - m[0]) for name, m in self._measures(rows, task)}
        characters = task.characters.changes(task.words, [version])
        changes |= {name: float(change[0]) for name, change in characters.items()}
        for name, change in changes.items():
            surplus = GRAY_SURPLUS if name in ("gray words", "gray characters") else 0.0
            lean = self._leans[name] + LEANING * (surplus - change)
            self._leans[name] = max(-MOST_LEANING, min(MOST_LEANING, lean))

    def _search(self, task: "_Task", rng: np.random.Generator) -> list[str]:
        """Draw versions and keep the best balanced, round by round."""
        dice, aim = _Dice(rng), float(rng.normal(0, AIM_SD))
        best = self._damaged_versions(task, [task.words] * N_VERSIONS, dice)
        if not best:
            raise CannotDegrade("No version of the text is damaged enough.")
        for _ in range(N_ROUNDS):
            best = self._best_balanced(task, best, aim)
            parents = best * (N_VERSIONS // len(best))
            best += self._damaged_versions(task, parents, dice)
        return self._best_balanced(task, best, aim)[0]

    # Drawing versions ------------------------------------------------------------------------

    def _damaged_versions(
        self, task: "_Task", parents: list[list[str]], dice: _Dice
    ) -> list[list[str]]:
        """Damage each parent once; keep what has lost enough, and no more than is wanted, of the text."""
        folded = _fold(task.words)
        weights = {word: self._weight(word) for word in folded}
        length = span_length(len(folded))
        least = LEAST_DAMAGE * length * sum(map(weights.__getitem__, folded)) / len(folded)
        n_stutters = _n_stutters(folded)
        before = Counter(folded)
        versions = []
        for parent in parents:
            version = self._version(parent, 1 + dice.below(length), task, dice)
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
        self, words: list[str], length: int, task: "_Task", dice: _Dice
    ) -> list[str] | None:
        """Let two spans change places, or replace one span by other words."""
        segment, shared = task.segment, task.shared_up_to
        start, end = _changeable(len(words))
        version, length = list(words), min(length, end - start)
        if end - start >= 4 and dice.uniform() < P_SWAP:
            _swap_spans(version, start, end, longest=length + 1, dice=dice)
        share_own = dice.uniform()
        places = [
            start + dice.below(end - start - length + 1) for _ in range(1 + dice.below(N_PLACES))
        ]
        place = min(places, key=lambda i: shared[i + length] - shared[i])
        filling: list[str] = []
        while len(filling) < length:
            n_missing = length - len(filling)
            at = place + len(filling)
            piece = None
            if dice.uniform() < share_own:
                n_taken = min(n_missing, 1 + dice.below(2 * self._longest_piece))
                pieces = [
                    self._own_piece(segment, n_taken, at / len(words), dice)
                    for _ in range(1 + dice.below(N_PIECES))
                ]
                piece = max(pieces, key=task.gain)
            if piece is None:
                n_taken = min(n_missing, 1 + dice.below(self._longest_piece))
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
        self, task: "_Task", versions: list[list[str]], aim: float
    ) -> list[list[str]]:
        """Return the few versions whose measures change most nearly as they should, best first."""
        rows = _WordRows([task.words, *versions])
        distances = np.zeros(len(versions))
        for name, measure in self._measures(rows, task):
            change = measure[1:] - measure[0]
            distances += WEIGHTS[name] * np.square(change - aim - self._leans[name])
        shortlist = np.argsort(distances)[:N_SHORTLIST].tolist()
        changes = task.characters.changes(task.words, [versions[i] for i in shortlist])
        for name, change in changes.items():
            distances[shortlist] += WEIGHTS[name] * np.square(change - aim - self._leans[name])
        return [versions[i] for i in sorted(shortlist, key=lambda i: distances[i])[:N_BEST]]

    def _measures(self, rows: "_WordRows", task: "_Task") -> Iterator[tuple[str, Floats]]:
        """Measure what can be measured for all versions at once."""
        segment, n_with = task.segment, self._n_segments_with
        own = {gram for output in segment.outputs for n in (2, 3) for gram in _ngrams(output, n)}
        for n, name in ((2, "known neighbours"), (3, "known triples")):
            yield name, rows.share_of_ngrams(n, lambda gram: n_with[gram] > (gram in own))
        yield "distinct words", rows.share_of_distinct_words()
        yield "frequency", rows.mean_of_words(lambda word: np.log1p(n_with[word,]))
        yield "length", rows.mean_of_words(len)
        if others := task.others:
            yield "other outputs' words", _mean(rows.ngram_f1(other, 1) for other in others)
            yield "other outputs' letters", _mean(map(rows.share_of_letters, task.other_letters))
        if segment.gray:
            yield "gray words", rows.ngram_f1(segment.gray, 1)
            yield "gray neighbours", rows.ngram_f1(segment.gray, 2)
            yield "gray triples", rows.ngram_f1(segment.gray, 3)
            yield "gray letters", rows.share_of_letters(task.gray_letters)

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
        wanted = _ngrams(other, n)
        common = np.minimum(counts, np.array([wanted[gram] for gram in grams], dtype=np.int64))
        return 2 * common.sum(axis=1) / max(self.n_words - n + 1 + wanted.total(), 1)

    def share_of_letters(self, other: "_Letters") -> Floats:
        """Share of the character n-grams inside words that the other text has too: much like chrF."""
        n_known = np.array([other[word] for word in self._words])
        return (self._counts @ n_known) / (self._counts @ self._n_grams)

    @cached_property
    def _n_grams(self) -> Ids:
        return np.array([len(_grams(word)) for word in self._words])


class _Letters(dict[str, int]):
    """How many character n-grams of a word, looked up or counted at the first time, another text has too."""

    def __init__(self, other: list[str]) -> None:
        self._known = {gram for word in _fold(other) for gram in _grams(word)}

    def __missing__(self, word: str) -> int:
        self[word] = sum(gram in self._known for gram in _grams(word))
        return self[word]


def _mean(columns: Iterable[Floats]) -> Floats:
    return np.mean(list(columns), axis=0)


def _ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    folded = _fold(words)
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
class _Task:
    """A text to degrade, as words without marks."""

    words: list[str]
    segment: _Segment
    characters: "_Characters"

    @cached_property
    def others(self) -> list[list[str]]:
        return [output for output in self.segment.outputs if output != self.words]

    @cached_property
    def other_letters(self) -> list["_Letters"]:
        return [_Letters(other) for other in self.others]

    @cached_property
    def gray_letters(self) -> "_Letters":
        return _Letters(self.segment.gray)

    @cached_property
    def _shares(self) -> dict[str, float]:
        """Of each word of the segment: 1 if the gray text has it, and the share of other outputs that do."""
        shares: defaultdict[str, float] = defaultdict(float)
        for word in set(_fold(self.segment.gray)):
            shares[word] += 1
        for words in self.others:
            for word in set(_fold(words)):
                shares[word] += 1 / len(self.others)
        return dict(shares)

    @cached_property
    def shared_up_to(self) -> list[float]:
        """The sum of the shares of the words before each place."""
        return np.cumsum(
            [0.0, *(self._shares.get(word, 0.0) for word in _fold(self.words))]
        ).tolist()

    @cached_property
    def _new_shares(self) -> dict[str, float]:
        own = set(_fold(self.words))
        return {word: share for word, share in self._shares.items() if word not in own}

    def gain(self, piece: list[str] | None) -> float:
        """The sum of the shares of words that the text does not have; -1 for no piece."""
        if piece is None:
            return -1.0
        return sum(self._new_shares.get(word, 0.0) for word in _fold(piece))


class _Characters:
    """Compares versions of one text with the gray text and other outputs by chrF, marks included.

    A library would count the n-grams of the other texts again for every version.
    """

    def __init__(self, text: str, spans: list[tuple[int, int]], segment: _Segment) -> None:
        self._marks = [_around(text[start:end])[::2] for start, end in spans]
        self._others = [other for other in segment.output_texts if other != text]
        self._others = self._others[:N_OTHERS_COMPARED]
        self._gray = [segment.gray_text] if segment.gray_text else []

    def changes(self, words: list[str], versions: list[list[str]]) -> dict[str, Floats]:
        """How chrF changes from the words to each version."""
        texts = [self._text(version) for version in [words, *versions]]
        scores = _chrf_of_each(texts, self._others + self._gray)
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


def _chrf_of_each(texts: list[str], others: list[str]) -> Floats:
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
