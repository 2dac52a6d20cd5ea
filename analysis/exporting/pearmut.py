"""Ratings in the layout of Pearmut's annotations: a JSON object for what a worker saw together, with its items and times."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from analysis.stats.roles import Role
from hits.campaigns.importing.pearmut import document_of
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
        Column("segment_position", Kind.INTEGER, "s.position"),
        Column("run", Kind.INTEGER, "i.run"),
        Column("screen", Kind.INTEGER, "i.screen"),
    )
    return rating_query(campaign, texts, GENUINE_ONLY)


class PearmutWriter(TextWriter):
    """A line for each screen, or run of a document: what one worker saw together.

    Equal outputs were rated once, so a rating may be of several models.
    """

    _pending: list[dict[str, Any]]

    def _encoder(self, kind: Kind) -> Encoder:
        return lambda cells: cells

    def _lines(self, rows: Iterable[tuple]) -> str:
        names = [column.name for column in self._columns]
        lines, pending = [], getattr(self, "_pending", [])
        for row in (dict(zip(names, values, strict=True)) for values in rows):
            if pending and _shown_together(row) != _shown_together(pending[0]):
                lines.append(_line(pending))
                pending = []
            pending.append(row)
        # The next batch may go on with it.
        self._pending = pending
        return "".join(lines)

    def finish(self) -> None:
        if pending := getattr(self, "_pending", []):
            self._stream.write(_line(pending).encode())


def _shown_together(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return the same for all outputs of a screen, and for all of a run."""
    is_in_run = row["run"] is not None
    return row["assignment"], is_in_run, row["run"] if is_in_run else row["screen"]


def _line(rows: list[dict[str, Any]]) -> str:
    ends = [datetime.fromisoformat(row["received_at"]).timestamp() for row in rows]
    starts = [end - (row["elapsed_ms"] or 0) / 1_000 for end, row in zip(ends, rows, strict=True)]
    items: dict[str, dict[str, Any]] = {}
    scores: dict[str, dict[str, Any]] = {}
    for row in rows:
        item = {"item_id": _item_id(row), "src": row["src"], "ref": row["ref"]}
        item = {name: text for name, text in item.items() if text}
        systems, segment = row["systems"], row["segment"]
        texts = items.setdefault(segment, item | {"tgt": {}})["tgt"]
        texts |= dict.fromkeys(systems, row["tgt"])
        answer = {"score": row["score"], "error_spans": [], "textfield": None}
        scores.setdefault(segment, {}).update(dict.fromkeys(systems, answer))
    first = rows[0]
    content = {
        "user_id": first["worker"],
        "item_i": (first["hit"] - 1) * ITEMS_PER_HIT + first["position"],
        "annotation": list(scores.values()),
        "actions": [
            {"time": round(min(starts), 3), "action": "load"},
            {"time": round(max(ends), 3), "action": "submit"},
        ],
        "item": list(items.values()),
        # Pearmut keeps other keys.
        "worker_state": first["worker_state"],
    }
    return f"{json_text(content)}\n"


def _item_id(row: dict[str, Any]) -> str:
    """Return the name of the segment, with that of its document as Pearmut writes it."""
    document, segment = row["document"], row["segment"]
    if not document or document_of(segment) == document:
        return str(segment)
    return f"{document}_#_{segment if segment.isdecimal() else row['segment_position']}"
