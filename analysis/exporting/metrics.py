"""The scores of a campaign's metrics as one table, which `evaluate` reads: a column per metric."""

import math
from collections.abc import Sequence

from analysis.models import Metric
from analysis.scores.storing import campaign_keys, stored_tables
from da_platform.files.errors import ExportRefused
from hits.models import Campaign

from .batches import Batch
from .queries import Column, Kind

# The level of the scores in each export.
METRIC_LEVELS = {"metrics": Metric.Level.SEGMENT, "system-metrics": Metric.Level.SYSTEM}
_DIRECTIONS = {True: ":higher", False: ":lower", None: ""}


def metric_rows(kind: str, campaign: Campaign) -> tuple[Sequence[Column], Batch]:
    """Return the columns and rows of all metrics, computed and uploaded, at one level.

    The title of a column says which direction is better, if it is confirmed: `TER:lower`.
    """
    level = METRIC_LEVELS[kind]
    metrics = list(campaign.metrics.at_level(level).order_by("name"))
    if not metrics:
        raise ExportRefused(f"{campaign} has no {level} scores of metrics yet.")
    tables = stored_tables(metrics)
    keys = list(campaign_keys(campaign, "segment" if level == Metric.Level.SEGMENT else "system"))
    names = [Column("system", Kind.TEXT), Column("segment", Kind.TEXT)]
    batch: list[list] = [[system for system, _ in keys], [segment for _, segment in keys]]
    if level == Metric.Level.SYSTEM:
        del names[1], batch[1]
    for table in tables:
        names.append(Column(f"{table.name}{_DIRECTIONS[table.higher_is_better]}", Kind.NUMBER))
        score_of = dict(zip(table.keys, table.scores.tolist(), strict=True))
        batch.append([score_of.get(key, math.nan) for key in keys])
    return names, [[_known(cell) for cell in column] for column in batch]


def _known(cell: object) -> object:
    return None if cell != cell else cell
