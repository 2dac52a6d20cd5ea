"""Test workers' reliability on pairs of quality-control items, and give each worker a verdict."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ._groups import (
    ROUNDING,
    Moments,
    counts,
    divide,
    factorise,
    moments,
    places_in_group,
    starts_of_runs,
    sums,
    t_reach,
)
from ._signed_rank import signed_ranks
from ._validation import (
    Bools,
    Floats,
    Ints,
    Keys,
    as_keys,
    as_numbers,
    as_roles,
    check_at_least,
    check_between,
    check_same_kind,
    check_same_length,
)
from .roles import Role
from .signature import signature
from .thresholds import MINIMUM_PAIRS, RELIABLE_P, WINDOW_HITS

# Confidence level of the interval around a mean difference.
CONFIDENCE = 0.95
# Marks an item without a partner among integer ids; among string ids it is the empty string.
NO_PARTNER = -1


class Verdict(StrEnum):
    """The outcome of the tests for a worker."""

    UNPROVEN = "unproven"
    RELIABLE = "reliable"
    UNRELIABLE = "unreliable"
    DRIFTING = "drifting"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rows of quality-control items and of their partners, and the differences of their scores.

    `differences` are the item's score minus its partner's. `n_unmatched` counts items whose partner was
    not rated in the same assignment.
    """

    rows: Ints
    partner_rows: Ints
    differences: Floats
    n_unmatched: int


@dataclass(frozen=True, slots=True)
class PairedTests:
    """A paired t-test for each worker; a small p-value favours `alternative`.

    `alternative` is "less" (the mean difference is below zero) or "two-sided". `low` and `high`
    bound the mean difference. Values that need more pairs are NaN.
    """

    workers: Keys
    n_pairs: Ints
    mean_difference: Floats
    mean_absolute_difference: Floats
    low: Floats
    high: Floats
    statistic: Floats
    df: Ints
    pvalue: Floats
    alternative: str
    signature: str


@dataclass(frozen=True, slots=True)
class SignedRankTests:
    """Wilcoxon's signed-rank test per worker; a small p-value means degraded items scored lower."""

    workers: Keys
    n_pairs: Ints
    n_nonzero: Ints
    statistic: Floats
    pvalue: Floats
    is_exact: Bools
    signature: str


@dataclass(frozen=True, slots=True)
class WindowTests:
    """The degraded-pairs test over each worker's latest HITs.

    `n_windows` counts the worker's full windows and `n_failed` those that fail the test; `failed_since` is
    when the first HIT of the earliest failed one was submitted, NaN if none failed. The other fields
    describe the latest window.
    """

    workers: Keys
    n_hits: Ints
    n_pairs: Ints
    mean_difference: Floats
    statistic: Floats
    pvalue: Floats
    n_windows: Ints
    n_failed: Ints
    failed_since: Floats
    signature: str


@dataclass(frozen=True, slots=True)
class QualityControl:
    """All results of quality control, for the same workers in the same order."""

    workers: Keys
    verdicts: NDArray[Any]
    degraded: PairedTests
    degraded_ranks: SignedRankTests
    repeats: PairedTests
    latest: WindowTests | None
    n_unmatched: int
    signature: str

    @property
    def trusted(self) -> Keys:
        """Workers whose ratings count for gold: those who pass the test over all their pairs.

        That includes drifting workers; the admin decides whether to keep them.
        """
        return self.workers[np.isin(self.verdicts, [Verdict.RELIABLE, Verdict.DRIFTING])]


