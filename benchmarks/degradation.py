"""Do degraded texts give themselves away by their form? Measured for both ways of making them.

    python -m benchmarks.degradation

Degrades translations of the published cs-en test set if it is available (tests/replication/README.md), and otherwise of
the example campaign. For each way: the mean change of overlap with the gray text; how many scripts that score by
overlap pass the test of workers over thirty pairs; and how well a classifier that sees both texts of a pair and the gray
text, and remembers the texts of twenty HITs, tells which is degraded. It knows no meaning: it counts words,
neighbours, characters and repetitions. The baseline is the published way.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import CHRF
from scipy import optimize, special

from analysis.stats.thresholds import RELIABLE_P
from benchmarks.table import Row, run
from hits.campaigns.balanced_degradation import BalancedDegrader
from hits.campaigns.degradation import CannotDegrade, DonorPool, Spacing, degrade
from tests.replication.locating import data_folder
from tests.subprocesses import CHECKOUT

PUBLISHED_SET = data_folder() / "newstest2016-csen"
EXAMPLE = CHECKOUT / "examples" / "demo-de-en" / "campaign"

N_TEXTS = 1_000
# Share of a campaign's HITs that the classifier remembers: 20 of the 207 HITs of the published set.
REMEMBERED = 20 / 207
N_FOLDS = 5
RIDGE = 1e-3
N_PAIRS_OF_WORKER, N_WORKERS = 30, 400

MOST_CHANGE = 0.01
MOST_AUC = 0.6
MOST_PASSING = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Texts:
    """Different outputs of all systems, their segments, and the gray text of each segment."""

    name: str
    outputs: list[str]
    segments: list[int]
    grays: list[str]


@dataclass(frozen=True, slots=True)
class Pair:
    number: int
    genuine: str
    degraded: str


def load_texts(folder: Path = PUBLISHED_SET) -> Texts:
    if folder == PUBLISHED_SET and folder.is_dir():
        references = next((folder / "references").iterdir())
        systems = [path for path in (folder / "newstest2016").rglob("*") if path.is_file()]
        name = folder.name
    else:
        references, systems = EXAMPLE / "references.txt", list((EXAMPLE / "systems").iterdir())
        name = "the example campaign"
    columns = [_lines(path) for path in sorted(systems)]
    rows = [
        (text, segment)
        for segment, texts in enumerate(zip(*columns, strict=True))
        for text in dict.fromkeys(texts)
    ]
    return Texts(name, [text for text, _ in rows], [row for _, row in rows], _lines(references))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


# Degrading -----------------------------------------------------------------------------------

Way = Callable[[int, np.random.Generator], str]


def published_way(texts: Texts) -> Way:
    donors = DonorPool(texts.grays, texts.grays, spaced=True)
    spacing = Spacing(texts.outputs)

    def make(number: int, rng: np.random.Generator) -> str:
        key = texts.grays[texts.segments[number]]
        return degrade(texts.outputs[number], key=key, donors=donors, spacing=spacing, rng=rng)

    return make


def balanced_way(texts: Texts) -> Way:
    grays: dict[Hashable, str] = dict(enumerate(texts.grays))
    degrader = BalancedDegrader(
        texts.outputs, texts.segments, grays, gray_is_readable=True, spaced=True
    )
    spacing = Spacing(texts.outputs)

    def make(number: int, rng: np.random.Generator) -> str:
        key = texts.segments[number]
        return degrader.degrade(texts.outputs[number], key=key, spacing=spacing, rng=rng)

    return make


def make_pairs(texts: Texts, way: Way, n_texts: int, seed: int = 1) -> list[Pair]:
    rng = np.random.default_rng(seed)
    pairs = []
    for number in rng.permutation(len(texts.outputs))[:n_texts].tolist():
        try:
            pairs.append(Pair(number, texts.outputs[number], way(number, rng)))
        except CannotDegrade:
            continue
    return pairs


# What a script can count ---------------------------------------------------------------------

_chrf = CHRF()


def chrf(text: str, other: str) -> float:
    return _chrf.sentence_score(text, [other]).score / 100


def words_of(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'()[]-–„“”’").casefold() or word for word in text.split()]


def ngram_f1(words: list[str], others: list[str], n: int = 1) -> float:
    grams, other_grams = _ngrams(words, n), _ngrams(others, n)
    total = grams.total() + other_grams.total()
    return 2 * (grams & other_grams).total() / total if total else 0.0


def _ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[i:] for i in range(n)), strict=False))


class Memory:
    """What a script remembers of the texts it has seen, gray and black."""

    def __init__(self, texts: Texts, numbers: list[int]) -> None:
        self._segments_with: dict[tuple[str, ...], set[int]] = defaultdict(set)
        self._outputs: dict[int, list[str]] = defaultdict(list)
        self._frequency: Counter[str] = Counter()
        for number in numbers:
            segment = texts.segments[number]
            self._outputs[segment].append(texts.outputs[number])
            for text in (texts.outputs[number], texts.grays[segment]):
                words = words_of(text)
                self._frequency.update(set(words))
                for n in (2, 3):
                    for gram in _ngrams(words, n):
                        self._segments_with[gram].add(segment)

    def features(self, text: str, segment: int, genuine: str) -> list[float]:
        words = words_of(text)
        others = [output for output in self._outputs.get(segment, []) if output != genuine]
        return [
            *(self._share_known(words, n, segment) for n in (2, 3)),
            float(np.mean([np.log1p(self._frequency[word]) for word in words])),
            float(np.mean([ngram_f1(words, words_of(o)) for o in others])) if others else 0.0,
            float(np.mean([chrf(text, other) for other in others])) if others else 0.0,
        ]

    def _share_known(self, words: list[str], n: int, segment: int) -> float:
        grams = _ngrams(words, n)
        known = sum(
            count
            for gram, count in grams.items()
            if self._segments_with.get(gram, set()) - {segment}
        )
        return known / max(grams.total(), 1)


def features(text: str, gray: str) -> list[float]:
    """What can be counted in a text and its gray text without a memory."""
    words, gray_words = words_of(text), words_of(gray)
    return [
        *(ngram_f1(words, gray_words, n) for n in (1, 2, 3, 4)),
        chrf(text, gray),
        len(text),
        len(set(words)) / len(words),
        sum(a == b for a, b in pairwise(words)),
        sum(map(str.isupper, text)),
        sum(not character.isalnum() and not character.isspace() for character in text),
        float(np.mean([len(word) for word in words])),
    ]


def pair_accuracy(differences: Floats) -> float:
    """How often a logistic regression, cross-validated, says which text of a pair is degraded.

    For pairs this is the area under the ROC curve: the chance that the degraded text gets the higher
    score of the two.
    """
    columns = differences / np.where(differences.std(axis=0) > 0, differences.std(axis=0), 1)
    folds = np.arange(len(columns)) % N_FOLDS
    scores = np.zeros(len(columns))
    for fold in range(N_FOLDS):
        scores[folds == fold] = columns[folds == fold] @ _fit(columns[folds != fold])
    return float((scores > 0).mean() + (scores == 0).mean() / 2)


def _fit(columns: Floats) -> Floats:
    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = columns @ weights
        slope = -1 / (1 + np.exp(np.clip(margins, -500, 500)))
        value = np.logaddexp(0, -margins).mean() + RIDGE * weights @ weights
        return value, columns.T @ slope / len(columns) + 2 * RIDGE * weights

    return optimize.minimize(loss, np.zeros(columns.shape[1]), jac=True).x


def share_passing(changes: Floats, seed: int = 2) -> float:
    """How many workers who score by a measure pass the test, each with thirty pairs drawn from these."""
    rng = np.random.default_rng(seed)
    return float(passes(rng.choice(changes, (N_WORKERS, N_PAIRS_OF_WORKER))).mean())


def passes(changes: Floats) -> NDArray[np.bool_]:
    """Whether each row of changes, as differences of a worker's pairs, passes the one-sided t-test."""
    deviations = changes.std(axis=1, ddof=1)
    means = changes.mean(axis=1)
    n_pairs = changes.shape[1]
    t = means / np.where(deviations > 0, deviations, np.inf) * np.sqrt(n_pairs)
    return special.stdtr(n_pairs - 1, t) < RELIABLE_P


