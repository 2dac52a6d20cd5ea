"""Rank the systems of all ten language pairs of WMT15 by TrueSkill, next to plain Python on a part of the work."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np

from analysis.stats import trueskill as module
from analysis.stats.judgements import complete_tasks, expand
from analysis.stats.trueskill import trueskill
from tests.replication.locating import data_folder
from tests.replication.wmt15 import collected_rankings

from .table import Row, run

PLAIN_PAIR, PLAIN_RUNS = "fin-eng", 1
PROCESSES = 2


def _rank(pair: str, runs: int) -> int:
    """Rank one language pair; return the number of steps."""
    rows = collected_rankings(_path())[pair].rankings()
    judgements = expand(complete_tasks(rows))
    trueskill(judgements, rng=np.random.default_rng(1), runs=runs)
    return runs * (len(judgements) + 1)


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
    yield Row(
        f"TrueSkill: ten pairs x {runs:,} runs, {steps:,} steps, {PROCESSES} processes; plain Python by a part",
        seconds,
        "s",
        per_step * steps,
        maximum=60,
        note=f"plain: {1e6 * per_step:.1f} microseconds a step on {plain_steps:,} steps, one process",
    )


if __name__ == "__main__":
    run(measure, __doc__, sizes={"runs": (1000, 10)})
