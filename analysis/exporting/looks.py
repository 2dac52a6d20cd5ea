"""The columns of an export of looks: every pair of systems at every look."""

from hits.models import Campaign

from .batches import Batch
from .queries import Column, Kind

_NUMBERS = ("difference", "low", "high", "p", "chance")
COLUMNS = (
    Column("campaign", Kind.TEXT),
    Column("look", Kind.INTEGER),
    Column("share", Kind.NUMBER),
    Column("is_last", Kind.FLAG),
    Column("n_assignments", Kind.INTEGER),
    Column("n_ratings", Kind.INTEGER),
    Column("boundary", Kind.NUMBER),
    Column("system", Kind.TEXT),
    Column("other", Kind.TEXT),
    *(Column(name, Kind.NUMBER) for name in _NUMBERS),
    Column("state", Kind.TEXT),
)


def look_rows(campaign: Campaign) -> Batch:
    """Return a row for each look and pair, the better system first."""
    rows = [
        (
            campaign.name,
            look.number,
            look.share,
            look.is_last,
            look.result["n_assignments"],
            look.result["n_ratings"],
            look.result["boundary"],
            pair["system"],
            pair["other"],
            *(pair[name] for name in _NUMBERS),
            pair["state"],
        )
        for look in campaign.looks.concluded().order_by("number")
        for pair in look.result["pairs"]
    ]
    return [list(cells) for cells in zip(*rows, strict=True)] if rows else [[] for _ in COLUMNS]
