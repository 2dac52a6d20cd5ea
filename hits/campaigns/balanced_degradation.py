"""Make a bad translation whose form does not give it away. Pure: no database, and randomness is passed in.

The published recipe (`degradation.py`) always lowers the overlap with the gray text, so a script that counts
common words passes the test of workers. Here many damaged versions of a text are drawn, and one is kept whose
overlap with the gray text, and with everything else a script could remember, hardly changes on average. Every
version has lost words that carry meaning, and has others in the wrong place.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import regex

from .degradation import (
    MIN_UNITS_PROTECTED,
    N_PROTECTED_END,
    N_PROTECTED_START,
    CannotDegrade,
    Spacing,
    span_length,
    unit_spans,
)
from .version_overlap import (
    Characters,
    Floats,
    SegmentWords,
    TextToDegrade,
    WordRows,
    around,
    fold,
    ngrams,
)

# Damaged versions drawn at first; the best of them are damaged further in some rounds, and in the end the
# few best get an exact and slower look.
N_VERSIONS = 160
N_ROUNDS = 4
N_BEST = 8
N_SHORTLIST = 24
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

_PAIRED_MARKS = regex.compile(r"[\p{Ps}\p{Pe}\p{Pi}\p{Pf}\"]")


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
            key: SegmentWords(key, self._words(gray), gray) for key, gray in grays.items()
        }
        self._outputs = [self._words(text) for text in texts]
        self._keys = list(keys)
        for key, words, text in zip(self._keys, self._outputs, texts, strict=True):
            self._segments[key].outputs.append(words)
            self._segments[key].output_texts.append(text)
        self._leans = dict.fromkeys(WEIGHTS, 0.0) | FIRST_LEANING

    def _words(self, text: str) -> list[str]:
        return [around(text[a:b])[1] for a, b in unit_spans(text, spaced=self.spaced)]

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
                    for gram in ngrams(output, n)
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
        words = [around(text[start:end])[1] for start, end in spans]
        segment = self._segments[key]
        task = TextToDegrade(words, segment, Characters(text, spans, segment))
        version = self._search(task, rng)
        self._lean_against(task, version)
        return self._written(text, spans, words, version, spacing)

    def _lean_against(self, task: "TextToDegrade", version: list[str]) -> None:
        """Let the next choice make up for what this one changed."""
        rows = WordRows([task.words, version])
        changes = {name: float(m[1] - m[0]) for name, m in self._measures(rows, task)}
        characters = task.characters.changes(task.words, [version])
        changes |= {name: float(change[0]) for name, change in characters.items()}
        for name, change in changes.items():
            surplus = GRAY_SURPLUS if name in ("gray words", "gray characters") else 0.0
            lean = self._leans[name] + LEANING * (surplus - change)
            self._leans[name] = max(-MOST_LEANING, min(MOST_LEANING, lean))

    def _search(self, task: "TextToDegrade", rng: np.random.Generator) -> list[str]:
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
        self, task: "TextToDegrade", parents: list[list[str]], dice: _Dice
    ) -> list[list[str]]:
        """Damage each parent once; keep what has lost enough, and no more than is wanted, of the text."""
        folded = fold(task.words)
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
            after = fold(version)
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
        self, words: list[str], length: int, task: "TextToDegrade", dice: _Dice
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
        self, segment: SegmentWords, n_words: int, place: float, dice: _Dice
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
        self, task: "TextToDegrade", versions: list[list[str]], aim: float
    ) -> list[list[str]]:
        """Return the few versions whose measures change most nearly as they should, best first."""
        rows = WordRows([task.words, *versions])
        distances = np.zeros(len(versions))
        for name, measure in self._measures(rows, task):
            change = measure[1:] - measure[0]
            distances += WEIGHTS[name] * np.square(change - aim - self._leans[name])
        shortlist = np.argsort(distances)[:N_SHORTLIST].tolist()
        changes = task.characters.changes(task.words, [versions[i] for i in shortlist])
        for name, change in changes.items():
            distances[shortlist] += WEIGHTS[name] * np.square(change - aim - self._leans[name])
        return [versions[i] for i in sorted(shortlist, key=lambda i: distances[i])[:N_BEST]]

    def _measures(self, rows: "WordRows", task: "TextToDegrade") -> Iterator[tuple[str, Floats]]:
        """Measure what can be measured for all versions at once."""
        segment, n_with = task.segment, self._n_segments_with
        own = {gram for output in segment.outputs for n in (2, 3) for gram in ngrams(output, n)}
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
            before, _, after = around(text[start:end])
            if start == spans[0][0]:
                new = _with_case_of(old, new)
            unit = before + _in_case_of(text, new) + after
            written = written[:start] + unit + written[end:]
        return spacing.follow(written, 0, len(written)) if not self.spaced else written


def _mean(columns: Iterable[Floats]) -> Floats:
    return np.mean(list(columns), axis=0)


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
