"""The results of an evaluation, which can be written to JSON and read back unchanged.

A number that cannot be computed (the r of a constant metric, the interval of one segment) is None,
since JSON has no NaN.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from da_platform.numbers import known

from ..stats.multiple_tests import Correction, adjust
from ..stats.resampling import DEFAULT_RESAMPLES
from ..stats.significance import ALPHA
from .restoring import as_dict, restored

Value = float | None
Matrix = tuple[tuple[Value, ...], ...]
GroupedBy = Literal["system", "document", "length"]
Level = Literal["segment", "system"]
# What is evaluated: segments, or documents in their place.
Granularity = Literal["segment", "document"]
Measure = Literal["pearson", "spearman", "kendall", "acc_eq", "accuracy", "spa", "mae", "delta_avg"]
Uncertainty = Literal["segments", "robust", "resampling", "published"]
TieThreshold = Literal["calibrated", "cross-validated"]
# What a table of predictions can be sorted by.
PredictionSort = Literal["r", "mae", "rmse", "delta_avg"]

UNCERTAINTIES: tuple[Uncertainty, ...] = get_args(Uncertainty)
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)
TIE_THRESHOLDS: tuple[TieThreshold, ...] = get_args(TieThreshold)
PREDICTION_SORTS: tuple[PredictionSort, ...] = get_args(PredictionSort)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an evaluation. The same options and inputs give the same numbers, to the last bit.

    Attributes
    ----------
    qe : bool
        The scores predict the gold, on its scale: measure errors too.
    alpha : float
        Significance level of the tests.
    confidence : float
        Confidence level of all intervals.
    uncertainty : {"segments", "robust", "resampling", "published"}
        Where a segment has several translations, `segments` counts only segments as independent, and
        every measure is tested by Student's t; where it has one, r by Williams. `robust` tests r by Student's t there
        too, which holds where noise grows with the gold. `resampling` draws and swaps segments instead:
        bootstrap intervals and permutation tests. `published` has Fisher's intervals and Williams tests over all
        translations, without correction, as the papers have.
    correction : {"holm", "none"}
        How the p-values of a table are adjusted for their number; not used by `published`.
    tie_threshold : {"calibrated", "cross-validated"}
        Of acc_eq: chosen on the same translations, or for each half of the segments on the other half.
    seed, n_resamples : int
        For measures at system level, soft pairwise accuracy and the intervals of errors.
    without_systems : tuple of str
        Systems to leave out, such as a reference.
    ignore_extra : bool
        Ignore scores for rows that are not in the gold, instead of refusing them.
    per_word : bool
        The scores and gold are seconds: divide them by the number of words in each segment.
    preference_points : float or None
        Also count how often metrics prefer what people prefer: of two translations of a segment whose
        gold scores are at least this far apart, the better one.
    good_enough : float or None
        The gold from which a translation is good enough (where lower is better: up to which): measure how
        well metrics and predictions find those that are not.
    level : {"segment", "document"}
        With `document`, scores and gold are averaged over the segments of each document, and documents take
        the place of segments in all measures, intervals and tests.
    baseline : str
        With `qe`, the predictions that others are compared with; what does not significantly differ
        from them is shaded.
    sort : str
        With `qe`, what the table of predictions is sorted by, best first.
    """

    qe: bool = False
    alpha: float = ALPHA
    confidence: float = 0.95
    uncertainty: Uncertainty = "segments"
    correction: Correction = "holm"
    tie_threshold: TieThreshold = "calibrated"
    seed: int = 1
    n_resamples: int = DEFAULT_RESAMPLES
    without_systems: tuple[str, ...] = ()
    ignore_extra: bool = False
    per_word: bool = False
    preference_points: float | None = None
    good_enough: float | None = None
    level: Granularity = "segment"
    baseline: str = ""
    sort: PredictionSort = "r"

    @property
    def is_published(self) -> bool:
        return self.uncertainty == "published"

    @property
    def is_robust(self) -> bool:
        return self.uncertainty == "robust"

    @property
    def is_resampling(self) -> bool:
        return self.uncertainty == "resampling"

    @property
    def used_correction(self) -> Correction:
        """The correction in use: the published tests have none."""
        return "none" if self.is_published else self.correction


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its interval."""

    estimate: Value
    low: Value = None
    high: Value = None
    n: int = 0

    @classmethod
    def of(cls, result: Any) -> "Estimate":
        """Convert a result of a function in `analysis.stats`."""
        return cls(known(result.estimate), known(result.low), known(result.high), int(result.n))


@dataclass(frozen=True, slots=True)
class Input:
    """Scores of a metric, gold or judgements that were evaluated."""

    name: str
    role: Literal["metric", "human", "gold", "judgements"]
    level: str
    higher_is_better: bool
    sha256: str
    signature: str


@dataclass(frozen=True, slots=True)
class GoldFacts:
    """The gold that metrics were evaluated against."""

    name: str
    kind: str
    higher_is_better: bool
    n: int
    n_without_gold: int
    n_ignored: int
    n_systems: int
    n_segments: int
    signature: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SegmentResult:
    """One metric over all translations with gold. Correlations are positive if it agrees with gold.

    `is_winner`: no other metric significantly outperforms it in r. `acc_eq` and `epsilon` are None if
    no segment has two translations.
    """

    metric: str
    higher_is_better: bool
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    acc_eq: Estimate | None
    epsilon: Value
    best: Estimate | None
    worst: Estimate | None
    is_winner: bool


@dataclass(frozen=True, slots=True)
class PredictionResult:
    """Errors of predictions, as submitted and rescaled to the gold's mean and half its sd."""

    metric: str
    mae: Estimate
    rmse: Estimate
    rescaled_mae: Estimate
    rescaled_rmse: Estimate
    delta_avg: Estimate
    prediction_mean: float
    prediction_sd: float


