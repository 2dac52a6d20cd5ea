"""From ratings in memory to gold: time and memory against a plain NumPy prototype and pandas.

    python -m benchmarks.gold_from_ratings [--ratings 10000000]

Every phase of every implementation runs in a separate process, which loads the ratings and records its peak
memory before and after, so that phases do not affect each other. Seconds are processor time, since all of this
runs on one core and other work on the machine affects that least.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy import special

from analysis.stats.quality_control import (
    degraded_tests,
    make_pairs,
    quality_control,
    repeat_tests,
)
from analysis.stats.roles import Role
from analysis.stats.segments import counts_for_gold, segment_scores
from analysis.stats.standardise import standardise_by_worker
from benchmarks.measuring import affordable, best_of, in_own_process, peak_megabytes
from benchmarks.synthetic_ratings import SEED, Columns, make_ratings
from benchmarks.table import Row, run

# Ours may take at most this many times as long as the prototype.
MAX_RATIO = 2.0
# The time for making the ratings; a slower machine gets fewer.
MAX_SECONDS = 60.0

# The phases that a campaign's gold needs with the default method.
ALL_OF_GOLD = ("worker tests", "z-scores", "segments, per worker")

Phase = Callable[[Columns], np.ndarray]
Figures = dict[str, float]


def measure(*, ratings: int) -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        n_ratings = in_own_process(save_ratings, n_ratings=ratings, folder=folder)
        figures = {
            (name, phase): in_own_process(run_phase, name=name, phase=phase, folder=folder)
            for name in PHASES
            for phase in PHASES[name]
        }
    check_same_results(figures)
    for name in PHASES:
        figures[name, "all gold needs"] = {
            "seconds": sum(figures[name, phase]["seconds"] for phase in ALL_OF_GOLD),
            "megabytes": max(figures[name, phase]["megabytes"] for phase in ALL_OF_GOLD),
        }
    for phase in (*PHASES["NumPy"], "all gold needs"):
        for rival, max_ratio in (("NumPy", MAX_RATIO), ("pandas", None)):
            ours, theirs = figures["ours", phase], figures[rival, phase]
            yield Row(
                f"{phase}, {n_ratings:,} ratings, against {rival}",
                ours["seconds"],
                "s",
                theirs["seconds"],
                max_ratio=max_ratio,
                note=f"{ours['megabytes']:.0f} MB beyond the ratings, {rival} {theirs['megabytes']:.0f} MB",
            )
    quality = figures["ours", "all of quality control"]
    note = f"{quality['megabytes']:.0f} MB beyond the ratings"
    yield Row(f"all of quality control, {n_ratings:,} ratings", quality["seconds"], "s", note=note)


def save_ratings(n_ratings: int, folder: str) -> int:
    """Write one file per column; return how many ratings there are."""
    start = time.perf_counter()
    make_ratings(n_ratings // 100, np.random.default_rng(SEED))
    took = time.perf_counter() - start
    n_ratings = affordable(n_ratings, measured=n_ratings // 100, took=took, seconds=MAX_SECONDS)
    ratings = make_ratings(n_ratings, np.random.default_rng(SEED))
    ratings["z"] = numpy_z(ratings)
    for column, values in ratings.items():
        np.save(f"{folder}/{column}.npy", values)
    return len(ratings["scores"])


def run_phase(name: str, phase: str, folder: str) -> Figures:
    """Run one phase; the checksum shows that all implementations compute the same."""
    ratings = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}
    before = peak_megabytes()
    seconds, result = best_of(
        lambda: PHASES[name][phase](ratings), max_runs=3, clock=time.process_time
    )
    megabytes = peak_megabytes() - before
    return {"seconds": seconds, "megabytes": megabytes, "checksum": float(np.nansum(result))}


def check_same_results(figures: dict[tuple[str, str], Figures]) -> None:
    for (name, phase), own_figures in figures.items():
        checksum, ours = own_figures["checksum"], figures["ours", phase]["checksum"]
        if not np.isclose(checksum, ours, rtol=1e-6, atol=1e-3):
            raise SystemExit(f"{name} computes something else in {phase}: {checksum}, not {ours}")


# Ours ----------------------------------------------------------------------------------------------


def ours_tests(ratings: Columns) -> np.ndarray:
    """Run the two t-tests that the prototype runs."""
    pairs = make_pairs(
        ratings["assignments"], ratings["items"], ratings["partners"], ratings["scores"]
    )
    roles, workers = ratings["roles"][pairs.rows], ratings["workers"][pairs.rows]
    is_degraded, is_repeat = roles == Role.BAD_REFERENCE, roles == Role.REPEAT
    repeat_tests(pairs.differences[is_repeat], workers[is_repeat])
    return degraded_tests(pairs.differences[is_degraded], workers[is_degraded]).pvalue


def ours_all_of_qc(ratings: Columns) -> np.ndarray:
    """Run all of quality control: also signed ranks, sliding windows and verdicts."""
    names = ("scores", "workers", "roles", "assignments", "items", "partners")
    columns = [ratings[name] for name in names]
    return quality_control(*columns, submitted=ratings["assignments"]).degraded.pvalue


def ours_z(ratings: Columns) -> np.ndarray:
    return standardise_by_worker(ratings["scores"], ratings["workers"]).z


def ours_segments(ratings: Columns, method: str) -> np.ndarray:
    chosen = counts_for_gold(ratings["roles"])
    names = ("scores", "z", "workers", "translations")
    return segment_scores(*(ratings[name][chosen] for name in names), method=method).z


# Plain NumPy: keys are assumed to be 0, 1, 2..., nothing is checked, there are no special cases ------


def numpy_tests(ratings: Columns) -> np.ndarray:
    n_items = ratings["items"].max() + 1
    genuine = np.flatnonzero(ratings["roles"] == Role.GENUINE)
    keys = ratings["assignments"][genuine] * n_items + ratings["items"][genuine]
    order = np.argsort(keys)
    pvalues = []
    for role in (Role.BAD_REFERENCE, Role.REPEAT):
        rows = np.flatnonzero(ratings["roles"] == role)
        partner_keys = ratings["assignments"][rows] * n_items + ratings["partners"][rows]
        partner_rows = genuine[order[np.searchsorted(keys, partner_keys, sorter=order)]]
        differences = ratings["scores"][rows] - ratings["scores"][partner_rows]
        workers = ratings["workers"][rows]
        n = np.bincount(workers)
        mean = np.bincount(workers, weights=differences) / n
        ss = np.bincount(workers, weights=differences**2) - n * mean**2
        pvalues.append(special.stdtr(n - 1, mean / np.sqrt(ss / (n - 1) / n)))
    return pvalues[0]


def numpy_z(ratings: Columns) -> np.ndarray:
    scores, workers = ratings["scores"], ratings["workers"]
    n = np.bincount(workers)
    mean = np.bincount(workers, weights=scores) / n
    sd = np.sqrt((np.bincount(workers, weights=scores**2) - n * mean**2) / (n - 1))
    return (scores - mean[workers]) / sd[workers]


def numpy_segments(ratings: Columns, method: str) -> np.ndarray:
    chosen = (ratings["roles"] == Role.GENUINE) | (ratings["roles"] == Role.REPEAT)
    translations, values = (
        ratings["translations"][chosen],
        [ratings[name][chosen] for name in ("scores", "z")],
    )
    if method == "per_worker":
        n_workers = ratings["workers"].max() + 1
        keys, cells = np.unique(
            translations * n_workers + ratings["workers"][chosen], return_inverse=True
        )
        values = [np.bincount(cells, weights=column) / np.bincount(cells) for column in values]
        translations = keys // n_workers
    n = np.bincount(translations)
    for column in values:
        mean = np.bincount(translations, weights=column) / n
        ss = np.bincount(translations, weights=column**2) - n * mean**2
        distinct, places = np.unique(n, return_inverse=True)
        reach = special.stdtrit(distinct - 1, 0.975)[places] * np.sqrt(
            np.maximum(ss, 0) / (n - 1) / n
        )
        _ = mean - reach, mean + reach
    return mean[n >= 15]


# pandas --------------------------------------------------------------------------------------------


def pandas_tests(ratings: Columns) -> np.ndarray:
    frame = pd.DataFrame({name: ratings[name] for name in ratings if name != "z"})
    genuine = frame.loc[frame["roles"] == Role.GENUINE, ["assignments", "items", "scores"]]
    pvalues = []
    for role in (Role.BAD_REFERENCE, Role.REPEAT):
        checks = frame.loc[frame["roles"] == role, ["assignments", "partners", "scores", "workers"]]
        pairs = checks.merge(
            genuine, left_on=["assignments", "partners"], right_on=["assignments", "items"]
        )
        differences = (pairs["scores_x"] - pairs["scores_y"]).groupby(pairs["workers"])
        t = differences.mean() / differences.sem()
        pvalues.append(special.stdtr(differences.size() - 1, t))
    return pvalues[0].to_numpy()


def pandas_z(ratings: Columns) -> np.ndarray:
    frame = pd.DataFrame({name: ratings[name] for name in ("scores", "workers")})
    by_worker = frame.groupby("workers")["scores"]
    return ((frame["scores"] - by_worker.transform("mean")) / by_worker.transform("std")).to_numpy()


def pandas_segments(ratings: Columns, method: str) -> np.ndarray:
    frame = pd.DataFrame(
        {name: ratings[name] for name in ("scores", "z", "workers", "translations", "roles")}
    )
    frame = frame[frame["roles"].isin([Role.GENUINE, Role.REPEAT])]
    if method == "per_worker":
        frame = frame.groupby(["translations", "workers"], as_index=False)[["scores", "z"]].mean()
    means = frame.groupby("translations")[["scores", "z"]].agg(["mean", "sem", "size"])
    reach = special.stdtrit(means["z", "size"] - 1, 0.975) * means["z", "sem"]
    _ = means["z", "mean"] - reach
    return means.loc[means["z", "size"] >= 15, ("z", "mean")].to_numpy()


def phases(tests: Phase, z: Phase, segments: Callable[..., np.ndarray]) -> dict[str, Phase]:
    return {
        "worker tests": tests,
        "z-scores": z,
        "segments, pooled": lambda ratings: segments(ratings, "pooled"),
        "segments, per worker": lambda ratings: segments(ratings, "per_worker"),
    }


PHASES = {
    "ours": phases(ours_tests, ours_z, ours_segments) | {"all of quality control": ours_all_of_qc},
    "NumPy": phases(numpy_tests, numpy_z, numpy_segments),
    "pandas": phases(pandas_tests, pandas_z, pandas_segments),
}

if __name__ == "__main__":
    run(measure, __doc__, sizes={"ratings": (10_000_000, 20_000)})
