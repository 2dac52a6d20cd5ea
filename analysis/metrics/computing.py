"""Compute the built-in metrics of a campaign's outputs, with cached counts, and store their scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from numpy.typing import NDArray

from da_platform.exceptions import PlatformError
from hits.models import Campaign, SystemOutput

from ..models import Metric, MetricCounts
from ..scores.score_tables import LEVELS, Key, Level, ScoreTable
from ..scores.storing import ScoreSource, store_scores
from . import DEFAULT_METRICS
from .catalogue import BuiltIn, metrics_for

Progress = Callable[[int, int], None]
# A translation and its references.
Pair = tuple[str, ...]

# Texts between two progress reports; the cached counts of a chunk take one query.
CHUNK_TEXTS = 200


class CannotComputeMetrics(PlatformError):
    """The metrics of a campaign cannot be computed."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of a campaign's systems, in the order of segments, with one or more references each."""

    keys: tuple[Key, ...]
    translations: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    @property
    def digest(self) -> str:
        """A hash of all keys and texts."""
        digest = sha256()
        for key, pair in zip(self.keys, self.pairs, strict=True):
            for text in (*key, *pair):
                digest.update(_framed(text))
        return digest.hexdigest()

    @property
    def pairs(self) -> list[Pair]:
        """Each translation with its references."""
        texts = zip(self.translations, self.references, strict=True)
        return [(translation, *references) for translation, references in texts]


def compute_metrics(
    *,
    campaign: Campaign,
    names: Sequence[str] = DEFAULT_METRICS,
    levels: Sequence[Level] = LEVELS,
    tokenise: str | None = None,
    actor: User | None = None,
    progress: Progress | None = None,
) -> list[Metric]:
    """Compute metrics of all outputs of a campaign against its references.

    Parameters
    ----------
    campaign : Campaign
    names : sequence of str
        Names of built-in metrics, of which only the variants of TER are not computed by default.
    levels : sequence of {"segment", "system"}
    tokenise : str, optional
        As in `metrics_for`.
    actor : User, optional
    progress : callable, optional
        Called with the number of texts done and the total.

    Returns
    -------
    list of Metric
        The stored metric for each name and level. Existing ones, computed in the same way from the
        same texts, stay unchanged.

    Raises
    ------
    CannotComputeMetrics, ScoresRefused
    """
    metrics = chosen_metrics(metrics_for(campaign.target_language, tokenise=tokenise), names)
    outputs = outputs_of(campaign)
    _check_references(campaign, outputs)
    return [
        store_computed(campaign, table, actor)
        for table in score_outputs(outputs, metrics, levels=levels, progress=progress)
    ]


def score_outputs(
    outputs: Outputs,
    metrics: Sequence[BuiltIn],
    *,
    levels: Sequence[Level] = LEVELS,
    progress: Progress | None = None,
) -> Iterator[ScoreTable]:
    """Yield the scores of outputs by each metric at each level."""
    digest, pairs = outputs.digest, outputs.pairs
    n_total = len(pairs) * len(metrics)
    for number, metric in enumerate(metrics):
        counts = counted(metric, pairs, _shifted(progress, number * len(pairs), n_total))
        for level in levels:
            yield _table(metric, level, counts, outputs, digest)


def chosen_metrics(metrics: Mapping[str, BuiltIn], names: Sequence[str]) -> list[BuiltIn]:
    """Return the metrics of these names; refuse unknown ones."""
    unknown = [name for name in names if name not in metrics]
    if unknown or not names:
        problem = f"Unknown metric: {', '.join(unknown)}." if unknown else "No metric was chosen."
        raise CannotComputeMetrics(f"{problem} Choose from: {', '.join(metrics)}.")
    return [metrics[name] for name in dict.fromkeys(names)]


def outputs_of(campaign: Campaign) -> Outputs:
    """Return all outputs, with the references of their segments, which may be empty."""
    rows = (
        SystemOutput.objects.filter(system__campaign=campaign)
        .order_by("segment__position", "system")
        .values_list(
            "system__name",
            "segment__name",
            "own_text",
            "translation__text",
            "segment__reference",
        )
    )
    keys, translations, references = [], [], []
    for system, segment, own_text, text, reference in rows:
        keys.append((system, segment))
        translations.append(text if own_text is None else own_text)
        references.append((reference,))
    if not keys:
        raise CannotComputeMetrics(f"{campaign} has no outputs yet. Import some first.")
    return Outputs(tuple(keys), tuple(translations), tuple(references))


