"""The columns of an export of how closely workers follow the stored metrics."""

from analysis.workers.likeness import likeness_of
from hits.models import Campaign

from .batches import Batch
from .queries import Column, Kind

COLUMNS = (
    Column("campaign", Kind.TEXT),
    Column("worker", Kind.WORKER),
    Column("provider", Kind.TEXT),
    Column("worker_state", Kind.TEXT),
    Column("metric", Kind.TEXT),
    Column("r", Kind.NUMBER),
    Column("n_items", Kind.INTEGER),
    Column("share_below", Kind.NUMBER),
    Column("trusted_low", Kind.NUMBER),
    Column("trusted_median", Kind.NUMBER),
    Column("trusted_high", Kind.NUMBER),
    Column("n_trusted", Kind.INTEGER),
)


def likeness_rows(campaign: Campaign) -> Batch:
    """Return a row for each metric and worker."""
    rows = [
        (
            campaign.name,
            str(row.participation.worker),
            row.participation.worker.provider,
            row.participation.state,
            row.metric.name,
            row.r,
            row.n_items,
            row.share_below,
            likeness.spread.low,
            likeness.spread.median,
            likeness.spread.high,
            likeness.spread.n_workers,
        )
        for likeness in likeness_of(campaign)
        for row in likeness.rows
    ]
    return [list(cells) for cells in zip(*rows, strict=True)] if rows else [[] for _ in COLUMNS]
