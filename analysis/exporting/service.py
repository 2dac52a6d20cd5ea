"""Export a table of a campaign: check the request, write the file, record how it was made."""

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
from analysis.stats.signature import signature
from da_platform import __version__
from da_platform.extras import is_installed, missing_extra
from da_platform.files.destinations import (
    STANDARD_OUTPUT,
    HashingStream,
    meta_path_of,
    new_file,
    refuse_to_overwrite,
    standard_output,
)
from da_platform.files.errors import ExportRefused
from da_platform.files.pseudonyms import Pseudonyms, key_fingerprint
from hits.models import Campaign, SystemOutput
from hits.people.audit import record

from . import (
    documents,
    gold_ranking,
    layouts,
    likeness,
    looks,
    mtme_folder,
    pearmut,
    post_editions,
    queries,
    rankings,
    writers,
)
from .batches import Batch, one_batch, read_batches
from .metrics import METRIC_LEVELS, metric_rows
from .queries import Column, Kind

KINDS = (
    "ratings",
    "document-ratings",
    "rankings",
    "post-editions",
    "editor-agreement",
    "evidence",
    "signals",
    "reports",
    "answers",
    "likeness",
    "looks",
    "segments",
    "documents",
    "systems",
    "weights",
    *METRIC_LEVELS,
)
GOLD_KINDS = ("segments", "documents", "systems")
# What the formats of others can hold.
LAYOUT_KINDS = ("segments", "systems")
TABLE_FORMATS = ("csv", "tsv", "jsonl", "parquet")
LAYOUTS = (*layouts.MTME_SCORES, "published")
# Archives with a text file for each column.
EDIT_LAYOUTS = tuple(post_editions.LAYOUTS)
MTME_FOLDER, PEARMUT = "mtme-folder", "pearmut"
# Formats of one kind of export only.
KIND_OF_FORMAT = {
    **dict.fromkeys(EDIT_LAYOUTS, "post-editions"),
    MTME_FOLDER: "segments",
    PEARMUT: "ratings",
}
FORMATS = (*TABLE_FORMATS, *LAYOUTS, *KIND_OF_FORMAT)
_BINARY = ("parquet", *EDIT_LAYOUTS, MTME_FOLDER)

_QUERIES: dict[str, Callable[["_Request"], queries.Query]] = {
    "ratings": lambda request: queries.ratings(request.campaign),
    "document-ratings": lambda request: queries.document_ratings(request.campaign),
    "evidence": lambda request: queries.evidence(request.campaign, history=request.history),
    "signals": lambda request: queries.signals(request.campaign),
    "reports": lambda request: queries.reports(request.campaign),
    "answers": lambda request: queries.answers(request.campaign),
}
_WRITERS: dict[str, type[writers.Writer]] = {
    "csv": writers.CSVWriter,
    "tsv": writers.TSVWriter,
    "jsonl": writers.JSONLinesWriter,
    "mtme": writers.ScoreFileWriter,
    "mtme-raw": writers.ScoreFileWriter,
    "published": writers.PublishedWriter,
    PEARMUT: pearmut.PearmutWriter,
    MTME_FOLDER: writers.FolderWriter,
    **dict.fromkeys(post_editions.LAYOUTS, writers.ArchiveWriter),
}


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What was written and how it was made. `path` is None for standard output."""

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
        """Number of outputs with too few ratings for a score; None if the export has no scores."""
        return self.meta.get("n_incomplete")


@dataclass(frozen=True, slots=True)
class _Request:
    """What to export."""

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
        A file; a folder, in which the file gets its default name; or `-` for standard output, where
        there is no sidecar.
    format : str
        One of `FORMATS`. Those in `LAYOUTS` are for segments and systems only; `KIND_OF_FORMAT` says what the
        others are for.
    run : GoldRun, optional
        The gold run; by default, the latest.
    real_ids : bool
        Whether to include the real ids of workers. Only an admin may do this, with a reason, and
        it is recorded in the audit log.
    progress : callable, optional
        Called with the number of rows in each batch.
    history : bool
        Include the evidence after every HIT, not only the latest.
    force : bool
        Whether to replace an existing file.

    Returns
    -------
    ExportSummary

    Raises
    ------
    ExportRefused
        The request is not allowed or makes no sense. Nothing was written.
    ExportFailed
        Writing failed. No part of the file is left.
    """
    request = _checked(_Request(kind, campaign, format, run, real_ids, history))
    target = None if str(path) == STANDARD_OUTPUT else _target(request, Path(path))
    if target is None and format in _BINARY:
        raise ExportRefused(f"The format {format} is binary. Export it to a file.")
    if target is not None and not force:
        refuse_to_overwrite(target)
    if real_ids:
        _record_real_ids(request, target, actor, reason)
    report = progress or (lambda n_rows: None)
    if target is None:
        with standard_output() as stream:
            return _write(request, stream, report, path=None)
    return _write_file(request, target, report, force=force)


