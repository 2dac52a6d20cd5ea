"""How each kind of simulated worker rates: people by what they read, scripts by what a browser shows them.

To add a kind, name it in `Behaviour` and put its rule into `READERS` or `SCRIPTS`, and its pace into `PACES`.
"""

import enum
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from analysis.stats.roles import Role

from ..models import SCORE_MAX, SCORE_MIN

# True quality of a campaign's translations on the 0-100 scale.
TRUTH_MEAN, TRUTH_SD = 55.0, 18.0

# Two honest ratings of a translation correlate at 0.41 (Graham et al., NAACL 2015). This is the noise that gives
# this correlation on an unbounded scale; see `simulation.honest_noise_sd` for 0 to 100.
SINGLE_RATING_AGREEMENT = 0.41
HONEST_NOISE_SD = TRUTH_SD * float(np.sqrt(1 / SINGLE_RATING_AGREEMENT - 1))
# A noisy worker's noise is this many times an honest one's.
NOISY_FACTOR = 1.7
# Share of the noise that is a person's lasting taste: people agree better with themselves than with each other.
# This is an assumption; a worker's repeats then correlate at about 0.76 with the first ratings.
NOISE_FROM_TASTE = 0.6

# Perceived quality of references, and of degraded texts as a share of the true quality.
REFERENCE_QUALITY = 92.0
DEGRADED_SHARE = 0.35

# A drifting worker is honest for this many HITs, then rates at random.
HONEST_HITS_BEFORE_DRIFT = 2

# A language model likes nearly everything, gives round scores, and has less noise than a person. Most of its noise
# is the model's, the same for everyone who uses it.
MODEL_LOWEST, MODEL_SLOPE, MODEL_STEP = 25.0, 0.7, 5
MODEL_TASTE, MODEL_NOISE = 0.5, 0.3
MODEL_SEED = 2026

# By how much a script lowers a text that it takes for a degraded one.
LOWERED = 30.0
# Two texts of one segment with this word F1 are nearly identical: one may be a degraded version of the other.
NEARLY_IDENTICAL = 0.6
# So many words in a row that a text shares with another segment were probably copied.
LONG_NGRAM = 4
# Without a gray text, scripts score by length: this many words are worth the highest score.
LONG_TEXT = 40

# Seconds that an item takes.
CAREFUL_SECONDS, CARELESS_SECONDS, SCRIPT_SECONDS = 9.0, 1.5, 0.02


class Behaviour(enum.StrEnum):
    """How a simulated worker rates."""

    HONEST = "honest"
    NOISY = "noisy"
    LENIENT = "lenient"
    HARSH = "harsh"
    CONSTANT = "constant"
    RANDOM = "random"
    ADVERSARIAL = "adversarial"
    DRIFTING = "drifting"
    # Reads as well as people do, but is none.
    LANGUAGE_MODEL = "language_model"
    # Scores by the overlap of the black and the gray text: common words, or chrF.
    OVERLAP = "overlap"
    CHRF = "chrf"
    # Overlap, and lower where it remembers the words from another segment, or a better version of the text.
    MEMORY = "memory"
    # Random scores, but the worse of two nearly identical texts is scored lower.
    PAIRS = "pairs"
    PAIRS_CHRF = "pairs_chrf"
    # Overlap, but nearly the same text again is scored lower: right about all copies of a run in a document, or none.
    SECOND = "second"
    # Overlap without waiting, or with a wait before submitting.
    FAST = "fast"
    SLOW_AT_THE_END = "slow_at_the_end"

    @property
    def is_careful(self) -> bool:
        return self in {self.HONEST, self.NOISY, self.LENIENT, self.HARSH}

    @property
    def understands(self) -> bool:
        """Whether scores depend on what the text means."""
        return self in READERS


@dataclass(frozen=True, slots=True)
class Meaning:
    """What someone who reads an item knows about it."""

    role: Role
    translation: int
    quality: float


@dataclass(frozen=True, slots=True)
class Shown:
    """What a browser shows of an item: the black text and the gray one, which may be missing."""

    text: str = ""
    gray: str = ""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds that an item takes, that pass before submitting, and that are claimed per item if not the truth."""

    seconds: float = CAREFUL_SECONDS
    wait: float = 0.0
    claimed: float | None = None


@dataclass(slots=True)
class SimulatedWorker:
    """A behaviour with its own random stream, tastes, habit and memory."""

    behaviour: Behaviour
    rng: np.random.Generator
    noise_sd: float = HONEST_NOISE_SD
    n_hits_done: int = 0
    habit: float = 0.0
    tastes: dict[int, float] = field(default_factory=dict)
    memory: "Memory" = field(default_factory=lambda: Memory())

    def __post_init__(self) -> None:
        self.habit = float(self.rng.uniform(SCORE_MIN, SCORE_MAX))

    def score(
        self, role: Role, translation: int, quality: float, shown: Shown | None = None
    ) -> int:
        """Rate an item whose translation has this true quality. Scripts only get what is `shown`."""
        if self.behaviour in SCRIPTS:
            shown = shown or Shown()
            score = _on_the_scale(SCRIPTS[self.behaviour](self, shown))
            if self.behaviour in REMEMBERING:
                self.memory.add(shown, score)
            return score
        return _on_the_scale(
            READERS[self.behaviour](self, Meaning(Role(role), translation, quality))
        )

    @property
    def pace(self) -> Pace:
        return PACES.get(self.behaviour, Pace())

    def seconds(self) -> float:
        """Draw the time for the next item, with a long tail as in people."""
        return self.pace.seconds * self.rng.lognormal(0, 0.5)

    def noise(self, meaning: Meaning) -> float:
        """Draw the noise of one rating, which includes the worker's lasting taste in the translation."""
        if meaning.role == Role.REFERENCE:  # A different text, so the taste does not apply.
            return self.rng.normal(0, self.noise_sd)
        if meaning.translation not in self.tastes:
            self.tastes[meaning.translation] = self.rng.standard_normal()
        lasting = np.sqrt(NOISE_FROM_TASTE) * self.tastes[meaning.translation]
        passing = np.sqrt(1 - NOISE_FROM_TASTE) * self.rng.standard_normal()
        return self.noise_sd * float(lasting + passing)