# The table -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    milliseconds: float
    word_change: float
    chrf_change: float
    overlap_scripts: float
    chrf_scripts: float
    sign_scripts: float
    auc: float
    auc_with_memory: float


def measure_way(texts: Texts, way: Way, n_texts: int) -> Figures:
    started = time.process_time()
    pairs = make_pairs(texts, way, n_texts)
    milliseconds = 1000 * (time.process_time() - started) / len(pairs)
    numbers = np.random.default_rng(3).permutation(len(texts.outputs))
    memory = Memory(texts, numbers[: round(REMEMBERED * len(numbers))].tolist())
    plain, remembered = [], []
    for pair in pairs:
        segment = texts.segments[pair.number]
        gray = texts.grays[segment]
        plain.append(np.subtract(features(pair.degraded, gray), features(pair.genuine, gray)))
        remembered.append(
            np.subtract(
                memory.features(pair.degraded, segment, pair.genuine),
                memory.features(pair.genuine, segment, pair.genuine),
            )
        )
    differences = np.array(plain)
    words, characters = differences[:, 0], differences[:, 4]
    return Figures(
        milliseconds=milliseconds,
        word_change=float(words.mean()),
        chrf_change=float(characters.mean()),
        overlap_scripts=share_passing(words),
        chrf_scripts=share_passing(characters),
        sign_scripts=max(share_passing(np.sign(words)), share_passing(np.sign(characters))),
        auc=pair_accuracy(differences),
        auc_with_memory=pair_accuracy(np.hstack([differences, np.array(remembered)])),
    )


def measure(*, texts: int) -> Iterator[Row]:
    material = load_texts()
    published = measure_way(material, published_way(material), texts)
    balanced = measure_way(material, balanced_way(material), texts)
    work = f"degraded texts of {material.name}"
    for title, name, bar in (
        ("mean change of word F1 with the gray text", "word_change", MOST_CHANGE),
        ("mean change of chrF with the gray text", "chrf_change", MOST_CHANGE),
    ):
        change = abs(getattr(balanced, name))
        yield Row(f"{work}: {title}", change, "", abs(getattr(published, name)), maximum=bar)
    for title, name, bar in (
        ("scripts by word overlap that pass", "overlap_scripts", MOST_PASSING),
        ("scripts by chrF that pass", "chrf_scripts", MOST_PASSING),
        ("scripts that compare pairs and pass", "sign_scripts", MOST_PASSING),
        ("a classifier tells which of a pair", "auc", MOST_AUC),
        ("a classifier with a memory of 20 HITs", "auc_with_memory", MOST_AUC),
    ):
        yield Row(
            f"{work}: {title}", getattr(balanced, name), "", getattr(published, name), maximum=bar
        )
    yield Row(f"{work}: time for one", balanced.milliseconds, "ms", published.milliseconds)


if __name__ == "__main__":
    run(measure, __doc__, sizes={"texts": (N_TEXTS, 60)})
