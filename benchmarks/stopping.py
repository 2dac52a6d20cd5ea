"""Does stopping early keep its promise? Errors without a difference, and ratings saved with differences as at WMT21.

    python -m benchmarks.stopping [--campaigns 2000] [--savings 2000] [--whole 200]

Each simulated campaign goes the whole way, from scores that workers give differently to the test of its systems.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats.segments import segment_scores
from analysis.stats.standardise import standardise_by_worker
from analysis.stats.stopping import SPENDING, Decision, Rule, cautious_pvalues, decide
from analysis.stats.system_covariance import system_covariance
from analysis.stats.systems import compare_systems
from analysis.stats.thresholds import ALPHA
from analysis.stats.variance_components import VarianceComponents
from benchmarks.planner import COMPONENTS
from benchmarks.table import Row, run

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

SEED = 23
GENUINE_PER_HIT = 70
# Workers score from different points of the scale and use more or less of it; z-scores take that out again.
OFFSET_SD, SCALE_SD = 0.5, 0.3
# Scores of systems, as published: Akhbardeh et al. Findings of the 2021 conference on machine translation. WMT 2021.
WMT21 = {
    "cs-en": (0.111, 0.081, 0.008, -0.005, -0.008, -0.032, -0.039, -0.084, -0.085),
    "de-en": (
        *(0.126, 0.124, 0.122, 0.113, 0.106, 0.1, 0.068, 0.048, 0.016, 0.016, 0.01, 0.007),
        *(-0.008, -0.008, -0.01, -0.035, -0.043, -0.061, -0.081, -0.12),
    ),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """A campaign as planned: its systems with their true scores, segments, ratings, and workers who come and go."""

    means: tuple[float, ...]
    n_segments: int
    n_ratings: int = 1
    n_workers: int = 100
    components: VarianceComponents = field(default=COMPONENTS["as at WMT21"])

    @property
    def n_systems(self) -> int:
        return len(self.means)


@dataclass(slots=True)
class Collected:
    """Ratings so far, of segments and systems by number."""

    plan: Plan
    rng: np.random.Generator
    scores: Floats = field(default_factory=lambda: np.empty(0))
    workers: Ids = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    segments: Ids = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    systems: Ids = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    people: dict[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n, k = self.plan.n_workers, self.plan.n_systems
        spread = self.plan.components
        self.people = {
            "offset": OFFSET_SD * self.rng.normal(size=n),
            "scale": np.exp(SCALE_SD * self.rng.normal(size=n)),
            "taste": np.sqrt(spread.taste) * self.rng.normal(size=(n, k)),
        }

    def collect(self, segments: Ids, systems: Ids) -> None:
        """Have the outputs of these systems for these segments rated, in HITs of random outputs."""
        plan, rng = self.plan, self.rng
        at_segment, at_system = (
            values.ravel() for values in np.meshgrid(segments, systems, indexing="ij")
        )
        order = rng.permutation(len(at_segment))
        at_segment, at_system = at_segment[order], at_system[order]
        hits = np.arange(len(order)) // GENUINE_PER_HIT
        spread = plan.components
        quality = (
            np.array(plan.means)[at_system]
            + (np.sqrt(spread.segment) * rng.normal(size=plan.n_segments))[at_segment]
            + np.sqrt(spread.translation) * rng.normal(size=len(order))
        )
        takers = np.array(
            [rng.permutation(plan.n_workers)[: plan.n_ratings] for _ in range(hits.max() + 1)]
        )
        workers = takers[hits].T.ravel()
        truth, rated = np.tile(quality, plan.n_ratings), np.tile(at_system, plan.n_ratings)
        noise = np.sqrt(spread.residual) * rng.normal(size=len(workers))
        perceived = truth + self.people["taste"][workers, rated] + noise
        scores = self.people["offset"][workers] + self.people["scale"][workers] * perceived
        self.scores = np.concatenate([self.scores, scores])
        self.workers = np.concatenate([self.workers, workers])
        self.segments = np.concatenate([self.segments, np.tile(at_segment, plan.n_ratings)])
        self.systems = np.concatenate([self.systems, rated])

    def compared(self) -> tuple[Floats, Floats]:
        """Return one-sided p-values and differences of every two systems, in their own order, as the platform does."""
        z = standardise_by_worker(self.scores, self.workers).z
        n_systems = self.plan.n_systems
        translations = self.segments * n_systems + self.systems
        means = segment_scores(self.scores, z, self.workers, translations, minimum=1)
        produced = means.translations
        covariance = system_covariance(
            z,
            self.workers,
            translations,
            self.segments,
            np.ones(len(z), dtype=np.bool_),
            produced=produced,
            systems=produced % n_systems,
        )
        comparison = compare_systems(
            means.z, produced % n_systems, produced // n_systems, covariance=covariance
        )
        order = np.argsort(comparison.systems)
        chosen = np.ix_(order, order)
        return cautious_pvalues(comparison.statistics[chosen], covariance), comparison.differences[
            chosen
        ]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a campaign ended: what it concluded, from how many ratings, and the differences it saw at the end."""

    is_win: NDArray[np.bool_]
    n_ratings: int
    n_looks: int
    differences: Floats


