"""How many judgements it takes to tell systems apart: ranked at random, and where the ranking is undecided.

Simulated judges rank outputs of systems whose quality is known. After each round the systems are ranked, and the share of
their pairs that stand in different clusters, the better one above, is noted. Nothing is stored.

    python -m benchmarks.adaptive_ranking --figure docs/images/adaptive-ranking.png
"""

from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from pathlib import Path
from statistics import mean

import numpy as np

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
# The share of pairs told apart by which the choices are compared.
ENOUGH = 0.95
CHOICES = {"random": "all pairs alike", "undecided": "first where rank ranges overlap"}
# Judgements, and the share of pairs told apart.
Course = list[tuple[int, float]]


def follow(choice: str, seed: int, most: int) -> Course:
    """Return how many pairs are told apart after each round, up to this number of judgements."""
    rng, size = np.random.default_rng([seed, 1]), len(QUALITIES)
    quality = rng.normal(QUALITIES, SD_OF_OUTPUTS, size=(N_SEGMENTS, size))
    outputs = [
        Choosable(segment, (system,)) for segment in range(N_SEGMENTS) for system in range(size)
    ]
    rows: list[tuple[int, ...]] = []
    counts = np.zeros((size, size))
    undecided = ~np.eye(size, dtype=np.bool_)
    course: Course = []
    while (not course or course[-1][0] < most) and undecided.any():
        asked = undecided if choice == "undecided" else ~np.eye(size, dtype=np.bool_)
        needs = needs_of(counts, target=np.inf, undecided=asked)
        for group in choose_groups(outputs, needs, per_screen=PER_SCREEN, judges=1, rng=rng):
            rows += _ranked([outputs[place] for place in group], quality, len(rows), rng)
        judgements = expand(rankings(*zip(*rows, strict=True)))
        wins, ties = judgements.counts()
        counts = wins + wins.T + ties
        if choice == "undecided":
            undecided = undecided_pairs(judgements, rng=rng)
        course.append((len(judgements), _told_apart(judgements, rng)))
    return course


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


def _told_apart(judgements: Judgements, rng: np.random.Generator) -> float:
    result = trueskill(judgements, rng=rng, runs=RUNS)
    cluster = dict(zip(result.systems.tolist(), result.ranges.clusters.tolist(), strict=True))
    return mean(
        cluster[better] < cluster[worse] for better, worse in combinations(range(len(QUALITIES)), 2)
    )


def needed(course: Course) -> int:
    """Return after how many judgements enough pairs were told apart; the last number if they never were."""
    return next((n for n, share in course if share >= ENOUGH), course[-1][0])


def picture_of(courses: dict[str, list[Course]], most: int) -> Picture:
    """Draw the mean course of each choice."""
    numbers = list(range(0, most + 1, 100))
    shares = {
        choice: [mean(_latest(course, n) for course in own) for n in numbers]
        for choice, own in courses.items()
    }

    def draw():  # type: ignore[no-untyped-def]
        figure = new_figure(5.0, 3.0)
        axes = figure.subplots()
        for (choice, label), style in zip(CHOICES.items(), ("--", "-"), strict=True):
            axes.plot(numbers, shares[choice], style, label=label)
        axes.set_xlabel("pairwise judgements")
        axes.set_ylabel("pairs of systems told apart")
        axes.set_ylim(0, 1.02)
        axes.legend(frameon=False, loc="lower right")
        return figure

    return Picture(
        name="adaptive-ranking",
        title="Pairs of systems told apart",
        size=(5.0, 3.0),
        alternative="Line chart of the share of pairs told apart by the number of judgements.",
        draw=draw,
        columns=("judgements", *CHOICES),
        rows=[
            [n, *(shares[choice][place] for choice in CHOICES)] for place, n in enumerate(numbers)
        ],
    )


def _latest(course: Course, n: int) -> float:
    return next((share for number, share in reversed(course) if number <= n), 0.0)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument(
        "--most", type=int, default=3_500, help="judgements at which a campaign ends"
    )
    parser.add_argument("--figure", type=Path, help="a PNG, SVG or PDF file")
    options = parser.parse_args()
    work = [(choice, seed) for seed in range(options.seeds) for choice in CHOICES]
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(follow, *zip(*work, strict=True), [options.most] * len(work)))
    courses: dict[str, list[Course]] = {choice: [] for choice in CHOICES}
    for (choice, _), course in zip(work, found, strict=True):
        courses[choice].append(course)
    for choice, label in CHOICES.items():
        numbers = [needed(course) for course in courses[choice]]
        print(
            f"{label}: {mean(numbers):,.0f} judgements until {ENOUGH:.0%} of pairs are told apart {numbers}"
        )
    if options.figure:
        drawn = picture_of(courses, options.most).render(options.figure.suffix.removeprefix("."))
        options.figure.write_bytes(drawn)


if __name__ == "__main__":
    main()
