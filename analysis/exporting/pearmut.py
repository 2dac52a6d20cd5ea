"""Ratings in the layout of Pearmut's annotations: a JSON object for each rated output, with its item and its times."""

from collections.abc import Iterable
from datetime import datetime

from analysis.stats.roles import Role
from hits.models import Campaign

from .queries import Column, Kind, Query, rating_query
from .writers import Encoder, TextWriter, json_text

# Of the items in HITs, which are numbered together: HITs have fewer items than this.
ITEMS_PER_HIT = 1_000
GENUINE_ONLY = f"AND i.role = {Role.GENUINE.value} AND a.status = 'submitted'"


def pearmut_ratings(campaign: Campaign) -> Query:
    """Select the ratings of systems' outputs. Hidden items are no model's output, so Pearmut has no place for them."""
    texts = (
        Column("src", Kind.TEXT, "s.source"),
        Column("ref", Kind.TEXT, "s.reference"),
        Column("tgt", Kind.TEXT, "i.text"),
    )
    return rating_query(campaign, texts, GENUINE_ONLY)


class PearmutWriter(TextWriter):
    """A line for each rating. Equal outputs were rated once, so a line may hold several models."""

    def _encoder(self, kind: Kind) -> Encoder:
        return lambda cells: cells

    def _lines(self, rows: Iterable[tuple]) -> str:
        names = [column.name for column in self._columns]
        return "".join(self._line(dict(zip(names, row, strict=True))) for row in rows)

    def _line(self, row: dict) -> str:
        systems: tuple[str, ...] = row["systems"]
        end = datetime.fromisoformat(row["received_at"]).timestamp()
        start = end - (row["elapsed_ms"] or 0) / 1_000
        item = {"item_id": row["segment"], "src": row["src"], "ref": row["ref"]}
        item = {name: text for name, text in item.items() if text}
        answer = {"score": row["score"], "error_spans": [], "textfield": None}
        content = {
            "user_id": row["worker"],
            "item_i": (row["hit"] - 1) * ITEMS_PER_HIT + row["position"],
            "annotation": [dict.fromkeys(systems, answer)],
            "actions": [
                {"time": round(start, 3), "action": "load"},
                {"time": round(end, 3), "action": "submit"},
            ],
            "item": [item | {"tgt": dict.fromkeys(systems, row["tgt"])}],
            # Pearmut keeps other keys.
            "worker_state": row["worker_state"],
        }
        return f"{json_text(content)}\n"
