"""Gold runs: the mean score of every translation, computed from trusted ratings.

Every run is computed from all ratings. Its signature says how, and its digest from what: runs with equal
digests have equal scores, to the last bit.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC
from hashlib import sha256
from typing import Any, cast

import numpy as np
from django.db import IntegrityError, connection, transaction
from django.db.models import Max
from django.utils import timezone
from numpy.typing import NDArray

from da_platform import __version__
from da_platform.jobs.models import Job
from da_platform.numbers import known_list
from hits.campaigns.samples import load_chances
from hits.models import Campaign, Look
from hits.rating.arrays import (
    Ids,
    OutputArrays,
    RatingArrays,
    load_outputs,
    load_ratings,
    load_translations,
)

from ..models import GoldRun, GoldScore, GoldWeight
from ..stats._pearson import pearson
from ..stats.segments import Method, SegmentScores, counts_for_gold, segment_scores
from ..stats.signature import join_signatures, signature
from ..stats.standardise import Standardised, standardise_by_worker
from ..stats.system_covariance import SystemCovariance, system_covariance
from ..stats.systems import Test
from ..stats.thresholds import MINIMUM_PAIRS, RELIABLE_P
from ..stats.trust_rules import rule_facts
from ..stats.weighted_scores import (
    FULL_WEIGHT,
    segment_scores_weighted,
    system_scores_weighted,
)
from ..stats.worker_weights import WorkerWeights
from .all_segments import find_helper, scores_for_all
from .counted_ratings import (
    CountedColumns,
    Trust,
    expand_ratings,
    load_trust,
    weigh_workers,
    without_reported_pairs,
)
from .documents import documents_rated_in
from .gold_arrays import Floats, GoldArrays
from .named_workers import fingerprint
from .stopping_rules import assignments_of, stopping_facts

Progress = Callable[[int, int], None]

# Steps of progress: loading, standardising, averaging, storing.
N_STAGES = 4

_SCORES = ("raw", "z", "raw_se", "z_se", "z_low", "z_high")
_ARRAYS = ("translation", *_SCORES, "n", "n_ratings", "is_complete")
_COLUMNS = ("translation_id", *_ARRAYS[1:])
# Why a worker weighs what they weigh.
_REASONS = (
    "discrimination",
    "own_discrimination",
    "agreement",
    "repeat_variance",
    "own_repeat_variance",
    "n_pairs",
    "n_repeats",
)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """How a later run differs from an earlier one, over translations complete in both.

    `newly_complete` and `no_longer_complete` hold keys of translations. Correlations are NaN with
    fewer than three shared translations or constant scores, differences with none shared.
    """

    n_shared: int
    raw_r: float
    z_r: float
    largest_raw_difference: float
    largest_z_difference: float
    newly_complete: Ids
    no_longer_complete: Ids
    has_equal_input: bool
    signature: str


def build_gold(
    *,
    campaign: Campaign,
    method: Method = "per_worker",
    minimum: int | None = None,
    test: Test = "two_way",
    workers: Collection[int] | None = None,
    helper: str | None = None,
    look: Look | None = None,
    job: Job | None = None,
    progress: Progress | None = None,
) -> GoldRun:
    """Compute the campaign's gold from its current ratings, and store it as a new run.

    Parameters
    ----------
    method : {"per_worker", "pooled", "weighted"}
        See `segments.segment_scores`, and `weighted_scores` for the last.
    minimum : int, optional
        Ratings needed for a complete score; by default, the campaign's setting.
    test : {"two_way", "paired", "published"}
        See `systems.compare_systems`.
    workers : collection of int, optional
        Keys of workers. Only ratings by these workers count, if they count without it.
    helper : str, optional
        The name of a metric with scores of all outputs, rated or not, that helps to score systems; see
        `all_segments`.
    look : Look, optional
        Only the assignments that this look is about count, and all of them do.
    job : Job, optional
        At most one run is stored for a job, even if it is restarted.

    Returns
    -------
    GoldRun
        With a row for every translation of the campaign; incomplete ones have n and no score. The ratings
        that count are those of `load_trust`. z-scores are computed over all items of a worker in the
        campaign, including those for quality control, except in assignments that are left out (see `Trust`).

    Raises
    ------
    HelperRefused
        If the metric cannot help.
    WeightsRefused
        If ratings cannot be weighed.
    """
    metric = None if helper is None else find_helper(campaign, helper, method, test)
    report = progress or (lambda done, total: None)
    # Taken before loading, so that ratings that arrive meanwhile count as newer than the run.
    started_at = timezone.now()
    minimum = campaign.min_ratings if minimum is None else minimum
    ratings, translations = load_ratings(campaign), load_translations(campaign)
    trust, outputs = load_trust(campaign, method, workers), load_outputs(campaign)
    report(1, N_STAGES)
    trusted = (
        CountedColumns.of(ratings, trust)
        if look is None
        else CountedColumns.rows(ratings, np.isin(ratings.assignment, assignments_of(look)))
    )
    if method == "weighted":
        trusted = without_reported_pairs(trusted, campaign)
    standardised = standardise_by_worker(trusted.score, trusted.worker)
    weights = weigh_workers(trusted, standardised.z) if method == "weighted" else None
    report(2, N_STAGES)
    gold = _average(trusted, standardised.z, translations, method, minimum, weights)
    report(3, N_STAGES)
    is_uneven = campaign.has_uneven_sample
    chances = load_chances(campaign) if metric is not None or is_uneven else {}
    for_all = None
    if metric is not None or (is_uneven and weights is None):
        for_all = scores_for_all(trusted, standardised.z, gold, campaign, method, metric, chances)
    run = GoldRun(
        campaign=campaign,
        created_at=started_at,
        method=method,
        minimum=minimum,
        test=test,
        named_workers=None if workers is None else sorted(workers),
        job=job,
        n_workers=len(np.unique(ratings.worker)),
        n_workers_trusted=len(standardised.workers),
        n_ratings=int(gold.n_ratings.sum()),
        n_scored=int(gold.is_complete.sum()),
        n_incomplete=int((~gold.is_complete).sum()),
        input_digest=_digest(trusted, translations, method, minimum),
        signature=join_signatures(
            _signature(campaign, trust, standardised, method, minimum, weights, workers, look),
            *([for_all.signature] if for_all else []),
        ),
        system_covariance=_as_json(
            for_all.scores.covariance
            if for_all
            else _covariance(campaign, trusted, standardised.z, gold, outputs, method)
            if weights is None
            else _weighted_systems(
                campaign,
                trusted,
                standardised.z,
                gold,
                outputs,
                weights,
                chances,
            )
        ),
        helper=for_all and for_all.as_json(),
    )
    run = _stored_once(run, gold, weights)
    report(4, N_STAGES)
    return run


@dataclass(frozen=True, slots=True)
class ScoredRatings:
    """The ratings behind a run that count towards scores, with the z-scores of the run."""

    translation: Ids
    worker: Ids
    score: NDArray[np.int16]
    z: Floats


def ratings_of(run: GoldRun) -> ScoredRatings | None:
    """Load the ratings behind a run; None if they, or the trusted workers, have changed since."""
    campaign = run.campaign
    ratings = load_ratings(campaign)
    trust = load_trust(campaign, cast(Method, run.method), run.named_workers)
    translations = load_translations(campaign)
    for counts in (trust.counts(ratings), trust.counts(ratings) & _before(run, ratings)):
        columns = CountedColumns.rows(ratings, counts)
        if run.method == GoldRun.Method.WEIGHTED:
            columns = without_reported_pairs(columns, campaign)
        if _digest(columns, translations, run.method, run.minimum) == run.input_digest:
            z = standardise_by_worker(columns.score, columns.worker).z
            scored = counts_for_gold(columns.role)
            return ScoredRatings(
                columns.translation[scored],
                columns.worker[scored],
                columns.score[scored],
                z[scored],
            )
    return None


def _before(run: GoldRun, ratings: RatingArrays) -> NDArray[np.bool_]:
    created_at = run.created_at.astimezone(UTC).replace(tzinfo=None)
    return ratings.submitted <= np.datetime64(created_at)


# Computing ------------------------------------------------------------------------------------


def _average(
    ratings: CountedColumns,
    z: Floats,
    translations: Ids,
    method: Method,
    minimum: int,
    weights: WorkerWeights | None,
) -> GoldArrays:
    counts = counts_for_gold(ratings.role)
    rated, z = ratings.translation[counts], z[counts]
    columns = (ratings.score[counts], z, ratings.worker[counts], rated)
    if weights is None:
        segments = segment_scores(*columns, method=method, minimum=minimum, expected=translations)
    else:
        each = weights.of(ratings.worker[counts])
        # A rating with no weight is no rating.
        z = np.where(each > 0, z, np.nan)
        segments = segment_scores_weighted(*columns, each, minimum=minimum, expected=translations)
    # Counted for incomplete translations too; ratings without a z do not count.
    at_rated = np.searchsorted(translations, rated[~np.isnan(z)])
    n_ratings = np.bincount(at_rated, minlength=len(translations))
    return _gold_arrays(segments, n_ratings, translations)


def _gold_arrays(segments: SegmentScores, n_ratings: Ids, translations: Ids) -> GoldArrays:
    """Return a row for every translation of the campaign, complete or not."""
    at_complete = np.searchsorted(translations, segments.translations)
    at_incomplete = np.searchsorted(translations, segments.incomplete)

    def scores(values: Floats) -> Floats:
        column = np.full(len(translations), np.nan)
        column[at_complete] = values
        return column

    n = np.zeros(len(translations), dtype=np.int64)
    n[at_complete], n[at_incomplete] = segments.n, segments.incomplete_n
    is_complete = np.zeros(len(translations), dtype=np.bool_)
    is_complete[at_complete] = True
    return GoldArrays(
        translation=translations,
        raw=scores(segments.raw),
        z=scores(segments.z),
        raw_se=scores(segments.raw_se),
        z_se=scores(segments.z_se),
        z_low=scores(segments.z_low),
        z_high=scores(segments.z_high),
        n=n,
        n_ratings=n_ratings,
        is_complete=is_complete,
        signature=segments.signature,
    )


def _covariance(
    campaign: Campaign,
    ratings: CountedColumns,
    z: Floats,
    gold: GoldArrays,
    outputs: OutputArrays,
    method: Method,
) -> SystemCovariance | None:
    """Return the covariance of system scores; None if no system has a score."""
    has_score = np.isin(outputs.translation, gold.translation[gold.is_complete])
    if not has_score.any():
        return None
    translations, first = np.unique(outputs.translation, return_index=True)
    # Texts that no system produces any more do not count.
    rows = np.isin(ratings.translation, translations)
    at_output = np.searchsorted(translations, ratings.translation[rows])
    segments = outputs.segment[first][at_output]
    documents = documents_rated_in(campaign, segments)
    return system_covariance(
        z[rows],
        ratings.worker[rows],
        ratings.translation[rows],
        segments if documents is None else documents,
        counts_for_gold(ratings.role[rows]),
        produced=outputs.translation[has_score],
        systems=outputs.system[has_score],
        method=method,
        unit="segments" if documents is None else "documents",
    )


def _weighted_systems(
    campaign: Campaign,
    ratings: CountedColumns,
    z: Floats,
    gold: GoldArrays,
    outputs: OutputArrays,
    weights: WorkerWeights,
    chances: Mapping[int, float],
) -> SystemCovariance | None:
    """Return system scores from all weighted ratings, with their covariance; None if no system has a score.

    Ratings of incomplete translations count as well, as the scores are no means over translations. A rating counts less
    the likelier its translation was to be drawn.
    """
    if not np.isin(outputs.translation, gold.translation[gold.is_complete]).any():
        return None
    produced = np.ones(len(outputs), dtype=np.bool_)
    scored = np.flatnonzero(counts_for_gold(ratings.role))
    places, systems, segments = expand_ratings(ratings.translation[scored], outputs, produced)
    rows = scored[places]
    of_ratings = weights.of(ratings.worker[rows])
    if chances:
        texts, places = np.unique(ratings.translation[rows], return_inverse=True)
        of_ratings = of_ratings / np.array([chances.get(text, 1.0) for text in texts])[places]
    return system_scores_weighted(
        z[rows],
        ratings.worker[rows],
        systems,
        segments,
        of_ratings,
        documents=documents_rated_in(campaign, segments),
    )


def _as_json(covariance: SystemCovariance | None) -> dict[str, Any] | None:
    if covariance is None:
        return None
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in asdict(covariance).items()
    }


def _digest(ratings: CountedColumns, translations: Ids, method: str, minimum: int) -> str:
    """Hash everything that the scores depend on."""
    digest = sha256(f"{method} {minimum} {__version__}".encode())
    # Weights depend on which items form pairs, too.
    pairs = (ratings.assignment, ratings.item, ratings.partner) if method == "weighted" else ()
    for values in (
        translations,
        ratings.translation,
        ratings.worker,
        ratings.role,
        ratings.score,
        *pairs,
    ):
        # With fixed widths and byte order, and the length of each array, no two inputs collide.
        fixed = np.ascontiguousarray(values, dtype="<i2" if values.itemsize == 2 else "<i8")
        digest.update(f" {len(fixed)} ".encode())
        digest.update(fixed.data)
    return digest.hexdigest()


def _signature(
    campaign: Campaign,
    trust: Trust,
    standardised: Standardised,
    method: str,
    minimum: int,
    weights: WorkerWeights | None,
    workers: Collection[int] | None,
    look: Look | None,
) -> str:
    decisions = {"reinstated": trust.n_reinstated, "excluded": trust.n_excluded}
    reasons, counts = np.unique(standardised.reasons[standardised.is_set_aside], return_counts=True)
    aside = [f"{n} {reason}" for reason, n in zip(reasons, counts, strict=True)]
    facts = signature(
        qc=(campaign.trust_rule, "paired-t", f"p<{RELIABLE_P:g}", f"pairs>={MINIMUM_PAIRS}"),
        **rule_facts(campaign.trust_rule),
        degraded=campaign.degradation,
        drift=campaign.drift,
        left_out=len(trust.left_out) or None,
        decided=[f"{n} {name}" for name, n in decisions.items() if n] or None,
        std=("worker", "ddof=1", "all items"),
        aside=aside or None,
        sample=_sample(campaign),
        named=None if workers is None else (len(workers), fingerprint(campaign, workers)),
        seg=method,
        min=minimum if weights is None else (minimum, f"full>={FULL_WEIGHT:g}"),
        look=None if look is None else look.number,
    )
    if (stopping := stopping_facts(campaign)) is not None:
        facts = join_signatures(facts, stopping)
    return facts if weights is None else join_signatures(facts, weights.signature)


def _sample(campaign: Campaign) -> tuple[object, ...] | None:
    """Return which translations were rated, for signatures; None if chance decided alike for all."""
    if campaign.sample_size is None or campaign.sample_choice == Campaign.SampleChoice.RANDOM:
        return None
    weights = ("weights=1/chance",) if campaign.has_uneven_sample else ()
    return (campaign.sample_choice, campaign.sample_size, *weights)


# Storing --------------------------------------------------------------------------------------


def _stored_once(run: GoldRun, gold: GoldArrays, weights: WorkerWeights | None) -> GoldRun:
    """Store the run, or return the one that another attempt at the same job has stored."""
    try:
        _store(run, gold, weights)
    except IntegrityError:
        stored = GoldRun.objects.filter(job=run.job).first() if run.job else None
        if stored is None:
            raise
        return stored
    return run


@transaction.atomic
def _store(run: GoldRun, gold: GoldArrays, weights: WorkerWeights | None) -> None:
    """Number the run and store it with all its scores, or store nothing."""
    # Locked, so that simultaneous runs do not take the same number.
    Campaign.objects.select_for_update(no_key=True).get(pk=run.campaign_id)
    latest = GoldRun.objects.filter(campaign=run.campaign_id).aggregate(Max("number"))
    run.number = (latest["number__max"] or 0) + 1
    run.save(force_insert=True)
    _insert(run.pk, gold)
    if weights is not None:
        GoldWeight.objects.bulk_create(_weight_rows(run, weights), batch_size=1_000)


def _insert(run: int, gold: GoldArrays) -> None:
    """Write the scores without model instances: there can be a hundred thousand."""
    table = connection.ops.quote_name(GoldScore._meta.db_table)
    columns = ", ".join(["run_id", *_COLUMNS])
    rows = list(_rows(run, gold))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * (1 + len(_COLUMNS)))
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)


def _weight_rows(run: GoldRun, weights: WorkerWeights) -> list[GoldWeight]:
    columns = {name: known_list(getattr(weights, name)) for name in _REASONS}
    rows = zip(weights.workers.tolist(), weights.weights.tolist(), *columns.values(), strict=True)
    return [
        GoldWeight(
            run=run, worker_id=worker, weight=weight, **dict(zip(columns, reasons, strict=True))
        )
        for worker, weight, *reasons in rows
    ]


def _rows(run: int, gold: GoldArrays) -> Iterator[tuple[Any, ...]]:
    columns = [known_list(getattr(gold, name)) for name in _ARRAYS]
    return ((run, *row) for row in zip(*columns, strict=True))


# Reading --------------------------------------------------------------------------------------


def gold_scores(run: GoldRun) -> GoldArrays:
    """Load a stored run's scores, exactly as they were computed."""
    rows = run.scores.order_by("translation_id").values_list(*_COLUMNS)
    columns = list(zip(*rows.iterator(10_000), strict=True)) or [()] * len(_COLUMNS)
    kinds = (np.int64, *[np.float64] * len(_SCORES), np.int64, np.int64, np.bool_)
    arrays: dict[str, NDArray[Any]] = {
        # None becomes NaN.
        name: np.array(values, dtype=kind)
        for name, values, kind in zip(_ARRAYS, columns, kinds, strict=True)
    }
    return GoldArrays(**arrays, signature=run.signature)


