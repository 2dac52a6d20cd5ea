"""The built-in metrics of a campaign's outputs, computed once for each text and stored as metrics are."""

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
from . import METRIC_NAMES
from .catalogue import BuiltIn, metrics_for
from .post_editions import read_post_editions

Progress = Callable[[int, int], None]
# A translation and what it is compared with.
Pair = tuple[str, str]

# Texts counted between two signs of progress; what is known of so many is looked up with one query.
CHUNK_TEXTS = 200


class CannotComputeMetrics(PlatformError):
    """A campaign's metrics cannot be computed as asked."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a campaign's systems gave, in the order of segments, and what it is compared with."""

    keys: tuple[Key, ...]
    translations: tuple[str, ...]
    references: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Stand for the texts: other texts have another digest."""
        found = sha256()
        for parts in zip(self.keys, self.translations, self.references, strict=True):
            for text in (*parts[0], *parts[1:]):
                found.update(_framed(text))
        return found.hexdigest()


def compute_metrics(
    *,
    campaign: Campaign,
    names: Sequence[str] = METRIC_NAMES,
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
        Of built-in metrics.
    levels : sequence of {"segment", "system"}
    post_editions : Path or RawFile, optional
        A table with the columns system, segment and post_edition, for human-targeted metrics: their
        names have an H in front.
    tokenise : str, optional
        As in `metrics_for`.
    actor : User, optional
    progress : callable, optional
        Told how many texts are done, and of how many.

    Returns
    -------
    list of Metric
        Stored, for each name and level. Those that are there already, from the same texts in the same
        way, are left as they are.

    Raises
    ------
    CannotComputeMetrics, ScoresRefused
    """
    metrics = _asked_for(campaign, names, tokenise)
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


def _asked_for(campaign: Campaign, names: Sequence[str], tokenise: str | None) -> list[BuiltIn]:
    known = metrics_for(campaign.target_language, tokenise=tokenise)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        listed = ", ".join(known)
        raise CannotComputeMetrics(
            f"{', '.join(unknown) or 'Nothing'} is not computed here. There are {listed}."
        )
    return [known[name] for name in dict.fromkeys(names)]


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
            f"{next(iter(without))}. Without references there is nothing to compare with; "
            "post-editions would do."
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
    """Return what the metric counts in each pair, one row each; equal pairs are counted once, ever.

    Parameters
    ----------
    metric : BuiltIn
    pairs : sequence of (translation, reference)
    report : callable
        Told how many pairs are done.

    Returns
    -------
    ndarray, shape (pairs, counts)
    """
    base = _framed(metric.signatures["segment"])
    digests = [sha256(base + _framed(one) + _framed(other)).hexdigest() for one, other in pairs]
    known: dict[str, list[float]] = {}
    for start in range(0, len(pairs), CHUNK_TEXTS):
        report(start)
        chunk = dict(
            zip(
                digests[start : start + CHUNK_TEXTS],
                pairs[start : start + CHUNK_TEXTS],
                strict=True,
            )
        )
        known |= _counts_of(metric, {key: pair for key, pair in chunk.items() if key not in known})
    report(len(pairs))
    return np.array([known[digest] for digest in digests], dtype=np.float64)


def _counts_of(metric: BuiltIn, pairs: dict[str, Pair]) -> dict[str, list[float]]:
    """Look up what is known of these pairs, and count and remember the rest."""
    rows = MetricCounts.objects.filter(digest__in=list(pairs))
    known: dict[str, list[float]] = dict(rows.values_list("digest", "counts"))
    fresh = {
        digest: list(metric.counts(*pair)) for digest, pair in pairs.items() if digest not in known
    }
    MetricCounts.objects.bulk_create(
        (MetricCounts(digest=digest, counts=counts) for digest, counts in fresh.items()),
        ignore_conflicts=True,
    )
    return known | fresh


def _framed(text: str) -> bytes:
    """Put its length before a text, so that no two lists of texts look alike."""
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
        places = _places(system for system, _ in outputs.keys)
        keys = tuple((system, "") for system in places)
        scores = [
            metric.of_system(
                counts[own],
                [outputs.translations[place] for place in own],
                [outputs.references[place] for place in own],
            )
            for own in places.values()
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


def _places(systems: Iterable[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, system in enumerate(systems):
        places.setdefault(system, []).append(place)
    return places


@transaction.atomic
def _store(campaign: Campaign, table: ScoreTable, actor: User | None) -> Metric:
    return store_scores(
        table=table,
        home=campaign,
        source=ScoreSource(uploaded_by=actor, origin=Metric.Origin.COMPUTED),
        replace=True,
    )