def make_pairs(
    assignments: ArrayLike, items: ArrayLike, partners: ArrayLike, scores: ArrayLike
) -> Pairs:
    """Find the partner of each quality-control item among the ratings of the same assignment.

    Parameters
    ----------
    assignments, items, scores : array_like, shape (n,)
        Assignment, item and score of each rating.
    partners : array_like, shape (n,)
        The item to compare it with, or `NO_PARTNER` (the empty string) if there is none.

    Returns
    -------
    Pairs
        In input order. An item whose partner was not rated forms no pair.
    """
    scores = as_numbers("scores", scores)
    assignments, items = as_keys("assignments", assignments), as_keys("items", items)
    partners = as_keys("partners", partners)
    check_same_length(assignments=assignments, items=items, partners=partners, scores=scores)
    check_same_kind(items=items, partners=partners)
    has_partner = partners != "" if partners.dtype.kind in "US" else partners != NO_PARTNER
    qc_rows = np.flatnonzero(has_partner)
    partner_labels, partner_codes = factorise(partners[qc_rows])
    place, is_partner = _places_among(partner_labels, items)
    candidate_rows = np.flatnonzero(is_partner)
    _, assignment_codes = factorise(assignments)
    # One number for each combination of assignment and partner item.
    sought = assignment_codes[qc_rows] * len(partner_labels) + partner_codes
    candidates = assignment_codes[candidate_rows] * len(partner_labels) + place[candidate_rows]
    matches, is_matched = _look_up(candidates, sought)
    rows, partner_rows = qc_rows[is_matched], candidate_rows[matches[is_matched]]
    return Pairs(
        rows=rows,
        partner_rows=partner_rows,
        differences=scores[rows] - scores[partner_rows],
        n_unmatched=int(len(qc_rows) - len(rows)),
    )


def _places_among(labels: Keys, keys: Keys) -> tuple[Ints, Bools]:
    """Return the index of each key among the sorted labels, and whether it is one of them."""
    if not len(labels):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=np.bool_)
    distinct, codes = factorise(keys)
    places = np.minimum(np.searchsorted(labels, distinct), len(labels) - 1)
    return places[codes], (labels[places] == distinct)[codes]


def _look_up(candidates: Ints, sought: Ints) -> tuple[Ints, Bools]:
    """Return the index in `candidates` of each number sought, and whether it was found."""
    if not len(candidates):
        return np.zeros(len(sought), dtype=np.int64), np.zeros(len(sought), dtype=np.bool_)
    order = np.argsort(candidates)
    ordered = candidates[order]
    if (ordered[1:] == ordered[:-1]).any():
        raise ValueError("`items` must contain each item only once per assignment.")
    places = np.minimum(np.searchsorted(ordered, sought), len(ordered) - 1)
    return order[places], ordered[places] == sought


def degraded_tests(differences: ArrayLike, workers: ArrayLike) -> PairedTests:
    """Test for each worker whether degraded items were scored lower than their partners.

    Parameters
    ----------
    differences : array_like, shape (n,)
        Score of the degraded item minus that of its partner, for each pair.
    workers : array_like, shape (n,)
        The worker of each pair.

    Returns
    -------
    PairedTests
        One-sided paired t-tests; a small p-value means that the worker tells degraded from genuine
        items. If the t-test is undefined because all differences are equal, p is 0 if they are
        negative and 1 if they are zero or positive.

    References
    ----------
    .. [1] Graham, Baldwin, Moffat and Zobel. Can machine translation systems be evaluated by the
       crowd alone. Natural Language Engineering 23(1), 2017.
    """
    differences, labels, codes = _by_worker(differences, workers)
    return _paired_tests(differences, labels, codes, alternative="less")


def repeat_tests(differences: ArrayLike, workers: ArrayLike) -> PairedTests:
    """Test for each worker whether repeats were scored differently from their originals.

    Parameters
    ----------
    differences, workers : array_like, shape (n,)
        Score of the repeat minus that of the original, and the worker of each pair.

    Returns
    -------
    PairedTests
        Two-sided paired t-tests; a small p-value means that the worker is inconsistent. If all
        differences are equal, p is 1 if they are zero and 0 otherwise.
    """
    differences, labels, codes = _by_worker(differences, workers)
    return _paired_tests(differences, labels, codes, alternative="two-sided")