@dataclass(frozen=True, slots=True)
class PredictionComparison:
    """Tests of all pairs of predictions by one measure. A small `pvalue[i][j]` favours i over j.

    `unit` is what the test takes as independent, `correction` how p-values are adjusted for their number. `estimates` and
    `test` are missing from evaluations stored earlier.
    """

    measure: Literal["mae", "delta_avg"]
    metrics: tuple[str, ...]
    pvalue: Matrix
    unit: Literal["translation", "segment", "document"]
    correction: Correction
    signature: str
    estimates: tuple[Value, ...] = ()
    test: Literal["", "t", "bootstrap"] = ""

    @property
    def is_bootstrap(self) -> bool:
        return self.test == "bootstrap" or (not self.test and self.unit == "translation")

    @property
    def adjusted(self) -> np.ndarray:
        """The p-values corrected for the number of tests, which decide what is significant."""
        return adjust(numbers(self.pvalue), self.correction)

    @property
    def order(self) -> list[int]:
        """The places of the predictions, best first; as they are in evaluations stored earlier."""
        places = list(range(len(self.metrics)))
        if not self.estimates:
            return places
        values = numbers(self.estimates) * (1 if self.measure == "delta_avg" else -1)
        return sorted(
            places, key=lambda i: -np.inf if np.isnan(values[i]) else values[i], reverse=True
        )

    def winners(self, alpha: float) -> tuple[str, ...]:
        """The best predictions, and those that are not significantly worse: the winners of WMT15."""
        is_better = self.adjusted < alpha
        if not self.estimates:
            return tuple(name for i, name in enumerate(self.metrics) if not is_better[:, i].any())
        best = self.order[0]
        return tuple(name for i, name in enumerate(self.metrics) if not is_better[best, i])

    def as_comparison(self, alpha: float) -> "Comparison":
        """Return the tests as those of other measures are, best predictions first."""
        order, winners = self.order, self.winners(alpha)
        return Comparison(
            metrics=tuple(self.metrics[i] for i in order),
            estimates=tuple(self.estimates[i] if self.estimates else None for i in order),
            pvalue=tuple(tuple(self.pvalue[i][j] for j in order) for i in order),
            between=(),
            n=0,
            signature=self.signature,
            measure=self.measure,
            test="bootstrap" if self.is_bootstrap else "t",
            unit=self.unit,
            correction=self.correction,
            winners=tuple(self.metrics[i] for i in order if self.metrics[i] in winners),
        )

    def like(self, name: str, alpha: float) -> tuple[str, ...]:
        """Predictions that do not significantly differ from the named ones, including these."""
        if name not in self.metrics:
            return ()
        is_better, i = self.adjusted < alpha, self.metrics.index(name)
        return tuple(
            other
            for j, other in enumerate(self.metrics)
            if not (is_better[i, j] or is_better[j, i])
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """One person's preference between the outputs of two systems for a segment."""

    segment: str
    better: str
    worse: str


@dataclass(frozen=True, slots=True)
class JudgementTable:
    """Judgements from a file."""

    name: str
    rows: tuple[Judgement, ...]
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class PreferenceResult:
    """Kendall's tau of one metric over preferences, and how many of them it ties."""

    metric: str
    tau: Estimate
    n_tied: int


@dataclass(frozen=True, slots=True)
class Preferences:
    """All metrics against preferences, best first.

    `ceiling` is the highest tau possible, since people contradict each other; `ties` the rule for metric ties.
    """

    rows: tuple[PreferenceResult, ...]
    n: int
    n_segments: int
    ceiling: Value
    ties: str


@dataclass(frozen=True, slots=True)
class FlaggingResult:
    """How well one metric finds the translations that are not good enough.

    `precision` is average precision. `reading`: the shares of all translations to be read, worst score first,
    until 80, 90 and 95 % of those that are not good enough are found. `found`: the share of them found after
    reading 0, 1, ... 100 % of all. `at_threshold`, for predictions: the share below the threshold, the
    share found by that, and its precision.
    """

    metric: str
    roc: Estimate
    precision: Estimate
    reading: tuple[Value, ...]
    found: tuple[Value, ...]
    at_threshold: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class GoodEnough:
    """How well metrics find what is not good enough, best ROC area first."""

    threshold: float
    n: int
    n_bad: int
    rows: tuple[FlaggingResult, ...]

    @property
    def share_bad(self) -> float:
        return self.n_bad / self.n


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One metric at system level. `from_segments`: its system scores are means of segment scores.

    `spa` is None for a metric without segment scores.
    """

    metric: str
    from_segments: bool
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    accuracy: Estimate
    spa: Estimate | None
    is_winner: bool = False


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The r of every metric within groups: `r[metric][group]`, None if there is no correlation."""

    by: GroupedBy
    groups: tuple[str, ...]
    n: tuple[int, ...]
    metrics: tuple[str, ...]
    r: Matrix
    mean: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Tests of one measure between all pairs of metrics, best first. A small `pvalue[i][j]` favours i over j.

    `pvalue` is as the test gave it, `adjusted` corrected for the number of tests; `winners` follow from the
    adjusted ones. `between[i][j]` is the correlation of two metrics, only with Pearson at segment level.

    `test` is Williams', Student's t, swapping segments or the paired bootstrap; `unit` what it takes as independent, of which
    there are `n_units`.
    At system level `n_by_system` pairs of metrics were tested with systems as the unit, because one of them has
    no segment scores.
    """

    metrics: tuple[str, ...]
    estimates: tuple[Value, ...]
    pvalue: Matrix
    between: Matrix
    n: int
    signature: str
    level: Level = "segment"
    measure: Measure = "pearson"
    test: Literal["williams", "t", "permutation", "bootstrap"] = "williams"
    unit: Literal["translation", "segment", "document", "system"] = "translation"
    n_units: int = 0
    n_by_system: int = 0
    correction: Correction = "none"
    winners: tuple[str, ...] = ()

    @property
    def is_by_segment(self) -> bool:
        """Whether segments, or documents in their place, are what the test takes as independent."""
        return self.unit in ("segment", "document")

    @property
    def adjusted(self) -> np.ndarray:
        """The p-values corrected for the number of tests in this table."""
        return adjust(numbers(self.pvalue), self.correction)


@dataclass(frozen=True, slots=True)
class AgainstWorker:
    """One metric next to one worker in one measure; a positive difference is the metric's advantage.

    `p_better` is small if the metric is better than one worker, `p_worse` if it is worse.
    """

    metric: str
    estimate: Value
    difference: Estimate
    p_better: Value
    p_worse: Value
    adjusted_better: Value
    adjusted_worse: Value

    def verdict(self, alpha: float) -> Literal["better", "worse", "no significant difference"]:
        """Say what the adjusted tests found."""
        if self.adjusted_better is not None and self.adjusted_better < alpha:
            return "better"
        if self.adjusted_worse is not None and self.adjusted_worse < alpha:
            return "worse"
        return "no significant difference"

    def is_not_worse_by(self, margin: float) -> bool:
        """Return whether the whole interval of the difference is above minus this margin (non-inferiority)."""
        return self.difference.low is not None and self.difference.low > -margin


@dataclass(frozen=True, slots=True)
class HumanComparison:
    """All metrics, and means of several workers, next to one worker in one measure, best first.

    Gold, metrics and workers are those of `human_level.Ceiling`: nobody is compared with gold that contains them.
    """

    measure: Measure
    worker: Estimate
    rows: tuple[AgainstWorker, ...]
    n_units: int
    unit: Granularity
    correction: Correction
    signature: str


@dataclass(frozen=True, slots=True)
class GoldEvaluation:
    """All metrics against one gold, best r first.

    `comparison` tests Pearson's r at segment level, `tests` every other measure. `alternatives` are tests of r that decide
    nothing: Student's t next to Williams', and Williams' next to tests by segment.
    """

    gold: GoldFacts
    segment: tuple[SegmentResult, ...]
    comparison: Comparison | None
    predictions: tuple[PredictionResult, ...]
    gold_mean: Value
    gold_sd: Value
    system: tuple[SystemResult, ...]
    breakdowns: tuple[Breakdown, ...]
    tests: tuple[Comparison, ...] = ()
    # Evaluations stored earlier do not have these.
    prediction_comparisons: tuple[PredictionComparison, ...] = ()
    preferences: Preferences | None = None
    # With `qe`: a prediction of the mean of the gold everywhere, as a check.
    constant: PredictionResult | None = None
    good_enough: GoodEnough | None = None
    alternatives: tuple[Comparison, ...] = ()
    # With gold of a campaign whose translations have enough single ratings.
    humans: tuple[HumanComparison, ...] = ()

    @property
    def winners(self) -> tuple[str, ...]:
        """Metrics that no other significantly outperforms in r at segment level."""
        return tuple(row.metric for row in self.segment if row.is_winner)

    @property
    def all_tests(self) -> tuple[Comparison, ...]:
        """The tests of all measures, Pearson at segment level first."""
        return (() if self.comparison is None else (self.comparison,)) + self.tests

    def shown_tests(self, options: Options) -> tuple[Comparison, ...]:
        """Return the tests of all measures, those of predictions last."""
        of_predictions = (
            test.as_comparison(options.alpha)
            for test in self.prediction_comparisons
            if test.estimates
        )
        return (*self.all_tests, *of_predictions)

    def test_of(self, level: Level, measure: Measure) -> Comparison | None:
        """Return the tests of one measure; None if it was not tested."""
        wanted = (level, measure)
        return next((test for test in self.all_tests if (test.level, test.measure) == wanted), None)

    def winners_in(self, level: Level, measure: Measure) -> tuple[str, ...]:
        """Metrics that no other significantly outperforms in a measure; empty if it was not tested."""
        if (level, measure) == ("segment", "pearson"):
            return self.winners
        test = self.test_of(level, measure)
        return () if test is None else test.winners


@dataclass(frozen=True, slots=True)
class RankChange:
    """The r and rank of a metric under two golds."""

    metric: str
    first_r: Value
    second_r: Value
    first_rank: int
    second_rank: int
    wins_first: bool
    wins_second: bool

    @property
    def change(self) -> int:
        """Ranks gained under the second gold."""
        return self.first_rank - self.second_rank


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A translation that is better than average by one score and worse by another."""

    system: str
    segment: str
    first: float
    second: float
    first_z: float
    second_z: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two scores of the same translations, both standardised with higher better; 0 is no more than average.

    `contradictions` are those with the greatest difference, greatest first.
    """

    first: str
    second: str
    n: int
    r: Estimate
    n_good_by_both: int
    n_good_by_first: int
    n_good_by_second: int
    n_good_by_neither: int
    contradictions: tuple[Contradiction, ...]


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """The same metrics against two golds. `between` is the correlation of the golds over shared rows."""

    first: str
    second: str
    level: Literal["segment", "system"]
    between: Estimate | None
    changes: tuple[RankChange, ...]
    # At segment level; evaluations stored earlier have none.
    contrast: Contrast | None = None


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The full result, with its inputs and options."""

    inputs: tuple[Input, ...]
    options: Options
    golds: tuple[GoldEvaluation, ...]
    comparisons: tuple[GoldComparison, ...]
    signature: str
    # Against judgements instead of gold scores; evaluations stored earlier have none.
    judged: Preferences | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types."""
        return json.loads(self.to_json())

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the result as JSON; equal results give equal text."""
        return json.dumps(self, default=as_dict, allow_nan=False, ensure_ascii=False, indent=indent)

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> "EvaluationResult":
        """Restore a result from `to_dict`."""
        return restored(cls, facts)


def numbers(values: Matrix | Sequence[Value]) -> np.ndarray:
    """Convert a matrix or row to an array, with NaN for None."""
    return np.array(values, dtype=np.float64)
