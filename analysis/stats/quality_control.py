"""Is this worker's scoring credible? Tests on pairs of items, and the verdict they lead to."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

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

# Confidence of the interval around a mean difference.
CONFIDENCE = 0.95
# Partner of an item that has none, for integer ids; for string ids it is the empty string.
NO_PARTNER = -1


class Verdict(StrEnum):
    """What the tests say about a worker."""

    UNPROVEN = "unproven"
    RELIABLE = "reliable"
    UNRELIABLE = "unreliable"
    DRIFTING = "drifting"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rows of quality-control items, the rows of their partners, and score minus partner's score.

    `n_unmatched` counts items whose partner was not rated in the same assignment.
    """

    rows: Ints
    partner_rows: Ints
    differences: Floats
    n_unmatched: int


@dataclass(frozen=True, slots=True)
class PairedTests:
    """A paired t-test for each worker; a small p-value speaks for `alternative`.

    `alternative` is "less" (the mean difference is below zero) or "two-sided". `low` and `high`
    bound the mean difference. What cannot be computed, for want of pairs, is NaN.
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
    """Wilcoxon's signed-rank test for each worker; a small p-value: degraded items scored lower."""

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

    `n_windows` counts the windows of full length the worker has been through and `n_failed` how many
    of these the worker would have failed; the other fields describe the latest window.
    """

    workers: Keys
    n_hits: Ints
    n_pairs: Ints
    mean_difference: Floats
    statistic: Floats
    pvalue: Floats
    n_windows: Ints
    n_failed: Ints
    signature: str


@dataclass(frozen=True, slots=True)
class QualityControl:
    """Everything quality control knows; all parts list the same workers in the same order."""

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
        """Workers whose ratings make gold: those who pass the test over all their pairs.

        A drifting worker passes it too; whether to go on with that worker is the admin's choice.
        """
        return self.workers[np.isin(self.verdicts, [Verdict.RELIABLE, Verdict.DRIFTING])]


def make_pairs(
    assignments: ArrayLike, items: ArrayLike, partners: ArrayLike, scores: ArrayLike
) -> Pairs:
    """Find the partner of each quality-control item among the ratings of the same assignment.

    Parameters
    ----------
    assignments, items, scores : array_like, shape (n,)
        One row per rating: the assignment it was given in, the item and the score.
    partners : array_like, shape (n,)
        The item it is to be compared with; `NO_PARTNER` (or an empty string) where there is none.

    Returns
    -------
    Pairs
        In the order of the rows. An item whose partner was not rated makes no pair.
    """
    scores = as_numbers("scores", scores)
    assignments, items = as_keys("assignments", assignments), as_keys("items", items)
    partners = as_keys("partners", partners)
    check_same_length(assignments=assignments, items=items, partners=partners, scores=scores)
    check_same_kind(items=items, partners=partners)
    has_partner = partners != "" if partners.dtype.kind in "US" else partners != NO_PARTNER
    asking = np.flatnonzero(has_partner)
    wanted, wanted_codes = factorise(partners[asking])
    # Only ratings of items that are somebody's partner can answer.
    place, is_wanted = _places_among(wanted, items)
    answering = np.flatnonzero(is_wanted)
    _, assignment_codes = factorise(assignments)
    questions = assignment_codes[asking] * len(wanted) + wanted_codes
    answers = assignment_codes[answering] * len(wanted) + place[answering]
    found, is_found = _look_up(answers, questions)
    rows, partner_rows = asking[is_found], answering[found[is_found]]
    return Pairs(
        rows=rows,
        partner_rows=partner_rows,
        differences=scores[rows] - scores[partner_rows],
        n_unmatched=int(len(asking) - len(rows)),
    )


def _places_among(labels: Keys, keys: Keys) -> tuple[Ints, Bools]:
    """Return where each key stands among the sorted labels, and whether it is there at all."""
    if not len(labels):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=np.bool_)
    distinct, codes = factorise(keys)
    places = np.minimum(np.searchsorted(labels, distinct), len(labels) - 1)
    return places[codes], (labels[places] == distinct)[codes]


def _look_up(answers: Ints, questions: Ints) -> tuple[Ints, Bools]:
    """Return the place in `answers` of each question, and whether there is one."""
    if not len(answers):
        return np.zeros(len(questions), dtype=np.int64), np.zeros(len(questions), dtype=np.bool_)
    order = np.argsort(answers)
    ordered = answers[order]
    if (ordered[1:] == ordered[:-1]).any():
        raise ValueError("`items` must name each item once per assignment.")
    places = np.minimum(np.searchsorted(ordered, questions), len(ordered) - 1)
    return order[places], ordered[places] == questions


def degraded_tests(differences: ArrayLike, workers: ArrayLike) -> PairedTests:
    """Test for each worker whether degraded items were scored lower than their partners.

    Parameters
    ----------
    differences : array_like, shape (n,)
        Score of the degraded item minus that of its partner, one per pair.
    workers : array_like, shape (n,)
        Who gave the two scores.

    Returns
    -------
    PairedTests
        One-sided paired t-tests; a small p-value speaks for a worker who tells degraded from
        genuine. Where the t-test is undefined because all differences are equal, p is 0 if they
        are negative and 1 if they are zero or positive.

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
        Score of the repeat minus that of the original, and who gave the two.

    Returns
    -------
    PairedTests
        Two-sided paired t-tests; a small p-value speaks against the worker's consistency. Where all
        differences are equal, p is 1 if they are zero and 0 otherwise.
    """
    differences, labels, codes = _by_worker(differences, workers)
    return _paired_tests(differences, labels, codes, alternative="two-sided")


def signed_rank_tests(differences: ArrayLike, workers: ArrayLike) -> SignedRankTests:
    """Test the same as `degraded_tests` by ranks, which one extreme score cannot sway.

    Parameters
    ----------
    differences, workers : array_like, shape (n,)
        As for `degraded_tests`.

    Returns
    -------
    SignedRankTests
        One-sided. Zero differences are dropped (Wilcoxon's way). The p-value is exact up to 50 pairs
        without ties and zeros and up to 13 pairs with them; else it is the normal approximation with
        tie correction, without continuity correction: as `scipy.stats.wilcoxon` chooses by default.
        p = 1 where all differences are zero.

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
    """Repeat the degraded-pairs test over a window that slides along each worker's HITs.

    Parameters
    ----------
    differences, workers : array_like, shape (n,)
        As for `degraded_tests`.
    submitted : array_like, shape (n,)
        When the HIT of the pair was submitted: a number that grows with time. Pairs of one worker
        with the same number belong to one HIT.
    window : int
        HITs in a window. A worker with fewer has one window, over all of them.
    alpha : float
        Level at which a window counts as failed.

    Returns
    -------
    WindowTests
        A small p-value speaks for the worker, as in `degraded_tests`.
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
        From `window_tests`, for the same pairs; without it nobody is found drifting.
    alpha : float
        A worker is reliable when p is below this.

    Returns
    -------
    ndarray of str, shape (n_workers,)
        A `Verdict` for each of `degraded.workers`: unproven with fewer than `MINIMUM_PAIRS` pairs;
        drifting when all pairs together pass but the latest window, with enough pairs, fails.
    """
    check_between("alpha", alpha, 0, 1)
    is_unproven = degraded.n_pairs < MINIMUM_PAIRS
    passes = degraded.pvalue < alpha
    fails_now = np.zeros(len(passes), dtype=np.bool_)
    if latest is not None:
        if not np.array_equal(latest.workers, degraded.workers):
            raise ValueError("`latest` must be about the same workers as `degraded`.")
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
        When the rating's HIT was submitted, see `window_tests`; without it nobody is drifting.
    window, alpha
        See `window_tests` and `judge_workers`.

    Returns
    -------
    QualityControl
        About every worker in `workers`, also those without a single pair.
    """
    pairs = make_pairs(assignments, items, partners, scores)
    workers, roles = as_keys("workers", workers), as_roles("roles", roles)
    check_same_length(scores=np.asarray(scores), workers=workers, roles=roles)
    check_at_least("window", window, 1)
    labels, codes = factorise(workers)
    pair_roles, pair_codes = roles[pairs.rows], codes[pairs.rows]
    is_degraded, is_repeat = pair_roles == Role.BAD_REFERENCE, pair_roles == Role.REPEAT
    worse, worse_codes = pairs.differences[is_degraded], pair_codes[is_degraded]
    latest = None
    if submitted is not None:
        moments_submitted = as_numbers("submitted", submitted)
        check_same_length(workers=workers, submitted=moments_submitted)
        when = moments_submitted[pairs.rows[is_degraded]]
        latest = _window_tests(worse, labels, worse_codes, when, window, alpha)
    degraded = _paired_tests(worse, labels, worse_codes, alternative="less")
    return QualityControl(
        workers=labels,
        verdicts=judge_workers(degraded, latest, alpha=alpha),
        degraded=degraded,
        degraded_ranks=_signed_rank_tests(worse, labels, worse_codes),
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
    own = moments(differences, codes, len(labels))
    statistic, pvalue = _t_test(own, alternative)
    reach = t_reach(own.n, CONFIDENCE) * own.se
    return PairedTests(
        workers=labels,
        n_pairs=own.n,
        mean_difference=own.mean,
        mean_absolute_difference=divide(sums(np.abs(differences), codes, len(labels)), own.n),
        low=own.mean - reach,
        high=own.mean + reach,
        statistic=statistic,
        df=np.maximum(own.n - 1, 0),
        pvalue=pvalue,
        alternative=alternative,
        signature=signature(qc=("paired-t", alternative), ci=("t", CONFIDENCE)),
    )


def _t_test(own: Moments, alternative: str) -> tuple[Floats, Floats]:
    """Test whether group means are below (or differ from) zero; constant groups as documented."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = own.mean / own.se
    is_constant = (own.ss == 0) & (own.n > 1)
    at_zero = is_constant & (own.mean == 0)
    statistic[at_zero] = 0
    # An infinite statistic, from equal differences other than zero, has its limit as p-value.
    df = np.maximum(own.n - 1, 1)
    if alternative == "less":
        pvalue = special.stdtr(df, statistic)
        pvalue[at_zero] = 1
    else:
        pvalue = 2 * special.stdtr(df, -np.abs(statistic))
    return statistic, pvalue


def _signed_rank_tests(differences: Floats, labels: Keys, codes: Ints) -> SignedRankTests:
    found = signed_ranks(differences, codes, len(labels))
    return SignedRankTests(
        workers=labels,
        n_pairs=counts(codes, len(labels)),
        n_nonzero=found.n_nonzero,
        statistic=found.statistic,
        pvalue=found.pvalue,
        is_exact=found.is_exact,
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
        signature=signature(qc=("paired-t", f"p<{alpha:g}"), window=window),
    )


def _merge_latest(hits: Moments, places: Ints, window: int) -> Moments:
    """Merge the moments of each HIT with those of the worker's HITs before it, `window` in all."""
    n, total = np.zeros(len(places), dtype=np.int64), np.zeros(len(places))
    rows, deepest = np.arange(len(places)), int(places.max(initial=0)) + 1
    for back in range(min(window, deepest)):
        # Places count the worker's HITs from 0: further back than that is someone else's.
        own = rows[places >= back]
        n[own] += hits.n[own - back]
        total[own] += hits.n[own - back] * hits.mean[own - back]
    mean, ss = divide(total, n), np.zeros(len(places))
    for back in range(min(window, deepest)):
        own = rows[places >= back]
        earlier = own - back
        ss[own] += hits.ss[earlier] + hits.n[earlier] * np.square(hits.mean[earlier] - mean[own])
    ss[ss <= n * np.square(ROUNDING * mean)] = 0
    return Moments(n=n, mean=mean, ss=ss)


def _fails(n_pairs: Ints, pvalue: Floats, alpha: float) -> Bools:
    return (n_pairs >= MINIMUM_PAIRS) & ~(pvalue < alpha)


def _spread(values: NDArray[Any], where: Bools, otherwise: float) -> NDArray[Any]:
    """Put values at the places that have one."""
    spread = np.full(len(where), otherwise, dtype=values.dtype)
    spread[where] = values
    return spread