def signed_rank_tests(differences: ArrayLike, workers: ArrayLike) -> SignedRankTests:
    """Test the same as `degraded_tests` by ranks, which are robust to extreme scores.

    Parameters
    ----------
    differences, workers : array_like, shape (n,)
        As for `degraded_tests`.

    Returns
    -------
    SignedRankTests
        One-sided. Zero differences are dropped, as Wilcoxon did. The p-value is exact up to 50 pairs
        without ties and zeros and up to 13 pairs with them; otherwise it is the normal approximation
        with tie correction and without continuity correction, as in `scipy.stats.wilcoxon` by
        default. p = 1 if all differences are zero.

    References
    ----------
    .. [1] Wilcoxon. Individual comparisons by ranking methods. Biometrics Bulletin 1(6), 1945.
    """
    differences, labels, codes = _by_worker(differences, workers)
    return _signed_rank_tests(differences, labels, codes)


def window_tests(
    differences: ArrayLike,
    workers: ArrayLike,
    submitted: ArrayLike,
    *,
    window: int = WINDOW_HITS,
    alpha: float = RELIABLE_P,
) -> WindowTests:
    """Run the degraded-pairs test over a sliding window of each worker's HITs.

    Parameters
    ----------
    differences, workers : array_like, shape (n,)
        As for `degraded_tests`.
    submitted : array_like, shape (n,)
        When the pair's HIT was submitted, as a number that grows with time. Pairs of one worker
        with the same number belong to one HIT.
    window : int
        HITs per window. A worker with fewer HITs has one window over all of them.
    alpha : float
        A window fails if p is not below this.

    Returns
    -------
    WindowTests
        A small p-value favours the worker, as in `degraded_tests`.
    """
    submitted = as_numbers("submitted", submitted)
    differences, labels, codes = _by_worker(differences, workers)
    check_same_length(differences=differences, submitted=submitted)
    check_at_least("window", window, 1)
    check_between("alpha", alpha, 0, 1)
    return _window_tests(differences, labels, codes, submitted, window, alpha)


def judge_workers(
    degraded: PairedTests, latest: WindowTests | None = None, *, alpha: float = RELIABLE_P
) -> NDArray[Any]:
    """Give each worker a verdict.

    Parameters
    ----------
    degraded : PairedTests
        From `degraded_tests`.
    latest : WindowTests, optional
        From `window_tests`, for the same pairs; without it no worker is drifting.
    alpha : float
        A worker is reliable if p is below this.

    Returns
    -------
    ndarray of str, shape (n_workers,)
        A `Verdict` for each of `degraded.workers`: unproven with fewer than `MINIMUM_PAIRS` pairs;
        drifting if all pairs together pass but the latest window, with enough pairs, fails.
    """
    check_between("alpha", alpha, 0, 1)
    is_unproven = degraded.n_pairs < MINIMUM_PAIRS
    passes = degraded.pvalue < alpha
    fails_now = np.zeros(len(passes), dtype=np.bool_)
    if latest is not None:
        if not np.array_equal(latest.workers, degraded.workers):
            raise ValueError("`latest` must have the same workers as `degraded`.")
        fails_now = _fails(latest.n_pairs, latest.pvalue, alpha)
    return np.select(
        [is_unproven, passes & fails_now, passes],
        [str(Verdict.UNPROVEN), str(Verdict.DRIFTING), str(Verdict.RELIABLE)],
        default=str(Verdict.UNRELIABLE),
    )


