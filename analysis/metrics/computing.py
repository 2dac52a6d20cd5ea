"""Compute the built-in metrics of a campaign's outputs, with cached counts, and store their scores."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from numpy.typing import NDArray

from da_platform.exceptions import PlatformError
from hits.models import Campaign, SystemOutput

from ..models import Metric, MetricCounts
from ..scores.raw_files import RawFile
from ..scores.score_tables import LEVELS, Key, Level, ScoreTable
from ..scores.storing import ScoreSource, store_scores
from . import DEFAULT_METRICS
from .catalogue import BuiltIn, metrics_for
from .post_editions import read_post_editions

Progress = Callable[[int, int], None]
# A translation and its reference.
Pair = tuple[str, str]

# Texts between two progress reports; the cached counts of a chunk take one query.
CHUNK_TEXTS = 200


class CannotComputeMetrics(PlatformError):
    """The metrics of a campaign cannot be computed."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of a campaign's systems, in the order of segments, and their references."""

    keys: tuple[Key, ...]
    translations: tuple[str, ...]
    references: tuple[str, ...]

    @property
    def digest(self) -> str:
        """A hash of all keys and texts."""
        digest = sha256()
        for key, translation, reference in zip(
            self.keys, self.translations, self.references, strict=True
        ):
            for text in (*key, translation, reference):
                digest.update(_framed(text))
        return digest.hexdigest()


def compute_metrics(
    *,
    campaign: Campaign,
    names: Sequence[str] = DEFAULT_METRICS,
    levels: Sequence[Level] = LEVELS,
    post_editions: Path | RawFile | None = None,
    tokenise: str | None = None,
    actor: User | None = None,
    progress: Progress | None = None,
) -> list[Metric]:
    """Compute metrics of all outputs of a campaign against its references, or against post-editions.

    Parameters
    ----------
    campaign : Campaign
    names : sequence of str
        Names of built-in metrics, of which only the variants of TER are not computed by default.
    levels : sequence of {"segment", "system"}
    post_editions : Path or RawFile, optional
        A table with the columns system, segment and post_edition, for human-targeted metrics, whose
        names start with an H.
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
    metrics = _chosen_metrics(campaign, names, tokenise)
    outputs = _outputs(campaign, needs_references=post_editions is None)
    if post_editions is not None:
        targets = read_post_editions(post_editions, outputs.keys)
        outputs = Outputs(outputs.keys, outputs.translations, targets)
        metrics = [metric.targeted() for metric in metrics]
    digest = outputs.digest
    pairs = list(zip(outputs.translations, outputs.references, strict=True))
    n_total = len(pairs) * len(metrics)
    stored = []
    for number, metric in enumerate(metrics):
        counts = counted(metric, pairs, _shifted(progress, number * len(pairs), n_total))
        stored += [
            _store(campaign, _table(metric, level, counts, outputs, digest), actor)
            for level in levels
        ]
    return stored


def _chosen_metrics(
    campaign: Campaign, names: Sequence[str], tokenise: str | None
) -> list[BuiltIn]:
    metrics = metrics_for(campaign.target_language, tokenise=tokenise)
    unknown = [name for name in names if name not in metrics]
    if unknown or not names:
        problem = f"Unknown metric: {', '.join(unknown)}." if unknown else "No metric was chosen."
        raise CannotComputeMetrics(f"{problem} Choose from: {', '.join(metrics)}.")
    return [metrics[name] for name in dict.fromkeys(names)]


def _outputs(campaign: Campaign, *, needs_references: bool) -> Outputs:
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
        references.append(reference)
    if not keys:
        raise CannotComputeMetrics(f"{campaign} has no outputs yet. Import some first.")
    without = dict.fromkeys(
        segment for (_, segment), text in zip(keys, references, strict=True) if not text
    )
    if needs_references and without:
        raise CannotComputeMetrics(
            f"{campaign} has no reference for {len(without):,} segments, the first of them "
            f"{next(iter(without))}. Import references, or use post-editions."
        )
    return Outputs(tuple(keys), tuple(translations), tuple(references))


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
    pairs : sequence of (translation, reference)
    report : callable
        Called with the number of pairs done.

    Returns
    -------
    ndarray, shape (pairs, counts)
    """
    base = _framed(metric.signatures["segment"])
    digests = [
        sha256(base + _framed(translation) + _framed(reference)).hexdigest()
        for translation, reference in pairs
    ]
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
def _store(campaign: Campaign, table: ScoreTable, actor: User | None) -> Metric:
    return store_scores(
        table=table,
        home=campaign,
        source=ScoreSource(uploaded_by=actor, origin=Metric.Origin.COMPUTED),
        replace=True,
    )