def compare_runs(earlier: GoldRun, later: GoldRun) -> RunComparison:
    """Compare two runs of one campaign.

    Parameters
    ----------
    earlier, later : GoldRun

    Returns
    -------
    RunComparison
    """
    if earlier.campaign_id != later.campaign_id:
        raise ValueError("`earlier` and `later` must be runs of the same campaign.")
    before, after = _complete(gold_scores(earlier)), _complete(gold_scores(later))
    shared, at_before, at_after = np.intersect1d(
        before.translation, after.translation, assume_unique=True, return_indices=True
    )
    raw = before.raw[at_before], after.raw[at_after]
    z = before.z[at_before], after.z[at_after]
    return RunComparison(
        n_shared=len(shared),
        raw_r=pearson(*raw),
        z_r=pearson(*z),
        largest_raw_difference=_largest_difference(*raw),
        largest_z_difference=_largest_difference(*z),
        newly_complete=np.setdiff1d(after.translation, before.translation),
        no_longer_complete=np.setdiff1d(before.translation, after.translation),
        has_equal_input=earlier.input_digest == later.input_digest,
        signature=signature(runs=(earlier.number, later.number), r="pearson"),
    )


def _complete(gold: GoldArrays) -> GoldArrays:
    return GoldArrays(
        **{name: getattr(gold, name)[gold.is_complete] for name in _ARRAYS},
        signature=gold.signature,
    )


def _largest_difference(first: Floats, second: Floats) -> float:
    return float(np.abs(first - second).max()) if len(first) else math.nan
