"""How many judgements it takes to find all clusters of systems: all pairs alike, and only undecided pairs.

Simulated judges rank outputs of systems whose quality is known; no two systems are equal, so each is a cluster. After each
round the systems are ranked, and whether all clusters are found, in the true order, is noted. Nothing is stored.

    python -m benchmarks.adaptive_ranking --figure docs/images/adaptive-ranking.png
"""

from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
from scipy.stats import binomtest, kendalltau

from analysis.stats.bradley_terry import bradley_terry, strength_ranges
from analysis.stats.judgements import Judgements, expand, rankings
from analysis.stats.trueskill import trueskill
from da_platform.plots.rendering import Picture
from da_platform.plots.style import new_figure
from hits.ranking.choice import Choosable, choose_groups, needs_of, undecided_pairs

# Mean quality of each system on the scale of a rating from 0 to 100, best first.
QUALITIES = (80.0, 74.0, 70.0, 62.0, 58.0, 50.0, 46.0, 42.0, 33.0, 25.0)
N_SEGMENTS, PER_SCREEN = 3_000, 5
# How much the quality of a system's outputs varies, and how much judges err.
SD_OF_OUTPUTS, SD_OF_JUDGES = 15.0, 10.0
# Scores in a band of this width get the same rank.
BAND = 10.0
RUNS = 100
CHOICES = {"random": "all pairs alike", "undecided": "undecided pairs only"}


@dataclass(frozen=True, slots=True)
class Look:
    """How far a campaign is after a round: judgements, texts read, and whether the clusters are the true ones."""

    n_judgements: int
    n_texts: int
    is_right: bool


@dataclass(frozen=True, slots=True)
class Course:
    """The looks at a campaign, and Kendall's tau of the final TrueSkill scores with the truth."""

    looks: list[Look]
    tau: float

    def at(self, n: int) -> Look | None:
        """Return the latest look with so many judgements at most."""
        return next((look for look in reversed(self.looks) if look.n_judgements <= n), None)


def follow(choice: str, seed: int, most: int) -> Course:
    """Rank in rounds up to this number of judgements, or until nothing is undecided."""
    rng, size = np.random.default_rng([seed, 1]), len(QUALITIES)
    quality = rng.normal(QUALITIES, SD_OF_OUTPUTS, size=(N_SEGMENTS, size))
    outputs = [
        Choosable(segment, (system,)) for segment in range(N_SEGMENTS) for system in range(size)
    ]
    rows: list[tuple[int, ...]] = []
    counts = np.zeros((size, size))
    everyone = ~np.eye(size, dtype=np.bool_)
    asked, is_adaptive = everyone, choice == "undecided"
    looks: list[Look] = []
    while asked.any() and (not looks or looks[-1].n_judgements < most):
        needs = needs_of(counts, target=np.inf, undecided=asked)
        for group in choose_groups(
            outputs, needs, per_screen=PER_SCREEN, judges=1, rng=rng, only_needed=is_adaptive
        ):
            rows += _ranked([outputs[place] for place in group], quality, len(rows), rng)
        judgements = expand(rankings(*zip(*rows, strict=True)))
        wins, ties = judgements.counts()
        counts = wins + wins.T + ties
        if is_adaptive:
            asked = undecided_pairs(judgements, rng=rng)
        looks.append(Look(len(judgements), len(rows), _is_right(judgements, rng)))
    final = trueskill(judgements, rng=rng, runs=RUNS)
    return Course(looks, float(kendalltau(final.scores, -final.systems).statistic))