def _check_references(campaign: Campaign, outputs: Outputs) -> None:
    rows = zip(outputs.keys, outputs.references, strict=True)
    without = dict.fromkeys(segment for (_, segment), texts in rows if not all(texts))
    if without:
        raise CannotComputeMetrics(
            f"{campaign} has no reference for {len(without):,} segments, the first of them "
            f"{next(iter(without))}. Import references, or use post-editions."
        )


def _shifted(progress: Progress | None, n_before: int, n_total: int) -> Callable[[int], None]:
    if progress is None:
        return lambda n_done: None
    return lambda n_done: progress(n_before + n_done, n_total)


# Counting -------------------------------------------------------------------------------------


def counted(
    metric: BuiltIn, pairs: Sequence[Pair], report: Callable[[int], None]
) -> NDArray[np.float64]:
    """Return the metric's counts for each pair, from the cache if it has them.

    Parameters
    ----------
    metric : BuiltIn
    pairs : sequence of (translation, reference, ...)
    report : callable
        Called with the number of pairs done.

    Returns
    -------
    ndarray, shape (pairs, counts)
    """
    base = _framed(metric.signatures["segment"])
    digests = [sha256(base + b"".join(map(_framed, pair))).hexdigest() for pair in pairs]
    counts: dict[str, list[float]] = {}
    for start in range(0, len(pairs), CHUNK_TEXTS):
        report(start)
        chunk = dict(
            zip(
                digests[start : start + CHUNK_TEXTS],
                pairs[start : start + CHUNK_TEXTS],
                strict=True,
            )
        )
        missing = {digest: pair for digest, pair in chunk.items() if digest not in counts}
        counts |= _counts_of(metric, missing)
    report(len(pairs))
    return np.array([counts[digest] for digest in digests], dtype=np.float64)


def _counts_of(metric: BuiltIn, pairs: dict[str, Pair]) -> dict[str, list[float]]:
    """Look up the cached counts of these pairs; compute and cache those that are missing."""
    rows = MetricCounts.objects.filter(digest__in=list(pairs))
    cached: dict[str, list[float]] = dict(rows.values_list("digest", "counts"))
    fresh = {
        digest: list(metric.counts(*pair)) for digest, pair in pairs.items() if digest not in cached
    }
    MetricCounts.objects.bulk_create(
        (MetricCounts(digest=digest, counts=counts) for digest, counts in fresh.items()),
        ignore_conflicts=True,
    )
    return cached | fresh


def _framed(text: str) -> bytes:
    """Prefix a text with its length, so that no two lists of texts have the same bytes."""
    content = text.encode()
    return b"%d:" % len(content) + content


# From counts to stored scores -----------------------------------------------------------------


def _table(
    metric: BuiltIn, level: Level, counts: NDArray[np.float64], outputs: Outputs, digest: str
) -> ScoreTable:
    if level == "segment":
        keys: tuple[Key, ...] = outputs.keys
        scores = [metric.of_segment(row) for row in counts]
    else:
        rows_by_system = _rows_by_system(system for system, _ in outputs.keys)
        keys = tuple((system, "") for system in rows_by_system)
        scores = [
            metric.of_system(
                counts[rows],
                [outputs.translations[row] for row in rows],
                [outputs.references[row] for row in rows],
            )
            for rows in rows_by_system.values()
        ]
    return ScoreTable(
        name=metric.name,
        level=level,
        keys=keys,
        scores=np.array(scores, dtype=np.float64),
        higher_is_better=metric.higher_is_better,
        sha256=digest,
        signature=metric.signatures[level],
    )


def _rows_by_system(systems: Iterable[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, system in enumerate(systems):
        rows.setdefault(system, []).append(row)
    return rows


@transaction.atomic
def store_computed(
    campaign: Campaign, table: ScoreTable, actor: User | None, *, partial: bool = False
) -> Metric:
    """Store scores that the platform computed, in place of those it computed earlier; `partial` as in `store_scores`."""
    return store_scores(
        table=table,
        home=campaign,
        source=ScoreSource(uploaded_by=actor, origin=Metric.Origin.COMPUTED),
        replace=True,
        partial=partial,
    )