def quality_control(
    scores: ArrayLike,
    workers: ArrayLike,
    roles: ArrayLike,
    assignments: ArrayLike,
    items: ArrayLike,
    partners: ArrayLike,
    *,
    submitted: ArrayLike | None = None,
    window: int = WINDOW_HITS,
    alpha: float = RELIABLE_P,
) -> QualityControl:
    """Run every test on all ratings of a campaign and judge its workers.

    Parameters
    ----------
    scores, workers, roles, assignments, items, partners : array_like, shape (n,)
        One row per rating; see `make_pairs` for the last three, `Role` for `roles`.
    submitted : array_like, shape (n,), optional
        When the rating's HIT was submitted, see `window_tests`; without it no worker is drifting.
    window, alpha
        See `window_tests` and `judge_workers`.

    Returns
    -------
    QualityControl
        For every worker in `workers`, including those without pairs.
    """
    pairs = make_pairs(assignments, items, partners, scores)
    workers, roles = as_keys("workers", workers), as_roles("roles", roles)
    check_same_length(scores=np.asarray(scores), workers=workers, roles=roles)
    check_at_least("window", window, 1)
    labels, codes = factorise(workers)
    pair_roles, pair_codes = roles[pairs.rows], codes[pairs.rows]
    is_degraded, is_repeat = pair_roles == Role.BAD_REFERENCE, pair_roles == Role.REPEAT
    degradations, degraded_codes = pairs.differences[is_degraded], pair_codes[is_degraded]
    latest = None
    if submitted is not None:
        times = as_numbers("submitted", submitted)
        check_same_length(workers=workers, submitted=times)
        pair_times = times[pairs.rows[is_degraded]]
        latest = _window_tests(degradations, labels, degraded_codes, pair_times, window, alpha)
    degraded = _paired_tests(degradations, labels, degraded_codes, alternative="less")
    return QualityControl(
        workers=labels,
        verdicts=judge_workers(degraded, latest, alpha=alpha),
        degraded=degraded,
        degraded_ranks=_signed_rank_tests(degradations, labels, degraded_codes),
        repeats=_paired_tests(
            pairs.differences[is_repeat], labels, pair_codes[is_repeat], alternative="two-sided"
        ),
        latest=latest,
        n_unmatched=pairs.n_unmatched,
        signature=signature(
            qc=("paired-t", f"p<{alpha:g}", f"pairs>={MINIMUM_PAIRS}"),
            window=None if submitted is None else window,
        ),
    )


def _by_worker(differences: ArrayLike, workers: ArrayLike) -> tuple[Floats, Keys, Ints]:
    differences, workers = as_numbers("differences", differences), as_keys("workers", workers)
    check_same_length(differences=differences, workers=workers)
    return differences, *factorise(workers)


def _paired_tests(
    differences: Floats, labels: Keys, codes: Ints, *, alternative: str
) -> PairedTests:
    by_worker = moments(differences, codes, len(labels))
    statistic, pvalue = _t_test(by_worker, alternative)
    reach = t_reach(by_worker.n, CONFIDENCE) * by_worker.se
    return PairedTests(
        workers=labels,
        n_pairs=by_worker.n,
        mean_difference=by_worker.mean,
        mean_absolute_difference=divide(sums(np.abs(differences), codes, len(labels)), by_worker.n),
        low=by_worker.mean - reach,
        high=by_worker.mean + reach,
        statistic=statistic,
        df=np.maximum(by_worker.n - 1, 0),
        pvalue=pvalue,
        alternative=alternative,
        signature=signature(qc=("paired-t", alternative), ci=("t", CONFIDENCE)),
    )


