"""The export itself: ask, write, sign."""

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from analysis.models import GoldRun, GoldScore
from analysis.stats import __version__
from analysis.stats.signature import signature
from hits.audit import record
from hits.models import Campaign, SystemOutput

from . import layouts, ranking, tables, writers
from .destinations import (
    STANDARD_OUTPUT,
    HashingStream,
    meta_path_of,
    new_file,
    refuse_to_overwrite,
    standard_output,
)
from .errors import ExportRefused
from .pseudonyms import Pseudonyms, key_fingerprint
from .reading import Batch, one_batch, read_batches
from .tables import Column, Kind

KINDS = ("ratings", "evidence", "segments", "systems")
GOLD_KINDS = ("segments", "systems")
TABLE_FORMATS = ("csv", "tsv", "jsonl", "parquet")
LAYOUTS = (*layouts.MTME_SCORES, "published")
FORMATS = (*TABLE_FORMATS, *LAYOUTS)

_WRITERS: dict[str, type[writers.Writer]] = {
    "csv": writers.CSVWriter,
    "tsv": writers.TSVWriter,
    "jsonl": writers.JSONLinesWriter,
    "mtme": writers.ScoreFileWriter,
    "mtme-raw": writers.ScoreFileWriter,
    "published": writers.PublishedWriter,
}


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What was written, and how it was made. Without a path it went to standard output."""

    path: Path | None
    n_rows: int
    n_bytes: int
    sha256: str
    meta: dict[str, Any]

    @property
    def meta_path(self) -> Path | None:
        return None if self.path is None else meta_path_of(self.path)

    @property
    def n_incomplete(self) -> int | None:
        """Outputs that have no score for want of ratings; None where the export holds no scores."""
        return self.meta.get("n_incomplete")


@dataclass(frozen=True, slots=True)
class _Order:
    """What is asked for, checked."""

    kind: str
    campaign: Campaign
    format: str
    run: GoldRun | None
    real_ids: bool
    history: bool


def export(
    *,
    kind: str,
    campaign: Campaign,
    path: Path | str,
    format: str,
    run: GoldRun | None = None,
    real_ids: bool = False,
    actor: User | None = None,
    reason: str = "",
    progress: Callable[[int], None] | None = None,
    history: bool = False,
    force: bool = False,
) -> ExportSummary:
    """Write one table of a campaign to a file, with a sidecar that says how it was made.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    path : Path or str
        A file; a folder, in which the file gets its default name; or `-`, standard output, which
        leaves the sidecar to the caller.
    format : str
        One of `FORMATS`; the layouts of others hold segments and systems only.
    run : GoldRun, optional
        Which gold; the latest by default.
    real_ids : bool
        Whether workers appear under the ids their platforms know them by. Only an admin may ask
        for that, with a reason, and the audit log remembers it.
    progress : callable, optional
        Told the number of rows after each batch.
    history : bool
        Evidence after every HIT of a worker, not only the latest.
    force : bool
        Whether a file that is there may be replaced.

    Returns
    -------
    ExportSummary

    Raises
    ------
    ExportRefused
        Nothing was written, because this cannot be exported, or not to here, or not for them.
    ExportFailed
        Writing failed on the way; no part of the file is left.
    """
    order = _checked(_Order(kind, campaign, format, run, real_ids, history))
    target = None if str(path) == STANDARD_OUTPUT else _target(order, Path(path))
    if target is None and format == "parquet":
        raise ExportRefused("Parquet is no text: give it a file.")
    if target is not None and not force:
        refuse_to_overwrite(target)
    if real_ids:
        _record_real_ids(order, target, actor, reason)
    told = progress or (lambda n_rows: None)
    if target is None:
        with standard_output() as stream:
            return _write(order, stream, told, path=None)
    return _write_file(order, target, told, force=force)


def default_file_name(*, kind: str, campaign: Campaign, format: str) -> str:
    """Name a file after what is in it; mt-metrics-eval prescribes folder and name."""
    if format in layouts.MTME_SCORES:
        return layouts.mtme_file_name(kind, campaign, format)
    name = slugify(campaign.name) or campaign.code.hex
    return f"{name}.{kind}.{'txt' if format == 'published' else format}"


# --- what may be asked ----------------------------------------------------------------------------


def _checked(order: _Order) -> _Order:
    """Refuse what makes no sense, and settle which gold run it is."""
    kind, campaign, format = order.kind, order.campaign, order.format
    if kind not in KINDS:
        raise ExportRefused(f"{kind!r} is nothing to export. There are: {', '.join(KINDS)}.")
    if format not in FORMATS:
        raise ExportRefused(f"{format!r} is no format. There are: {', '.join(FORMATS)}.")
    if order.history and kind != "evidence":
        raise ExportRefused("Only evidence has a history.")
    if kind in GOLD_KINDS:
        if order.real_ids:
            raise ExportRefused(f"An export of {kind} holds no workers' ids.")
        return replace(order, run=_chosen_run(campaign, order.run))
    if format in LAYOUTS:
        raise ExportRefused(f"{format} holds scores of segments or systems, not {kind}.")
    if order.run is not None:
        raise ExportRefused(f"An export of {kind} does not come from a gold run.")
    return order


def _chosen_run(campaign: Campaign, run: GoldRun | None) -> GoldRun:
    run = run or campaign.gold_runs.newest()
    if run is None:
        raise ExportRefused(f"{campaign} has no gold yet: build it first.")
    if run.campaign_id != campaign.pk:
        raise ExportRefused(f"{run} is not of {campaign}.")
    return run


def _target(order: _Order, path: Path) -> Path:
    if not path.is_dir():
        return path
    return path / default_file_name(kind=order.kind, campaign=order.campaign, format=order.format)


def _record_real_ids(order: _Order, path: Path | None, actor: User | None, reason: str) -> None:
    """Remember who asked for real ids and why, before any of them leaves."""
    if actor is None or not (actor.is_active and actor.is_superuser):
        raise ExportRefused("Only an admin may export workers' real ids.")
    if not reason.strip():
        raise ExportRefused("Exporting workers' real ids needs a reason.")
    # Durable: were this inside a larger transaction, the entry could vanish and the file stay.
    with transaction.atomic(durable=True):
        record(
            "real ids exported",
            actor=actor,
            campaign=order.campaign,
            reason=reason.strip(),
            kind=order.kind,
            format=order.format,
            path=STANDARD_OUTPUT if path is None else str(path.absolute()),
        )


# --- writing --------------------------------------------------------------------------------------


def _write_file(
    order: _Order, path: Path, progress: Callable[[int], None], *, force: bool
) -> ExportSummary:
    """Write file and sidecar; both get their names at the end, or neither."""
    meta_path = meta_path_of(path)
    is_signed = False
    try:
        with new_file(path, force=force, is_private=order.real_ids) as file:
            summary = _write(order, file, progress, path=path)
            with new_file(meta_path, force=force, is_private=order.real_ids) as sidecar:
                sidecar.write(_as_json(summary.meta).encode())
            is_signed = True
    except BaseException:
        if is_signed:
            with suppress(OSError):
                meta_path.unlink()
        raise
    return summary


def _write(
    order: _Order, stream: BinaryIO, progress: Callable[[int], None], *, path: Path | None
) -> ExportSummary:
    columns, batches = _rows(order)
    meta = _meta(order, columns)
    out = HashingStream(stream)
    writer = _writer(order, out.as_file(), columns, meta)
    try:
        n_rows = _write_batches(batches, writer, _disguise(order, columns), progress)
    except BaseException:
        out.abandon()
        writer.abandon()
        raise
    meta |= {"n_rows": n_rows, "n_bytes": out.n_bytes, "sha256": out.sha256}
    return ExportSummary(path, n_rows, out.n_bytes, out.sha256, meta)


def _write_batches(
    batches: Generator[Batch, None, None],
    writer: writers.Writer,
    disguise: Callable[[Batch], Batch],
    progress: Callable[[int], None],
) -> int:
    n_rows = 0
    # Closed at once, also after an error: the database is not kept waiting for the collector.
    with closing(batches):
        for batch in batches:
            writer.write(disguise(batch))
            n_rows += len(batch[0])
            progress(len(batch[0]))
    writer.finish()
    return n_rows


def _rows(order: _Order) -> tuple[Sequence[Column], Generator[Batch, None, None]]:
    if order.run is None:
        query = (
            tables.ratings(order.campaign)
            if order.kind == "ratings"
            else tables.evidence(order.campaign, history=order.history)
        )
        return query.columns, read_batches(query)
    if order.format in layouts.MTME_SCORES:
        return layouts.mtme_rows(order.kind, order.run, layouts.MTME_SCORES[order.format][0])
    if order.format == "published":
        return layouts.published_rows(order.kind, order.run)
    if order.kind == "segments":
        query = tables.segments(order.run)
        return query.columns, read_batches(query)
    return ranking.COLUMNS, one_batch(ranking.ranking_rows(order.run))


def _writer(
    order: _Order, stream: BinaryIO, columns: Sequence[Column], meta: dict[str, Any]
) -> writers.Writer:
    if order.format == "parquet":
        return writers.ParquetWriter(stream, columns, {"da_platform": json.dumps(meta)})
    return _WRITERS[order.format](stream, columns)


def _disguise(order: _Order, columns: Sequence[Column]) -> Callable[[Batch], Batch]:
    """Make what replaces ids by pseudonyms in the columns that hold any."""
    if order.real_ids:
        return lambda batch: batch
    names = {
        place: Pseudonyms(order.campaign, column.kind.value)
        for place, column in enumerate(columns)
        if column.kind in {Kind.WORKER, Kind.ASSIGNMENT}
    }

    def disguise(batch: Batch) -> Batch:
        for place, pseudonyms in names.items():
            batch[place] = pseudonyms.names(batch[place])
        return batch

    return disguise


# --- how it was made ------------------------------------------------------------------------------


def _meta(order: _Order, columns: Sequence[Column]) -> dict[str, Any]:
    campaign = order.campaign
    meta: dict[str, Any] = {
        "export": order.kind,
        "format": order.format,
        "signature": _signature(order),
        "campaign": {
            "name": campaign.name,
            "code": str(campaign.code),
            "source_language": campaign.source_language,
            "target_language": campaign.target_language,
            "task": campaign.task,
        },
        "platform_version": __version__,
        "exported_at": timezone.now().isoformat(),
        "columns": {column.name: column.kind.value for column in columns},
    }
    if order.run is not None:
        return meta | _run_meta(order, order.run)
    ids = {"worker_ids": "real"}
    if not order.real_ids:
        ids = {"worker_ids": "pseudonyms", "pseudonym_key": key_fingerprint()}
    return meta | ids


def _run_meta(order: _Order, run: GoldRun) -> dict[str, Any]:
    return {
        "gold_run": {
            "number": run.number,
            "code": str(run.code),
            "method": run.method,
            "minimum": run.minimum,
            "created_at": run.created_at.isoformat(),
            "n_workers": run.n_workers,
            "n_workers_trusted": run.n_workers_trusted,
            "n_ratings": run.n_ratings,
            "signature": run.signature,
            "input_digest": run.input_digest,
        },
        "n_incomplete": _count_incomplete(run),
    }


def _count_incomplete(run: GoldRun) -> int:
    outputs = SystemOutput.objects.filter(system__campaign=run.campaign_id)
    complete = GoldScore.objects.filter(run=run, is_complete=True).values("translation_id")
    return outputs.exclude(translation_id__in=complete).count()


def _signature(order: _Order) -> str:
    facts: dict[str, object] = {"export": order.kind, "format": order.format}
    if order.run is not None:
        facts |= {"gold": order.run.number, "input": order.run.input_digest[:12]}
        if order.kind == "systems":
            facts |= {"sys": "mean-of-segments", "rank": "z", "test": "mann-whitney,greater"}
    elif order.kind == "evidence":
        facts["rows"] = "history" if order.history else "latest"
    if order.run is None:
        facts["ids"] = "real" if order.real_ids else "hmac-sha256"
    return signature(**facts)


def _as_json(meta: dict[str, Any]) -> str:
    return json.dumps(meta, ensure_ascii=False, indent=2) + "\n"