def _on_the_scale(impression: float) -> int:
    return int(np.clip(round(impression), SCORE_MIN, SCORE_MAX))


# Readers -------------------------------------------------------------------------------------


def _perceived_quality(meaning: Meaning) -> float:
    if meaning.role == Role.REFERENCE:
        return REFERENCE_QUALITY
    is_degraded = meaning.role == Role.BAD_REFERENCE
    return DEGRADED_SHARE * meaning.quality if is_degraded else meaning.quality


def _honest(person: SimulatedWorker, meaning: Meaning) -> float:
    return _perceived_quality(meaning) + person.noise(meaning)


def _noisy(person: SimulatedWorker, meaning: Meaning) -> float:
    return _perceived_quality(meaning) + NOISY_FACTOR * person.noise(meaning)


def _lenient(person: SimulatedWorker, meaning: Meaning) -> float:
    return 50 + _honest(person, meaning) / 2


def _harsh(person: SimulatedWorker, meaning: Meaning) -> float:
    return _honest(person, meaning) / 2


def _adversarial(person: SimulatedWorker, meaning: Meaning) -> float:
    if meaning.role == Role.BAD_REFERENCE:
        meaning = Meaning(Role.REFERENCE, meaning.translation, meaning.quality)
    return _honest(person, meaning)


def _drifting(person: SimulatedWorker, meaning: Meaning) -> float:
    if person.n_hits_done >= HONEST_HITS_BEFORE_DRIFT:
        return _random(person, Shown())
    return _honest(person, meaning)


def _language_model(person: SimulatedWorker, meaning: Meaning) -> float:
    is_reference = meaning.role == Role.REFERENCE
    shared = np.random.default_rng(
        [MODEL_SEED, meaning.translation, is_reference]
    ).standard_normal()
    noise = MODEL_TASTE * shared + MODEL_NOISE * person.rng.standard_normal()
    liked = MODEL_LOWEST + MODEL_SLOPE * (_perceived_quality(meaning) + person.noise_sd * noise)
    return MODEL_STEP * round(liked / MODEL_STEP)


# Scripts -------------------------------------------------------------------------------------


def word_f1(text: str, reference: str) -> float:
    """Return the F1 score of the words that a text shares with its reference, from 0 to 1."""
    words, expected = Counter(text.lower().split()), Counter(reference.lower().split())
    total = words.total() + expected.total()
    return 2 * (words & expected).total() / total if total else 0.0


def chrf(text: str, reference: str) -> float:
    """Return chrF (character n-grams up to 6, beta 2, spaces left out), from 0 to 1."""
    precisions, recalls = [], []
    for n in range(1, 7):
        own, expected = _character_ngrams(text, n), _character_ngrams(reference, n)
        if not own or not expected:
            continue
        common = (own & expected).total()
        precisions.append(common / own.total())
        recalls.append(common / expected.total())
    if not any(precisions):
        return 0.0
    precision, recall = float(np.mean(precisions)), float(np.mean(recalls))
    return 5 * precision * recall / (4 * precision + recall)


def _character_ngrams(text: str, n: int) -> Counter[str]:
    characters = "".join(text.split())
    return Counter(characters[i : i + n] for i in range(len(characters) - n + 1))


Measure = Callable[[str, str], float]


def _overlap(measure: Measure, shown: Shown) -> float:
    """Return the overlap of both texts, or how long the text is if there is no gray one."""
    if shown.gray:
        return measure(shown.text, shown.gray)
    return min(1.0, len(shown.text.split()) / LONG_TEXT)


@dataclass(frozen=True, slots=True)
class Remembered:
    shown: Shown
    words: frozenset[str]
    score: int
    # The gray text, or without one the first of some nearly identical texts.
    segment: str