def fixed(plan: Plan, rng: np.random.Generator) -> Outcome:
    """One test at the end, of all pairs, by Holm's method."""
    collected = Collected(plan, rng)
    collected.collect(np.arange(plan.n_segments), np.arange(plan.n_systems))
    pvalues, differences = collected.compared()
    one = decide(pvalues[None], (1.0,), Rule(2))
    return Outcome(one.is_win, len(collected.scores), 1, differences)


def staged(plan: Plan, rule: Rule, rng: np.random.Generator) -> Outcome:
    """A test after each part of the segments; only systems with an undecided pair are rated on the next part."""
    collected = Collected(plan, rng)
    systems = np.arange(plan.n_systems)
    seen: list[Floats] = []
    decision: Decision | None = None
    # Differences as they were when the pair was last tested.
    differences = np.full((plan.n_systems, plan.n_systems), np.nan)
    for part in np.array_split(np.arange(plan.n_segments), rule.n_looks):
        collected.collect(part, systems)
        pvalues, latest = collected.compared()
        is_tested = np.isin(np.arange(plan.n_systems), systems)
        is_tested = is_tested[:, None] & is_tested
        seen.append(np.where(is_tested, pvalues, np.nan))
        if decision is not None:
            is_tested &= decision.undecided
        differences = np.where(is_tested, latest, differences)
        decision = decide(np.array(seen), rule.times[: len(seen)], rule)
        systems = np.flatnonzero(decision.open_systems)
        if not len(systems):
            break
    assert decision is not None
    return Outcome(decision.is_win, len(collected.scores), len(seen), differences)


def errors(plan: Plan, rule: Rule, *, campaigns: int, seed: int = SEED) -> float:
    """Return the share of campaigns with even one wrong conclusion, where some systems are equal."""
    rng = np.random.default_rng(seed)
    means = np.array(plan.means)
    is_wrong = means[:, None] <= means
    return float(
        np.mean([(staged(plan, rule, rng).is_win & is_wrong).any() for _ in range(campaigns)])
    )


@dataclass(frozen=True, slots=True)
class Means:
    """Over many campaigns: true conclusions, ratings, and how much too large differences of decided pairs are."""

    n_found: float
    n_ratings: float
    bias: float


def means_of(plans: Iterator[tuple[Plan, np.random.Generator]], rule: Rule | None) -> Means:
    """Run these campaigns, with one test at the end if there is no rule."""
    found, ratings, biases = [], [], []
    for plan, rng in plans:
        outcome = fixed(plan, rng) if rule is None else staged(plan, rule, rng)
        truth = np.array(plan.means)
        differences = truth[:, None] - truth
        found.append(int((outcome.is_win & (differences > 0)).sum()))
        ratings.append(outcome.n_ratings)
        biases += (outcome.differences - differences)[outcome.is_win].tolist()
    return Means(
        float(np.mean(found)), float(np.mean(ratings)), float(np.mean(biases)) if biases else 0.0
    )


