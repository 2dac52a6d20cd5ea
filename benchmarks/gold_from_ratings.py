"""From ratings to gold: time and memory against a plain NumPy prototype and against pandas.

    python -m benchmarks.gold_from_ratings --ratings 10000000

Every measurement runs in a process of its own, which loads the ratings, notes its peak memory, runs one phase
and notes the peak again: no phase profits from, or pays for, another. Seconds are of processor time, the best of
several runs: all of this runs on one core, and other work on the machine then disturbs it least.
pandas is compared with where it is installed.
"""

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import special

from analysis.stats.quality_control import (
    NO_PARTNER,
    degraded_tests,
    make_pairs,
    quality_control,
    repeat_tests,
)
from analysis.stats.roles import Role
from analysis.stats.segments import counts_for_gold, segment_scores
from analysis.stats.standardise import standardise_by_worker

SEED = 20_150_531
HIT_ITEMS = 100
RATERS_PER_HIT = 20
HITS_PER_WORKER = 10
# Ours may take at most this many times as long as the prototype.
BAR = 2.0

Columns = dict[str, np.ndarray]


# --- the ratings ---------------------------------------------------------------------------------


def make_ratings(n_ratings: int, rng: np.random.Generator) -> Columns:
    """Return HITs of 100 items (70 genuine, 10 each of the others), rated by honest and careless workers."""
    n_hits = max(1, n_ratings // (HIT_ITEMS * RATERS_PER_HIT))
    n_workers = max(RATERS_PER_HIT, n_hits * RATERS_PER_HIT // HITS_PER_WORKER)
    rater, hit = (grid.ravel() for grid in np.mgrid[0:RATERS_PER_HIT, 0:n_hits])
    worker = (hit + rater * (n_workers // RATERS_PER_HIT)) % n_workers
    order = rng.permutation(len(hit))
    hit, worker = hit[order], worker[order]

    roles = np.repeat(
        [Role.GENUINE, Role.BAD_REFERENCE, Role.REPEAT, Role.REFERENCE], [70, 10, 10, 10]
    )
    partners = np.concatenate([np.full(70, NO_PARTNER), np.arange(30)])
    shown = rng.permutation(HIT_ITEMS)
    translation = np.where(partners == NO_PARTNER, np.arange(HIT_ITEMS), partners)

    def by_item(values: np.ndarray) -> np.ndarray:
        return np.tile(values[shown], len(hit))

    columns = {
        "workers": np.repeat(worker, HIT_ITEMS),
        "roles": by_item(roles),
        "assignments": np.repeat(np.arange(len(hit)), HIT_ITEMS),
        "items": (hit[:, None] * HIT_ITEMS + shown).ravel(),
        "partners": np.where(
            partners == NO_PARTNER, NO_PARTNER, hit[:, None] * HIT_ITEMS + partners
        )[:, shown].ravel(),
        "translations": (hit[:, None] * 70 + translation[shown]).ravel(),
    }
    columns["scores"] = make_scores(columns, n_workers, rng)
    return columns


def make_scores(columns: Columns, n_workers: int, rng: np.random.Generator) -> np.ndarray:
    quality = rng.normal(60, 18, int(columns["translations"].max()) + 1)
    is_honest = rng.random(n_workers) < 0.6
    shift = np.select(
        [columns["roles"] == Role.BAD_REFERENCE, columns["roles"] == Role.REFERENCE],
        [-20.0, 30.0],
        0.0,
    )
    scores = rng.normal(rng.normal(0, 8, n_workers)[columns["workers"]], 15)
    scores += np.where(
        is_honest[columns["workers"]], quality[columns["translations"]] + shift, 55.0
    )
    return np.clip(np.rint(scores), 0, 100)


# --- ours ----------------------------------------------------------------------------------------


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
    own = quality_control(*(ratings[name] for name in names), submitted=ratings["assignments"])
    return own.degraded.pvalue


def ours_z(ratings: Columns) -> np.ndarray:
    return standardise_by_worker(ratings["scores"], ratings["workers"]).z


def ours_segments(ratings: Columns, method: str) -> np.ndarray:
    chosen = counts_for_gold(ratings["roles"])
    names = ("scores", "z", "workers", "translations")
    return segment_scores(*(ratings[name][chosen] for name in names), method=method).z


# --- plain NumPy: keys are taken for 0, 1, 2..., nothing is checked, no case is special --------------


def plain_tests(ratings: Columns) -> np.ndarray:
    n_items = ratings["items"].max() + 1
    genuine = np.flatnonzero(ratings["roles"] == Role.GENUINE)
    keys = ratings["assignments"][genuine] * n_items + ratings["items"][genuine]
    order = np.argsort(keys)
    pvalues = []
    for role in (Role.BAD_REFERENCE, Role.REPEAT):
        rows = np.flatnonzero(ratings["roles"] == role)
        wanted = ratings["assignments"][rows] * n_items + ratings["partners"][rows]
        partner_rows = genuine[order[np.searchsorted(keys, wanted, sorter=order)]]
        differences = ratings["scores"][rows] - ratings["scores"][partner_rows]
        workers = ratings["workers"][rows]
        n = np.bincount(workers)
        mean = np.bincount(workers, weights=differences) / n
        ss = np.bincount(workers, weights=differences**2) - n * mean**2
        pvalues.append(special.stdtr(n - 1, mean / np.sqrt(ss / (n - 1) / n)))
    return pvalues[0]


def plain_z(ratings: Columns) -> np.ndarray:
    scores, workers = ratings["scores"], ratings["workers"]
    n = np.bincount(workers)
    mean = np.bincount(workers, weights=scores) / n
    sd = np.sqrt((np.bincount(workers, weights=scores**2) - n * mean**2) / (n - 1))
    return (scores - mean[workers]) / sd[workers]


def plain_segments(ratings: Columns, method: str) -> np.ndarray:
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


# --- pandas --------------------------------------------------------------------------------------


def pandas_tests(ratings: Columns) -> np.ndarray:
    import pandas as pd

    frame = pd.DataFrame({name: ratings[name] for name in ratings if name != "z"})
    genuine = frame.loc[frame["roles"] == Role.GENUINE, ["assignments", "items", "scores"]]
    pvalues = []
    for role in (Role.BAD_REFERENCE, Role.REPEAT):
        asked = frame.loc[frame["roles"] == role, ["assignments", "partners", "scores", "workers"]]
        pairs = asked.merge(
            genuine, left_on=["assignments", "partners"], right_on=["assignments", "items"]
        )
        differences = (pairs["scores_x"] - pairs["scores_y"]).groupby(pairs["workers"])
        t = differences.mean() / differences.sem()
        pvalues.append(special.stdtr(differences.size() - 1, t))
    return pvalues[0].to_numpy()


def pandas_z(ratings: Columns) -> np.ndarray:
    import pandas as pd

    frame = pd.DataFrame({name: ratings[name] for name in ("scores", "workers")})
    by_worker = frame.groupby("workers")["scores"]
    return ((frame["scores"] - by_worker.transform("mean")) / by_worker.transform("std")).to_numpy()


def pandas_segments(ratings: Columns, method: str) -> np.ndarray:
    import pandas as pd

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


# --- measuring -----------------------------------------------------------------------------------

Phase = Callable[[Columns], np.ndarray]


def phases_of(
    tests: Phase, z: Phase, segments: Callable[[Columns, str], np.ndarray]
) -> dict[str, Phase]:
    return {
        "worker tests": tests,
        "z-scores": z,
        "segments, pooled": lambda ratings: segments(ratings, "pooled"),
        "segments, per worker": lambda ratings: segments(ratings, "per_worker"),
    }


PHASES = {
    "ours": phases_of(ours_tests, ours_z, ours_segments)
    | {"all of quality control": ours_all_of_qc},
    "plain": phases_of(plain_tests, plain_z, plain_segments),
    "pandas": phases_of(pandas_tests, pandas_z, pandas_segments),
}
# What a campaign's gold takes, in the default way.
THE_WHOLE = ("worker tests", "z-scores", "segments, per worker")


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_here(implementation: str, phase: str, folder: Path, repeats: int) -> dict[str, float]:
    """Run one phase in this process; the checksum shows that all implementations compute the same."""
    ratings = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    if implementation == "pandas":
        import pandas  # noqa: F401  (its own weight is not the phase's)
    before = peak_megabytes()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = PHASES[implementation][phase](ratings)
        seconds.append(time.process_time() - start)
    return {
        "seconds": min(seconds),
        "megabytes": peak_megabytes() - before,
        "checksum": float(np.nansum(result)),
    }


def measure(implementation: str, phase: str, folder: Path, repeats: int) -> dict[str, float]:
    """Run one phase in a process of its own."""
    return json.loads(
        run_self(
            *("--phase", implementation, phase), "--folder", str(folder), "--repeats", str(repeats)
        )
    )


def run_self(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.gold_from_ratings", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def save_ratings(n_ratings: int, folder: Path) -> None:
    ratings = make_ratings(n_ratings, np.random.default_rng(SEED))
    ratings["z"] = plain_z(ratings)
    for column, values in ratings.items():
        np.save(folder / f"{column}.npy", values)
    counts = [
        len(ratings["scores"]),
        ratings["workers"].max() + 1,
        ratings["translations"].max() + 1,
    ]
    print("{:,} ratings, {:,} workers, {:,} translations.".format(*counts), file=sys.stderr)


def report(measured: dict[tuple[str, str], dict[str, float]]) -> bool:
    """Print the table; return whether ours keeps within the bar."""
    rivals = [name for name in PHASES if name != "ours" and (name, "z-scores") in measured]
    print(f"{'phase':<24}{'':<8}{'seconds':>9}{'peak MB':>9}{'ours / it':>11}")
    for phase in PHASES["ours"]:
        for name in ("ours", *rivals):
            if (name, phase) in measured:
                print_line(
                    phase if name == "ours" else "",
                    name,
                    measured[name, phase],
                    measured["ours", phase],
                )
    whole = {
        name: {
            "seconds": sum(measured[name, phase]["seconds"] for phase in THE_WHOLE),
            "megabytes": max(measured[name, phase]["megabytes"] for phase in THE_WHOLE),
        }
        for name in ("ours", *rivals)
    }
    for name, figures in whole.items():
        print_line("all gold needs" if name == "ours" else "", name, figures, whole["ours"])
    ratios = [
        measured["ours", phase]["seconds"] / measured["plain", phase]["seconds"]
        for phase in PHASES["plain"]
    ]
    ratios.append(whole["ours"]["seconds"] / whole["plain"]["seconds"])
    print(
        f"\nAll in all ours takes {ratios[-1]:.2f} times the prototype's time, "
        f"in no phase more than {max(ratios):.2f}; the bar is {BAR:g}."
    )
    return max(ratios) <= BAR


def print_line(phase: str, name: str, figures: dict[str, float], ours: dict[str, float]) -> None:
    ratio = "" if figures is ours else f"{ours['seconds'] / figures['seconds']:.2f}"
    print(f"{phase:<24}{name:<8}{figures['seconds']:>9.3f}{figures['megabytes']:>9.0f}{ratio:>11}")


def check_same_results(measured: dict[tuple[str, str], dict[str, float]]) -> None:
    for (name, phase), figures in measured.items():
        ours = measured["ours", phase]["checksum"]
        if not np.isclose(figures["checksum"], ours, rtol=1e-6, atol=1e-3):
            raise SystemExit(
                f"{name} computes something else in {phase}: {figures['checksum']}, not {ours}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--skip-pandas", action="store_true")
    parser.add_argument("--phase", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.phase:
        implementation, phase = options.phase
        print(json.dumps(measure_here(implementation, phase, options.folder, options.repeats)))
        return
    if options.make:
        save_ratings(options.make, options.folder)
        return
    with_pandas = importlib.util.find_spec("pandas") and not options.skip_pandas
    implementations = [name for name in PHASES if name != "pandas" or with_pandas]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In another process too: a child's peak begins at what its parent once needed.
        run_self("--make", str(options.ratings), "--folder", name)
        print(
            f"Processor seconds: best of {options.repeats}. Peak MB: beyond the ratings themselves.\n"
        )
        measured = {
            (implementation, phase): measure(implementation, phase, folder, options.repeats)
            for implementation in implementations
            for phase in PHASES[implementation]
        }
    check_same_results(measured)
    if not report(measured):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