class Memory:
    """The texts that a script has seen in all its HITs, with its scores."""

    def __init__(self) -> None:
        self._by_gray: defaultdict[str, list[Remembered]] = defaultdict(list)
        self._segments_with: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)

    def add(self, shown: Shown, score: int) -> None:
        segment = self._segment_of(shown)
        words = frozenset(shown.text.lower().split())
        self._by_gray[shown.gray].append(Remembered(shown, words, score, segment))
        for text in (shown.text, shown.gray):
            for ngram in _long_ngrams(text):
                self._segments_with[ngram].add(segment)

    def nearest(self, shown: Shown) -> Remembered | None:
        """Return the most similar of the earlier texts with this gray one, if it is nearly identical."""
        words = frozenset(shown.text.lower().split())
        earlier = self._by_gray.get(shown.gray, [])
        best = max(earlier, key=lambda each: _set_f1(words, each.words), default=None)
        is_near = best is not None and _set_f1(words, best.words) >= NEARLY_IDENTICAL
        return best if is_near else None

    def has_copied(self, shown: Shown) -> bool:
        """Return whether the text shares a long n-gram with another segment, but not with its own gray text."""
        segment, gray = self._segment_of(shown), set(_long_ngrams(shown.gray))
        return any(
            self._segments_with.get(ngram, set()) - {segment}
            for ngram in _long_ngrams(shown.text)
            if ngram not in gray
        )

    def _segment_of(self, shown: Shown) -> str:
        if shown.gray:
            return shown.gray
        nearest = self.nearest(shown)
        return nearest.segment if nearest else shown.text


def _set_f1(words: frozenset[str], others: frozenset[str]) -> float:
    return 2 * len(words & others) / max(len(words) + len(others), 1)


def _long_ngrams(text: str) -> Iterator[tuple[str, ...]]:
    words = text.lower().split()
    return (tuple(words[i : i + LONG_NGRAM]) for i in range(len(words) - LONG_NGRAM + 1))


def _constant(person: SimulatedWorker, shown: Shown) -> float:
    return person.habit


def _random(person: SimulatedWorker, shown: Shown) -> float:
    return person.rng.uniform(SCORE_MIN, SCORE_MAX)


def _by_overlap(person: SimulatedWorker, shown: Shown) -> float:
    return SCORE_MAX * _overlap(word_f1, shown)


def _by_chrf(person: SimulatedWorker, shown: Shown) -> float:
    return SCORE_MAX * _overlap(chrf, shown)


def _by_memory(person: SimulatedWorker, shown: Shown) -> float:
    score = _by_overlap(person, shown)
    earlier = person.memory.nearest(shown)
    if person.memory.has_copied(shown):
        score -= LOWERED
    if earlier and _overlap(word_f1, shown) < _overlap(word_f1, earlier.shown):
        score -= LOWERED
    return score


def _second_is_worse(person: SimulatedWorker, shown: Shown) -> float:
    earlier = person.memory.nearest(shown)
    if earlier is None:
        return _by_overlap(person, shown)
    return earlier.score - (0 if earlier.shown.text == shown.text else LOWERED)


def _comparing_pairs(measure: Measure) -> "Script":
    def rate(person: SimulatedWorker, shown: Shown) -> float:
        earlier = person.memory.nearest(shown)
        if earlier is None:
            return _random(person, shown)
        difference = _overlap(measure, shown) - _overlap(measure, earlier.shown)
        return earlier.score + LOWERED * float(np.sign(difference))

    return rate


# What each kind does -------------------------------------------------------------------------

Reader = Callable[[SimulatedWorker, Meaning], float]
Script = Callable[[SimulatedWorker, Shown], float]

READERS: dict[Behaviour, Reader] = {
    Behaviour.HONEST: _honest,
    Behaviour.NOISY: _noisy,
    Behaviour.LENIENT: _lenient,
    Behaviour.HARSH: _harsh,
    Behaviour.ADVERSARIAL: _adversarial,
    Behaviour.DRIFTING: _drifting,
    Behaviour.LANGUAGE_MODEL: _language_model,
}

SCRIPTS: dict[Behaviour, Script] = {
    Behaviour.CONSTANT: _constant,
    Behaviour.RANDOM: _random,
    Behaviour.OVERLAP: _by_overlap,
    Behaviour.CHRF: _by_chrf,
    Behaviour.MEMORY: _by_memory,
    Behaviour.PAIRS: _comparing_pairs(word_f1),
    Behaviour.PAIRS_CHRF: _comparing_pairs(chrf),
    Behaviour.SECOND: _second_is_worse,
    Behaviour.FAST: _by_overlap,
    Behaviour.SLOW_AT_THE_END: _by_overlap,
}

# The others need no memory.
REMEMBERING = {Behaviour.MEMORY, Behaviour.PAIRS, Behaviour.PAIRS_CHRF, Behaviour.SECOND}

# All others take as long as careful people do, and say how long it was.
PACES: dict[Behaviour, Pace] = {
    **dict.fromkeys(
        (Behaviour.CONSTANT, Behaviour.RANDOM, Behaviour.ADVERSARIAL, Behaviour.DRIFTING),
        Pace(CARELESS_SECONDS),
    ),
    Behaviour.FAST: Pace(SCRIPT_SECONDS),
    Behaviour.SLOW_AT_THE_END: Pace(SCRIPT_SECONDS, wait=300.0, claimed=3.0),
}