def pairs_as_at_wmt21(
    n_segments: int, campaigns: int
) -> Iterator[tuple[Plan, np.random.Generator]]:
    """Yield campaigns of two systems that differ like a random pair of WMT21."""
    rng = np.random.default_rng(SEED)
    differences = [a - b for scores in WMT21.values() for a, b in combinations(scores, 2)]
    for difference in rng.choice(differences, campaigns).tolist():
        yield Plan((difference, 0.0), n_segments, n_workers=60), rng


def all_of_wmt21(
    pair: str, n_segments: int, campaigns: int
) -> Iterator[tuple[Plan, np.random.Generator]]:
    """Yield campaigns of all systems of a language pair."""
    rng = np.random.default_rng(SEED)
    for _ in range(campaigns):
        yield Plan(WMT21[pair], n_segments, n_workers=150), rng


def saved(stopping: Means, plain: list[Means]) -> float:
    """Return the share of ratings saved, against campaigns of a size that finds as much with one test."""
    found, ratings = [each.n_found for each in plain], [each.n_ratings for each in plain]
    # A line through the sizes: single ones vary by chance.
    slope, start = np.polyfit(found, ratings, 1)
    return 1 - stopping.n_ratings / float(start + slope * stopping.n_found)


NULLS = {
    "4 equal systems, as at WMT21": (Plan((0.0,) * 4, 300), Rule(5, least_chance=0)),
    "the same, spending as Pocock": (
        Plan((0.0,) * 4, 300),
        Rule(5, spending="pocock", least_chance=0),
    ),
    "the same, giving up what has little chance": (Plan((0.0,) * 4, 300), Rule(5)),
    "3 equal systems, 3 ratings, 30 workers with strong tastes": (
        Plan((0.0,) * 3, 200, 3, 30, COMPONENTS["tastes"]),
        Rule(5, least_chance=0),
    ),
    "2 pairs of equal systems far apart": (
        Plan((0.0, 0.0, 0.5, 0.5), 300),
        Rule(5, least_chance=0),
    ),
}
# A rate of errors of exactly the level is above the bar in one benchmark of a thousand.
CERTAINTY = 0.999
SIZES = (500, 600, 700, 800, 900, 1000)


def most_errors(campaigns: int) -> float:
    """Return the largest share of campaigns with an error that a rate at the level explains."""
    return float(scipy.stats.binom.ppf(CERTAINTY, campaigns, ALPHA)) / campaigns


def measure(campaigns: int, savings: int, whole: int) -> Iterator[Row]:
    for name, (plan, rule) in NULLS.items():
        share = 100 * errors(plan, rule, campaigns=campaigns)
        yield Row(
            f"any wrong conclusion: {name}",
            share,
            "%",
            100 * ALPHA,
            maximum=100 * most_errors(campaigns),
        )
    plain = [means_of(pairs_as_at_wmt21(n, savings), None) for n in SIZES]
    for least_chance in (0.0, 0.1, 0.2):
        for spending in SPENDING:
            rule = Rule(5, spending=spending, least_chance=least_chance)
            stopping = means_of(pairs_as_at_wmt21(1000, savings), rule)
            yield _saving(f"two systems as at WMT21, {spending}", rule, stopping, plain)
    for pair in WMT21:
        plain = [means_of(all_of_wmt21(pair, n, whole), None) for n in SIZES[1:]]
        for least_chance in (0.1, 0.3):
            rule = Rule(5, least_chance=least_chance)
            stopping = means_of(all_of_wmt21(pair, 1000, whole), rule)
            yield _saving(f"all {len(WMT21[pair])} systems of {pair}", rule, stopping, plain)


def _saving(name: str, rule: Rule, stopping: Means, plain: list[Means]) -> Row:
    return Row(
        f"ratings saved at equal power: {name}, least chance {rule.least_chance:g}",
        100 * saved(stopping, plain),
        "%",
        note=f"{stopping.n_found:.3f} pairs found with {stopping.n_ratings:,.0f} ratings; all: "
        f"{plain[-1].n_found:.3f} with {plain[-1].n_ratings:,.0f}. Decided differences too large by "
        f"{stopping.bias:.3f}, with one test by {plain[-1].bias:.3f}",
    )


if __name__ == "__main__":
    run(
        measure,
        __doc__,
        sizes={"campaigns": (2_000, 10), "savings": (2_000, 10), "whole": (200, 2)},
    )