def default_file_name(*, kind: str, campaign: Campaign, format: str) -> str:
    """Name a file after its content; mt-metrics-eval prescribes folder and name."""
    if format in layouts.MTME_SCORES:
        return layouts.mtme_file_name(kind, campaign, format)
    name = slugify(campaign.name) or campaign.code.hex
    if format in EDIT_LAYOUTS:
        return f"{name}.{format}.zip"
    if format in KIND_OF_FORMAT:
        return f"{name}.{'mtme.zip' if format == MTME_FOLDER else 'pearmut.jsonl'}"
    return f"{name}.{kind}.{'txt' if format == 'published' else format}"


# --- checking -------------------------------------------------------------------------------------


def _checked(request: _Request) -> _Request:
    """Refuse a request that makes no sense, and fill in the gold run."""
    kind, campaign, format = request.kind, request.campaign, request.format
    if kind not in KINDS:
        raise ExportRefused(f"{kind!r} cannot be exported. Choose from: {', '.join(KINDS)}.")
    if format not in FORMATS:
        raise ExportRefused(
            f"{format!r} is not a supported format. Choose from: {', '.join(FORMATS)}."
        )
    if format == "parquet" and not is_installed("pyarrow"):
        raise ExportRefused(missing_extra("pandas"))
    if (only := KIND_OF_FORMAT.get(format, kind)) != kind:
        raise ExportRefused(f"The format {format} is for {only}, not for {kind}.")
    if request.real_ids and format in EDIT_LAYOUTS:
        raise ExportRefused(f"The format {format} does not contain worker ids.")
    if request.history and kind != "evidence":
        raise ExportRefused("Only an export of evidence can include the history.")
    if format in LAYOUTS and kind not in LAYOUT_KINDS:
        raise ExportRefused(f"The format {format} is for segments and systems, not for {kind}.")
    if kind == "weights":
        return replace(request, run=_weighted_run(campaign, request.run))
    if request.real_ids and kind in METRIC_LEVELS:
        raise ExportRefused(f"An export of {kind} does not contain worker ids.")
    if kind in GOLD_KINDS:
        if request.real_ids:
            raise ExportRefused(f"An export of {kind} does not contain worker ids.")
        return replace(request, run=_chosen_run(campaign, request.run))
    if request.run is not None:
        raise ExportRefused(f"An export of {kind} does not use a gold run.")
    return request


def _chosen_run(campaign: Campaign, run: GoldRun | None) -> GoldRun:
    run = run or campaign.gold_runs.newest()
    if run is None:
        raise ExportRefused(f"{campaign} has no gold yet. Build it first.")
    if run.campaign_id != campaign.pk:
        raise ExportRefused(f"{run} does not belong to {campaign}.")
    return run


def _weighted_run(campaign: Campaign, run: GoldRun | None) -> GoldRun:
    run = _chosen_run(campaign, run or campaign.gold_runs.weighted().newest())
    if run.method != GoldRun.Method.WEIGHTED:
        raise ExportRefused(f"{run} does not weigh workers. Build gold with the method weighted.")
    return run