def _t_test(by_worker: Moments, alternative: str) -> tuple[Floats, Floats]:
    """Test whether group means are below (or differ from) zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = by_worker.mean / by_worker.se
    is_constant = (by_worker.ss == 0) & (by_worker.n > 1)
    at_zero = is_constant & (by_worker.mean == 0)
    statistic[at_zero] = 0
    # Equal nonzero differences give an infinite statistic, whose p-value is the limit.
    df = np.maximum(by_worker.n - 1, 1)
    if alternative == "less":
        pvalue = scipy.special.stdtr(df, statistic)
        pvalue[at_zero] = 1
    else:
        pvalue = 2 * scipy.special.stdtr(df, -np.abs(statistic))
    return statistic, pvalue


def _signed_rank_tests(differences: Floats, labels: Keys, codes: Ints) -> SignedRankTests:
    tests = signed_ranks(differences, codes, len(labels))
    return SignedRankTests(
        workers=labels,
        n_pairs=counts(codes, len(labels)),
        n_nonzero=tests.n_nonzero,
        statistic=tests.statistic,
        pvalue=tests.pvalue,
        is_exact=tests.is_exact,
        signature=signature(qc=("signed-rank", "less", "zeros=dropped")),
    )


def _window_tests(
    differences: Floats, labels: Keys, codes: Ints, submitted: Floats, window: int, alpha: float
) -> WindowTests:
    order = np.lexsort((submitted, codes))
    starts = starts_of_runs(codes[order], submitted[order])
    hit_codes = np.empty(len(codes), dtype=np.int64)
    hit_codes[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(codes)))
    hit_workers = codes[order][starts]
    places = places_in_group(hit_workers, len(labels), np.arange(len(starts)))
    spanned = _merge_latest(moments(differences, hit_codes, len(starts)), places, window)
    statistic, pvalue = _t_test(spanned, "less")

    is_full = places >= window - 1
    failed = is_full & _fails(spanned.n, pvalue, alpha)
    n_hits = counts(hit_workers, len(labels))
    last = np.cumsum(n_hits) - 1
    has_any = n_hits > 0
    last = last[has_any]
    return WindowTests(
        workers=labels,
        n_hits=np.minimum(n_hits, window),
        n_pairs=_spread(spanned.n[last], has_any, 0),
        mean_difference=_spread(spanned.mean[last], has_any, np.nan),
        statistic=_spread(statistic[last], has_any, np.nan),
        pvalue=_spread(pvalue[last], has_any, np.nan),
        n_windows=counts(hit_workers[is_full], len(labels)),
        n_failed=counts(hit_workers[failed], len(labels)),
        failed_since=_first_of(
            submitted[order][starts[np.flatnonzero(failed) - (window - 1)]],
            hit_workers[failed],
            len(labels),
        ),
        signature=signature(qc=("paired-t", f"p<{alpha:g}"), window=window),
    )


def _merge_latest(hits: Moments, places: Ints, window: int) -> Moments:
    """Merge the moments of each HIT with those of the worker's preceding HITs, `window` in all."""
    n, total = np.zeros(len(places), dtype=np.int64), np.zeros(len(places))
    rows, most_hits = np.arange(len(places)), int(places.max(initial=0)) + 1
    for back in range(min(window, most_hits)):
        # The HIT `back` rows earlier is the same worker's only if the worker has that many.
        later = rows[places >= back]
        n[later] += hits.n[later - back]
        total[later] += hits.n[later - back] * hits.mean[later - back]
    mean, ss = divide(total, n), np.zeros(len(places))
    for back in range(min(window, most_hits)):
        later = rows[places >= back]
        earlier = later - back
        ss[later] += hits.ss[earlier] + hits.n[earlier] * np.square(
            hits.mean[earlier] - mean[later]
        )
    ss[ss <= n * np.square(ROUNDING * mean)] = 0
    return Moments(n=n, mean=mean, ss=ss)


def _first_of(moments: Floats, codes: Ints, n_groups: int) -> Floats:
    """Return the earliest moment of each group; NaN for an empty group."""
    first = np.full(n_groups, np.inf)
    np.minimum.at(first, codes, moments)
    return np.where(np.isinf(first), np.nan, first)


def _fails(n_pairs: Ints, pvalue: Floats, alpha: float) -> Bools:
    return (n_pairs >= MINIMUM_PAIRS) & ~(pvalue < alpha)


def _spread(values: NDArray[Any], where: Bools, otherwise: float) -> NDArray[Any]:
    """Return `values` at the positions where `where` is true, and `otherwise` elsewhere."""
    spread = np.full(len(where), otherwise, dtype=values.dtype)
    spread[where] = values
    return spread
