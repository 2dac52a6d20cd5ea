"""Segment scores of metrics aligned with gold, and the groups that rows fall into."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..scores.score_tables import Alignment, GoldTable, Key, ScoreTable, align
from .results import GroupedBy, Options

Floats = NDArray[np.float64]

# Each holds a quarter of the segments.
LENGTH_BANDS = 4


@dataclass(frozen=True, slots=True)
class Texts:
    """Segment lengths in words, or in characters for languages without spaces.

    `output_words` are the words of each system's output of a segment, where the outputs are known.
    """

    lengths: Mapping[str, int]
    unit: str
    output_words: Mapping[Key, int] | None = None


def lengths_of(texts: Mapping[str, str]) -> Texts:
    """Measure the length of segments.

    Parameters
    ----------
    texts : mapping of str to str
        The text of each segment, such as its source.

    Returns
    -------
    Texts
        In characters if the texts have hardly any spaces.
    """
    words = {name: len(text.split()) for name, text in texts.items()}
    characters = {name: len(text.strip()) for name, text in texts.items()}
    # Words have about five letters in languages with spaces; twenty leaves ample room.
    if sum(characters.values()) > 20 * max(sum(words.values()), 1):
        return Texts(characters, "characters")
    return Texts(words, "words")


@dataclass(frozen=True, slots=True)
class Rows:
    """Segment scores of metrics and one gold, row by row.

    `truth` is the gold, negated if lower is better, so that higher is always better. `gold` and
    `scores` are unchanged. `table` holds all rows of the gold, including those without a score.
    """

    table: GoldTable
    tables: tuple[ScoreTable, ...]
    alignment: Alignment

    @classmethod
    def of(cls, tables: Sequence[ScoreTable], gold: GoldTable, options: Options) -> "Rows":
        alignment = align(
            tables,
            gold,
            without_systems=[name for name in options.without_systems if name in gold.systems],
            ignore_extra=options.ignore_extra,
        )
        return cls(gold, tuple(tables), alignment)

    @property
    def metrics(self) -> tuple[str, ...]:
        return self.alignment.metrics

    @property
    def scores(self) -> Floats:
        return self.alignment.scores

    @property
    def flags(self) -> tuple[bool, ...]:
        return self.alignment.higher_is_better

    @property
    def gold(self) -> Floats:
        return self.alignment.gold

    @property
    def truth(self) -> Floats:
        return self.gold if self.alignment.gold_is_better_higher else -self.gold

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems with gold, in the order of their indices."""
        return tuple(dict.fromkeys(system for system, _ in self.alignment.keys))

    @property
    def n_segments(self) -> int:
        return len(set(self.alignment.segments.tolist()))

    @property
    def shares_segments(self) -> bool:
        """Whether some segment has several translations with gold."""
        return self.n_segments < len(self.gold)

    def cube(self) -> tuple[Floats, Floats]:
        """Return metrics (n_metrics, n_systems, n_segments) and gold; NaN where there is no gold."""
        systems, segments = self.alignment.systems, self.alignment.segments
        shape = (len(self.systems), self.n_segments)
        gold = np.full(shape, np.nan)
        gold[systems, segments] = self.truth
        metrics = np.full((len(self.metrics), *shape), np.nan)
        metrics[:, systems, segments] = self.scores
        return metrics, gold

    def by_system(self) -> "Grouping":
        return Grouping("system", self.systems, self.alignment.systems)

    def by_document(self) -> "Grouping | None":
        documents = self.alignment.documents
        if documents is None or all(
            document == segment
            for document, (_, segment) in zip(documents, self.alignment.keys, strict=True)
        ):
            return None
        numbers = {name: number for number, name in enumerate(dict.fromkeys(documents))}
        return Grouping("document", tuple(numbers), np.array([numbers[name] for name in documents]))

    def by_length(self, texts: Texts) -> "Grouping | None":
        """Return bands of length, or None unless the length of every segment is known."""
        names = [segment for _, segment in self.alignment.keys]
        if any(name not in texts.lengths for name in names):
            return None
        lengths = np.array([texts.lengths[name] for name in names])
        by_segment = [texts.lengths[name] for name in dict.fromkeys(names)]
        shares = np.arange(1, LENGTH_BANDS) / LENGTH_BANDS
        cuts = np.unique(np.quantile(by_segment, shares, method="inverted_cdf"))
        bands, places = np.unique(np.searchsorted(cuts, lengths), return_inverse=True)
        by_band = [lengths[places == band] for band in range(len(bands))]
        labels = tuple(f"{band.min()}–{band.max()} {texts.unit}" for band in by_band)
        return Grouping("length", labels, places)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which group each row belongs to: `places` are indices into `groups`."""

    by: GroupedBy
    groups: tuple[str, ...]
    places: NDArray[np.int64]