def _target(request: _Request, path: Path) -> Path:
    if not path.is_dir():
        return path
    return path / default_file_name(
        kind=request.kind, campaign=request.campaign, format=request.format
    )


def _record_real_ids(request: _Request, path: Path | None, actor: User | None, reason: str) -> None:
    """Log who exports real ids and why, before any of them is written."""
    if actor is None or not (actor.is_active and actor.is_superuser):
        raise ExportRefused("Only an admin may export real worker ids.")
    if not reason.strip():
        raise ExportRefused("Give a reason for exporting real worker ids.")
    # Durable: if an outer transaction were rolled back, the log entry would vanish but not the file.
    with transaction.atomic(durable=True):
        record(
            "real ids exported",
            actor=actor,
            campaign=request.campaign,
            reason=reason.strip(),
            kind=request.kind,
            format=request.format,
            path=STANDARD_OUTPUT if path is None else str(path.absolute()),
        )


# --- writing --------------------------------------------------------------------------------------


def _write_file(
    request: _Request, path: Path, progress: Callable[[int], None], *, force: bool
) -> ExportSummary:
    """Write the file and its sidecar; either both appear at the end, or neither."""
    meta_path = meta_path_of(path)
    has_sidecar = False
    try:
        with new_file(path, force=force, is_private=request.real_ids) as file:
            summary = _write(request, file, progress, path=path)
            with new_file(meta_path, force=force, is_private=request.real_ids) as sidecar:
                sidecar.write(_as_json(summary.meta).encode())
            has_sidecar = True
    except BaseException:
        if has_sidecar:
            with suppress(OSError):
                meta_path.unlink()
        raise
    return summary


def _write(
    request: _Request, stream: BinaryIO, progress: Callable[[int], None], *, path: Path | None
) -> ExportSummary:
    columns, batches = _rows(request)
    meta = _meta(request, columns)
    out = HashingStream(stream)
    writer = _writer(request, out.as_file(), columns, meta)
    try:
        n_rows = _write_batches(batches, writer, _disguise(request, columns), progress)
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
    # Closed at once, even after an error, instead of waiting for the garbage collector.
    with closing(batches):
        for batch in batches:
            writer.write(disguise(batch))
            n_rows += len(batch[0])
            progress(len(batch[0]))
    writer.finish()
    return n_rows


def _rows(request: _Request) -> tuple[Sequence[Column], Generator[Batch, None, None]]:
    if request.kind in METRIC_LEVELS:
        columns, batch = metric_rows(request.kind, request.campaign)
        return columns, one_batch(batch)
    if request.format in EDIT_LAYOUTS:
        columns, batch = post_editions.edited_rows(request.campaign, request.format)
        return columns, one_batch(batch)
    if request.kind == "rankings":
        return rankings.table_rows(request.campaign)
    if request.kind == "post-editions":
        return post_editions.table_rows(request.campaign)
    if request.kind == "editor-agreement":
        rows = post_editions.agreement_rows(request.campaign)
        return post_editions.AGREEMENT_COLUMNS, one_batch(rows)
    if request.kind == "likeness":
        return likeness.COLUMNS, one_batch(likeness.likeness_rows(request.campaign))
    if request.kind == "looks":
        return looks.COLUMNS, one_batch(looks.look_rows(request.campaign))
    if request.format == PEARMUT:
        query = pearmut.pearmut_ratings(request.campaign)
        return query.columns, read_batches(query)
    if request.run is None:
        query = _QUERIES[request.kind](request)
        return query.columns, read_batches(query)
    if request.format == MTME_FOLDER:
        return mtme_folder.COLUMNS, one_batch(mtme_folder.folder_rows(request.run))
    if request.format in layouts.MTME_SCORES:
        return layouts.mtme_rows(request.kind, request.run, layouts.MTME_SCORES[request.format][0])
    if request.format == "published":
        return layouts.published_rows(request.kind, request.run)
    if request.kind == "weights":
        query = queries.weights(request.run)
        return query.columns, read_batches(query)
    if request.kind == "segments":
        query = queries.segments(request.run)
        return query.columns, read_batches(query)
    if request.kind == "documents":
        return documents.COLUMNS, one_batch(documents.document_columns(request.run))
    return gold_ranking.COLUMNS, one_batch(gold_ranking.ranking_rows(request.run))


