"""What an evaluation found, as plain facts: everything here survives a trip through JSON unchanged.

A number that cannot be had (the r of a metric that never varies, the interval of one segment) is None:
JSON has no word for NaN.
"""

import json
import types
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..plain import known
from ..stats.resampling import DEFAULT_RESAMPLES
from ..stats.significance import ALPHA

Value = float | None
Matrix = tuple[tuple[Value, ...], ...]
GroupedBy = Literal["system", "document", "length"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Options:
    """What may be chosen. The same options and files give the same numbers, to the last bit.

    Attributes
    ----------
    qe : bool
        The scores predict the gold itself, on its scale: errors are measured too.
    alpha : float
        A metric is outperformed where a test has a smaller p-value.
    confidence : float
        Of all intervals.
    seed, n_resamples : int
        For what is drawn at random: soft pairwise accuracy and the intervals of errors.
    without_systems : tuple of str
        Outputs to leave out, such as a reference among the systems.
    ignore_extra : bool
        Leave out scores that the gold knows nothing of, instead of refusing them.
    """

    qe: bool = False
    alpha: float = ALPHA
    confidence: float = 0.95
    seed: int = 1
    n_resamples: int = DEFAULT_RESAMPLES
    without_systems: tuple[str, ...] = ()
    ignore_extra: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its interval."""

    estimate: Value
    low: Value = None
    high: Value = None
    n: int = 0

    @classmethod
    def of(cls, found: Any) -> "Estimate":
        """Take over what a function of `analysis.stats` found."""
        return cls(known(found.estimate), known(found.low), known(found.high), int(found.n))


@dataclass(frozen=True, slots=True)
class Input:
    """A file or table that went in."""

    name: str
    role: Literal["metric", "gold"]
    level: str
    higher_is_better: bool
    sha256: str
    signature: str


@dataclass(frozen=True, slots=True)
class GoldFacts:
    """What the metrics were held against."""

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
    """One metric over all translations that have gold; correlations are positive where it agrees.

    `is_winner`: no other metric significantly outperforms it in r (Williams test). `acc_eq` and
    `epsilon` are None where no segment has two translations.
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
    """Errors of predictions, as they are and rescaled to the gold's mean and half its spread."""

    metric: str
    mae: Estimate
    rmse: Estimate
    rescaled_mae: Estimate
    rescaled_rmse: Estimate
    delta_avg: Estimate
    prediction_mean: float
    prediction_sd: float


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One metric at the level of systems. `from_segments`: its system scores are means made here.

    `spa` is None for a metric without segment scores.
    """

    metric: str
    from_segments: bool
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    accuracy: Estimate
    spa: Estimate | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """r of every metric within groups; `r[metric][group]`, None where a group has no correlation."""

    by: GroupedBy
    groups: tuple[str, ...]
    n: tuple[int, ...]
    metrics: tuple[str, ...]
    r: Matrix
    mean: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs of metrics by the Williams test, ordered by r: a small `pvalue[i][j]` favours i over j.

    `between[i][j]` is the correlation of two metrics with each other.
    """

    metrics: tuple[str, ...]
    r: tuple[Value, ...]
    pvalue: Matrix
    between: Matrix
    n: int
    signature: str


@dataclass(frozen=True, slots=True)
class GoldEvaluation:
    """All metrics against one gold; metrics in order of r, best first."""

    gold: GoldFacts
    segment: tuple[SegmentResult, ...]
    comparison: Comparison | None
    predictions: tuple[PredictionResult, ...]
    gold_mean: Value
    gold_sd: Value
    system: tuple[SystemResult, ...]
    breakdowns: tuple[Breakdown, ...]

    @property
    def winners(self) -> tuple[str, ...]:
        """Metrics that no other significantly outperforms."""
        return tuple(one.metric for one in self.segment if one.is_winner)


@dataclass(frozen=True, slots=True)
class RankChange:
    """Where a metric stands under two golds."""

    metric: str
    first_r: Value
    second_r: Value
    first_rank: int
    second_rank: int
    wins_first: bool
    wins_second: bool

    @property
    def change(self) -> int:
        """Places gained under the second gold."""
        return self.first_rank - self.second_rank


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """The same metrics against two golds. `between` correlates the golds over the rows both have."""

    first: str
    second: str
    level: Literal["segment", "system"]
    between: Estimate | None
    changes: tuple[RankChange, ...]


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """Everything that was found, from what, and how."""

    inputs: tuple[Input, ...]
    options: Options
    golds: tuple[GoldEvaluation, ...]
    comparisons: tuple[GoldComparison, ...]
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Return the result in the words of JSON."""
        return json.loads(self.to_json())

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the result as JSON, the same text for the same result."""
        return json.dumps(asdict(self), allow_nan=False, ensure_ascii=False, indent=indent)

    @classmethod
    def from_dict(cls, facts: dict[str, Any]) -> "EvaluationResult":
        """Return the result that `to_dict` was made of."""
        return _restored(cls, facts)


def numbers(values: Matrix | Sequence[Value]) -> np.ndarray:
    """Return a matrix or row as an array again, NaN for None."""
    return np.array(values, dtype=np.float64)


def _restored(kind: Any, facts: Any) -> Any:
    """Turn what JSON holds back into what it was made of."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(  # type: ignore[operator]
            **{one.name: _restored(hints[one.name], facts[one.name]) for one in fields(kind)}
        )
    origin, parts = get_origin(kind), get_args(kind)
    if origin is tuple:
        return tuple(_restored(parts[0], one) for one in facts)
    if origin in (Union, types.UnionType):
        if facts is None:
            return None
        return _restored(next(one for one in parts if one is not type(None)), facts)
    return facts
