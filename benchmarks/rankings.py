"""Rank the systems of all ten language pairs of WMT15 by TrueSkill, next to plain Python on a part of the work."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy

from analysis.stats import trueskill as module
from analysis.stats._validation import Floats
from analysis.stats.judgements import complete_tasks, expand
from analysis.stats.trueskill import trueskill
from tests.replication.locating import data_folder
from tests.replication.wmt15 import collected_rankings

from .table import Row, run

PLAIN_PAIR, PLAIN_RUNS = "fin-eng", 1
PROCESSES = 2
VECTORISED_STEPS = 300


def _rank(pair: str, runs: int) -> int:
    """Rank one language pair; return the number of steps."""
    rows = collected_rankings(_path())[pair].rankings()
    judgements = expand(complete_tasks(rows))
    trueskill(judgements, rng=np.random.default_rng(1), runs=runs)
    return runs * (len(judgements) + 1)


def _vectorised(wins: Floats, not_lost: Floats, n_steps: int, runs: int, steps: int) -> Floats:
    """Take the first steps of all runs at once with NumPy, as `trueskill` does one run after another."""
    rng, size = np.random.default_rng(1), len(wins)
    every, beta = np.arange(runs), module.SIGMA * n_steps * module.BETA_SHARE
    margin = float(scipy.special.ndtri((module.DRAW + 1) / 2)) * np.sqrt(2) * beta
    mu, variance = np.zeros((runs, size)), np.full((runs, size), module.SIGMA**2)
    mass_below = scipy.special.ndtr

    def density(x: Floats) -> Floats:
        return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)

    for _ in range(steps):
        a = variance.argmax(axis=1)
        weights = np.exp(-np.abs(mu - mu[every, a][:, None]))
        weights[every, a] = 0
        shares = weights.cumsum(axis=1)
        b = (shares < rng.random(runs)[:, None] * shares[:, -1:]).sum(axis=1)
        total = variance[every, a] + variance[every, b] + 2 * beta**2
        scale = np.sqrt(total)
        gap, edge = (mu[every, a] - mu[every, b]) / scale, margin / scale
        chance = rng.random(runs)
        is_won = chance < wins[a, b]
        is_draw = ~is_won & (chance < not_lost[a, b])
        sign = np.where(is_won, 1.0, -1.0)
        above, low, high = sign * gap - edge, -edge - gap, edge - gap
        decided = density(above) / mass_below(above)
        drawn = (density(low) - density(high)) / (mass_below(high) - mass_below(low))
        shrink_drawn = drawn**2 + (high * density(high) - low * density(low)) / (
            mass_below(high) - mass_below(low)
        )
        shift = np.where(is_draw, drawn, sign * decided)
        shrink = np.where(is_draw, shrink_drawn, decided * (decided + above))
        mu[every, a] += variance[every, a] / scale * shift
        mu[every, b] -= variance[every, b] / scale * shift
        variance[every, a] *= 1 - variance[every, a] / total * shrink
        variance[every, b] *= 1 - variance[every, b] / total * shrink
    return mu


def _seconds_vectorised(steps: int, runs: int) -> float:
    """Return the seconds of a step of one run, if NumPy takes it for all runs at once."""
    judgements = expand(complete_tasks(collected_rankings(_path())[PLAIN_PAIR].rankings()))
    wins, ties = judgements.counts()
    share = np.maximum(wins + wins.T + ties, 1)
    start = perf_counter()
    _vectorised(wins / share, (wins + ties) / share, len(judgements) + 1, runs, steps)
    return (perf_counter() - start) / (steps * runs)


def _path() -> Path:
    return data_folder() / "wmt15-rankings" / "wmt15.xml.gz"


def measure(*, runs: int) -> Iterator[Row]:
    path = _path()
    if not path.exists():
        raise SystemExit(f"{path} is missing.")
    sizes = {pair: len(collected.rows) for pair, collected in collected_rankings(path).items()}
    pairs = sorted(sizes, key=sizes.__getitem__, reverse=True)
    with ProcessPoolExecutor(PROCESSES) as pool:
        # Each process reads the file and compiles first, as a worker of jobs does.
        list(pool.map(_rank, [PLAIN_PAIR] * PROCESSES, [1] * PROCESSES))
        start = perf_counter()
        steps = sum(pool.map(_rank, pairs, [runs] * len(pairs)))
        seconds = perf_counter() - start
    fast_loop, module._one_run = module._one_run, module._one_run.py_func
    start = perf_counter()
    plain_steps = _rank(PLAIN_PAIR, PLAIN_RUNS)
    per_step = (perf_counter() - start) / plain_steps
    module._one_run = fast_loop
    vectorised = _seconds_vectorised(VECTORISED_STEPS, max(runs, 10))
    yield Row(
        f"TrueSkill: ten pairs x {runs:,} runs, {steps:,} steps, {PROCESSES} processes; plain Python by a part",
        seconds,
        "s",
        per_step * steps,
        maximum=60,
        note=f"plain: {1e6 * per_step:.1f} microseconds a step on {plain_steps:,} steps, one process; "
        f"NumPy over all runs at once: {1e6 * vectorised:.2f} on {VECTORISED_STEPS} steps of {runs:,} runs",
    )


if __name__ == "__main__":
    run(measure, __doc__, sizes={"runs": (1000, 10)})
