"""The rankings of WMT15: read from the published file, next to what was published about them."""

import csv
import gzip
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import Element

from defusedxml import ElementTree

from analysis.stats.judgements import Rankings, rankings

# Task, segment, judge, system, output, rank.
Row = tuple[int, int, str, str, int, int]

LANGUAGES = {
    "ces": "Czech",
    "eng": "English",
    "deu": "German",
    "fin": "Finnish",
    "fre": "French",
    "rus": "Russian",
}


@dataclass(frozen=True, slots=True)
class Official:
    """A line of the official ranking."""

    score: float
    best: int
    worst: int
    cluster: int


@dataclass(slots=True)
class Collected:
    """What the file holds for a language pair."""

    n_hits: int = 0
    n_tasks: int = 0
    rows: list[Row] = field(default_factory=list)

    def rankings(self) -> Rankings:
        return rankings(*zip(*self.rows, strict=True))


@cache
def collected_rankings(path: Path) -> dict[str, Collected]:
    """Return what the file holds by language pair, such as `ces-eng`."""
    pairs: dict[str, Collected] = defaultdict(Collected)
    with gzip.open(path) as file:
        for _, hit in ElementTree.iterparse(file):
            if hit.tag == "HIT":
                _add(hit, pairs[f"{hit.get('source-language')}-{hit.get('target-language')}"])
                hit.clear()
    return dict(pairs)


def _add(hit: Element, collected: Collected) -> None:
    collected.n_hits += 1
    for task in hit.iter("ranking-task"):
        for result in task.iter("ranking-result"):
            collected.n_tasks += 1
            collected.rows += [
                (collected.n_tasks, int(task.get("id", "")), result.get("user", ""), *output)
                for output in _outputs(result)
            ]


def _outputs(result: Element) -> list[tuple[str, int, int]]:
    return [
        (system, place, int(translation.get("rank", "")))
        for place, translation in enumerate(result)
        for system in translation.get("system", "").split(",")
    ]


def official_ranking(folder: Path, pair: str) -> dict[str, Official]:
    """Return the published lines by system, best first."""
    lines = (folder / "official" / f"wmt15.{pair}.txt").read_text().splitlines()
    official, cluster = {}, 1
    for line in lines:
        if line.startswith("+"):
            cluster += 1
        else:
            system, score, best, worst = line.split()
            official[system] = Official(
                float(score), int(float(best[1:-1])), int(float(worst[:-1])), cluster
            )
    return official


def published_kappas(folder: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    """Return rows by pair in our codes, `collapsed` or `expanded`, and `inter` or `intra`."""
    codes = {name: code for code, name in LANGUAGES.items()}
    with (folder / "expected-kappa.csv").open() as file:
        return {
            (
                "-".join(codes[name] for name in row["pair"].split("-")),
                row["outputs"],
                row["kind"],
            ): row
            for row in csv.DictReader(file)
        }
