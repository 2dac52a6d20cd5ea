"""Gold to export, and readers for the exported files."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from analysis.models import GoldRun, GoldScore
from da_platform.files import cells
from hits.models import Campaign, Segment, System, SystemOutput, Translation
from tests.factories import make_campaign, make_translations

TEXT_KINDS = {"text", "worker", "assignment"}


def make_run(campaign: Campaign, **fields: Any) -> GoldRun:
    defaults = {
        "number": campaign.gold_runs.count() + 1,
        "minimum": 15,
        "n_workers": 30,
        "n_workers_trusted": 18,
        "n_ratings": 400,
        "n_scored": 20,
        "n_incomplete": 8,
        "input_digest": "ab" * 32,
        "signature": "qc:paired-t,p<0.05|min:15|version:0.1.0",
    }
    return GoldRun.objects.create(campaign=campaign, **defaults | fields)


def make_gold(campaign: Campaign | None = None, *, seed: int = 1, **fields: Any) -> GoldRun:
    """Score a campaign of 2 systems and 14 segments: every fifth is incomplete, the last has no rating."""
    if campaign is None:
        campaign = make_campaign(**fields)
    translations = list(
        Translation.objects.filter(segment__campaign=campaign).order_by("pk")
    ) or make_translations(campaign)
    run = make_run(campaign)
    rng = np.random.default_rng(seed)
    scores = []
    for place, translation in enumerate(translations[:-1]):
        z, is_complete = float(rng.normal()), place % 5 != 4
        score = GoldScore(
            run=run,
            translation=translation,
            raw=60 + 20 * z if is_complete else None,
            z=z if is_complete else None,
            raw_se=2.5 if is_complete else None,
            z_se=0.25 if is_complete else None,
            z_low=z - 0.5 if is_complete else None,
            z_high=z + 0.5 if is_complete else None,
            n=15 + place if is_complete else 3,
            n_ratings=16 + place if is_complete else 4,
            is_complete=is_complete,
        )
        scores.append(score)
    GoldScore.objects.bulk_create(scores)
    return run


def add_system(campaign: Campaign, name: str, translations: list[Translation]) -> System:
    """Add a system that produced the same translations."""
    system = System.objects.create(campaign=campaign, name=name)
    for translation in translations:
        SystemOutput.objects.create(
            system=system, segment_id=translation.segment_id, translation=translation
        )
    return system


def gold_by_name(run: GoldRun) -> dict[tuple[str, str], GoldScore | None]:
    """Look up the gold of every output, one by one."""
    scores = {score.translation_id: score for score in run.scores.all()}
    outputs = SystemOutput.objects.filter(system__campaign=run.campaign)
    return {
        (output.system.name, output.segment.name): scores.get(output.translation_id)
        for output in outputs.select_related("system", "segment")
    }


def segments_in_order(campaign: Campaign) -> list[str]:
    return [segment.name for segment in Segment.objects.filter(campaign=campaign)]


# --- reading back -----------------------------------------------------------------------------------


def read_back(path: Path) -> list[dict[str, Any]]:
    """Read an exported table as dictionaries, with the column kinds from its sidecar."""
    kinds = json.loads(path.with_name(f"{path.name}.meta.json").read_text())["columns"]
    if path.suffix == ".parquet":
        return [_from_parquet(row, kinds) for row in pq.read_table(path).to_pylist()]
    content = path.read_bytes().decode()
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in content.split("\n")[:-1]]
    if path.suffix == ".csv":
        rows = list(csv.DictReader(io.StringIO(content, newline="")))
        return [{name: _from_cell(cell, kinds[name]) for name, cell in row.items()} for row in rows]
    header, *lines = [line.split("\t") for line in content.split("\n")[:-1]]
    return [
        {
            name: _from_cell(cells.undo_escape_tsv(cell), kinds[name])
            for name, cell in zip(header, line, strict=True)
        }
        for line in lines
    ]


def _from_cell(cell: str, kind: str) -> Any:
    if kind in TEXT_KINDS:
        return cells.undo_defuse(cell)
    if kind == "names":
        return cells.undo_join_names(cells.undo_defuse(cell))
    if cell == "":
        return None
    if kind == "flag":
        return {"true": True, "false": False}[cell]
    return cell if kind == "time" else {"integer": int, "number": float}[kind](cell)


def _from_parquet(row: dict[str, Any], kinds: dict[str, str]) -> dict[str, Any]:
    times = {
        name: row[name] and f"{row[name]:%Y-%m-%dT%H:%M:%S.%fZ}"
        for name, kind in kinds.items()
        if kind == "time"
    }
    return row | times