def _writer(
    request: _Request, stream: BinaryIO, columns: Sequence[Column], meta: dict[str, Any]
) -> writers.Writer:
    if request.format == "parquet":
        return writers.ParquetWriter(stream, columns, {"da_platform": json.dumps(meta)})
    return _WRITERS[request.format](stream, columns)


def _disguise(request: _Request, columns: Sequence[Column]) -> Callable[[Batch], Batch]:
    """Return a function that replaces ids with pseudonyms in a batch."""
    if request.real_ids:
        return lambda batch: batch
    pseudonyms_of = {
        place: Pseudonyms(request.campaign.code, column.kind.value)
        for place, column in enumerate(columns)
        if column.kind in {Kind.WORKER, Kind.ASSIGNMENT}
    }

    def disguise(batch: Batch) -> Batch:
        for place, pseudonyms in pseudonyms_of.items():
            batch[place] = pseudonyms.names(batch[place])
        return batch

    return disguise


# --- the sidecar ----------------------------------------------------------------------------------


def _meta(request: _Request, columns: Sequence[Column]) -> dict[str, Any]:
    campaign = request.campaign
    meta: dict[str, Any] = {
        "export": request.kind,
        "format": request.format,
        "signature": _signature(request),
        "campaign": {
            "name": campaign.name,
            "code": str(campaign.code),
            "source_language": campaign.source_language,
            "target_language": campaign.target_language,
            "task": campaign.task,
            "degradation": campaign.degradation,
            "trust_rule": campaign.trust_rule,
            "drift": campaign.drift,
        },
        "platform_version": __version__,
        "exported_at": timezone.now().isoformat(),
        "columns": {column.name: column.kind.value for column in columns},
    }
    if request.run is not None:
        return meta | _run_meta(request, request.run)
    if request.kind in METRIC_LEVELS:
        return meta | {"metrics": _metric_facts(request)}
    ids = {"worker_ids": "real"}
    if not request.real_ids:
        ids = {"worker_ids": "pseudonyms", "pseudonym_key": key_fingerprint()}
    return meta | ids


def _run_meta(request: _Request, run: GoldRun) -> dict[str, Any]:
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


def _metric_facts(request: _Request) -> list[dict[str, Any]]:
    """Where the scores of each metric come from, and how they were computed."""
    metrics = request.campaign.metrics.at_level(METRIC_LEVELS[request.kind]).order_by("name")
    names = ("name", "origin", "higher_is_better", "file_name", "sha256", "signature")
    return list(metrics.values(*names))


def _count_incomplete(run: GoldRun) -> int:
    outputs = SystemOutput.objects.to_rate(run.campaign)
    complete = GoldScore.objects.filter(run=run, is_complete=True).values("translation_id")
    return outputs.exclude(translation_id__in=complete).count()


def _signature(request: _Request) -> str:
    facts: dict[str, object] = {"export": request.kind, "format": request.format}
    if request.run is not None:
        facts |= {"gold": request.run.number, "input": request.run.input_digest[:12]}
        if request.kind == "documents":
            facts["doc"] = "mean-of-segments"
        if request.kind == "systems":
            facts |= {"sys": request.run.system_estimate, "rank": "z", "test": request.run.test}
    elif request.kind == "evidence":
        facts["rows"] = "history" if request.history else "latest"
    if request.run is None and request.kind not in METRIC_LEVELS:
        facts["ids"] = "real" if request.real_ids else "hmac-sha256"
    return signature(**facts)


def _as_json(meta: dict[str, Any]) -> str:
    return json.dumps(meta, ensure_ascii=False, indent=2) + "\n"