def _ranked(
    shown: list[Choosable], quality: np.ndarray, task: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Return the rows of a screen that a judge has ranked; ranks are equal within a band."""
    scores = [
        quality[output.segment, output.systems[0]] + rng.normal(0, SD_OF_JUDGES) for output in shown
    ]
    bands = [int(score // BAND) for score in scores]
    order = sorted(set(bands), reverse=True)
    return [
        (task, output.segment, 0, output.systems[0], place, order.index(band) + 1)
        for place, (output, band) in enumerate(zip(shown, bands, strict=True))
    ]


def _is_right(judgements: Judgements, rng: np.random.Generator) -> bool:
    """Whether every system is a cluster, in the true order."""
    fitted = bradley_terry(judgements)
    clusters = strength_ranges(fitted, rng=rng).clusters
    in_order = np.arange(len(QUALITIES))
    return np.array_equal(fitted.systems, in_order) and np.array_equal(clusters, in_order + 1)


def shares_right(courses: list[Course], numbers: list[int]) -> list[tuple[float, float, float]]:
    """Return the share of campaigns that are right at each number of judgements, and its 95 % interval."""
    found = []
    for n in numbers:
        k = sum(look.is_right for course in courses if (look := course.at(n)))
        interval = binomtest(k, len(courses)).proportion_ci(method="wilson")
        found.append((k / len(courses), interval.low, interval.high))
    return found


def picture_of(courses: dict[str, list[Course]], most: int) -> Picture:
    """Draw the share of campaigns with the right clusters, with its interval."""
    numbers = list(range(0, most + 1, 250))
    shares = {choice: shares_right(own, numbers) for choice, own in courses.items()}

    def draw():  # type: ignore[no-untyped-def]
        figure = new_figure(5.0, 3.0)
        axes = figure.subplots()
        for (choice, label), style in zip(CHOICES.items(), ("--", "-"), strict=True):
            middle, low, high = zip(*shares[choice], strict=True)
            [line] = axes.plot(numbers, middle, style, label=label)
            axes.fill_between(numbers, low, high, color=line.get_color(), alpha=0.15, lw=0)
        axes.set_xlabel("pairwise judgements")
        axes.set_ylabel("campaigns with the true clusters")
        axes.set_ylim(0, 1.02)
        axes.legend(frameon=False, loc="lower right")
        return figure

    return Picture(
        name="adaptive-ranking",
        title="Campaigns with the true clusters",
        size=(5.0, 3.0),
        alternative="Line chart of the share of campaigns with the true clusters by the number of judgements.",
        draw=draw,
        columns=(
            "judgements",
            *(f"{choice}{part}" for choice in CHOICES for part in ("", "_low", "_high")),
        ),
        rows=[
            [n, *(number for choice in CHOICES for number in shares[choice][place])]
            for place, n in enumerate(numbers)
        ],
    )


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument(
        "--most", type=int, default=15_000, help="judgements at which a campaign ends"
    )
    parser.add_argument("--figure", type=Path, help="a PNG, SVG or PDF file")
    options = parser.parse_args()
    work = [(choice, seed) for choice in CHOICES for seed in range(options.seeds)]
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(follow, *zip(*work, strict=True), [options.most] * len(work)))
    courses: dict[str, list[Course]] = {choice: [] for choice in CHOICES}
    for (choice, _), course in zip(work, found, strict=True):
        courses[choice].append(course)
    drawn = picture_of(courses, options.most)
    for row in drawn.rows:
        if row[0] % 1_000 == 0:
            print(f"{row[0]:6,} judgements: " + "  ".join(f"{number:4.0%}" for number in row[1:]))
    for choice, label in CHOICES.items():
        ends = [course.looks[-1] for course in courses[choice]]
        print(
            f"{label}: ends after {mean(end.n_judgements for end in ends):,.0f} judgements and "
            f"{mean(end.n_texts for end in ends):,.0f} texts, {sum(end.is_right for end in ends)} of {len(ends)} right; "
            f"TrueSkill scores have tau {mean(course.tau for course in courses[choice]):.3f} with the truth"
        )
    if options.figure:
        options.figure.write_bytes(drawn.render(options.figure.suffix.removeprefix(".")))


if __name__ == "__main__":
    main()
