"""Small tables of metrics and gold for tests of evaluations."""

from pathlib import Path

import numpy as np

from analysis.scores.score_tables import GoldTable, ScoreTable

SYSTEMS = ("a", "b", "c", "d")
N_SEGMENTS = 25


def keys(systems: tuple[str, ...] = SYSTEMS, n: int = N_SEGMENTS) -> tuple[tuple[str, str], ...]:
    return tuple((system, str(segment)) for system in systems for segment in range(1, n + 1))


def gold_scores(n: int = len(SYSTEMS) * N_SEGMENTS, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=n)


def gold_table(name: str = "gold", **changes: object) -> GoldTable:
    facts: dict = {
        "name": name,
        "kind": "da",
        "level": "segment",
        "keys": keys(),
        "scores": gold_scores(),
        "higher_is_better": True,
        "sha256": "a" * 64,
    }
    return GoldTable(**(facts | changes))


def metric(name: str, noise: float, *, seed: int = 2, higher: bool = True) -> ScoreTable:
    """Return the gold scores with noise; an error rate has the opposite sign."""
    noisy = gold_scores() + noise * np.random.default_rng(seed).normal(size=len(keys()))
    return ScoreTable(name, "segment", keys(), noisy if higher else -noisy, higher, "b" * 64)


def write_table(path: Path, titles: dict[str, np.ndarray]) -> Path:
    """Write a table with the columns system, segment and one for each metric."""
    lines = ["\t".join(["system", "segment", *titles])]
    for i, (system, segment) in enumerate(keys()):
        lines.append(
            "\t".join([system, segment, *(repr(float(scores[i])) for scores in titles.values())])
        )
    path.write_text("\n".join(lines) + "\n")
    return path
