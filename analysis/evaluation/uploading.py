"""Store uploaded files of scores, gold and judgements, all of them or none."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TypeVar, cast

import numpy as np
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction

from da_platform.files.problems import Problems
from da_platform.files.reading import printable
from da_platform.numbers import known_list
from hits.models import Campaign
from hits.people.audit import record

from ..models import GoldRun, GoldUpload, JudgementUpload, Metric
from ..scores.errors import ScoresRefused, refuse_if_any
from ..scores.gold_tables import read_gold
from ..scores.raw_files import MAX_FILE_BYTES, RawFile
from ..scores.reading import ScoreFile, read_scores, without_ranks
from ..scores.score_tables import GoldKind, GoldTable, Level, shown
from ..scores.storing import Home, campaign_keys, home_fields, store_score_file
from .aligned_rows import Texts
from .from_files import texts_in, with_documents
from .preferences import COLUMNS, read_judgements
from .results import Judgement, JudgementTable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read score files. `ranks` keeps rankings submitted with scores."""

    format: str | None = None
    name: str | None = None
    directions: Mapping[str, bool] | None = None
    system: str = ""
    only: Mapping[str, str] | None = None
    ranks: bool = False


def raw_files(uploads: Iterable[UploadedFile]) -> list[RawFile]:
    """Read uploaded files, with a limit on their total size."""
    bytes_left = MAX_FILE_BYTES
    files = []
    for upload in uploads:
        name = printable(PurePath(upload.name or "scores").name)[:255]
        content = upload.read(bytes_left + 1)
        bytes_left -= len(content)
        if bytes_left < 0:
            problems = Problems()
            problems.add(
                name,
                None,
                f"exceeds the limit of {MAX_FILE_BYTES:,} bytes for all files together; upload fewer at once",
            )
            refuse_if_any(problems)
        files.append(RawFile(name, content))
    return files


def read_uploaded_scores(source: Path | RawFile, reading: Reading) -> ScoreFile:
    """Read a score file, without its rankings unless `reading.ranks` is set."""
    file = read_scores(
        source,
        format=reading.format,
        name=reading.name,
        directions=reading.directions,
        system=reading.system,
        only=reading.only,
    )
    return file if reading.ranks else without_ranks(file)


def store_uploaded_scores(
    *,
    files: Sequence[RawFile],
    home: Home,
    reading: Reading | None = None,
    replace: bool = False,
    uploaded_by: User | None = None,
) -> list[Metric]:
    """Store the metrics of all files, or none.

    Parameters
    ----------
    files : sequence of RawFile
    home : Campaign or ScoreCollection
    reading : Reading, optional
    replace : bool
        Whether existing scores of a metric may be replaced.
    uploaded_by : User, optional

    Returns
    -------
    list of Metric
        Without a direction unless their file declares one.

    Raises
    ------
    ScoresRefused
        Listing the problems of all files.
    """
    settings = reading or Reading()
    read_files = _each(files, lambda raw: read_uploaded_scores(raw, settings))

    def store(pair: tuple[RawFile, ScoreFile]) -> list[Metric]:
        raw, file = pair
        return store_score_file(
            file=file,
            file_name=raw.name,
            home=home,
            uploaded_by=uploaded_by,
            replace=replace,
        )

    with transaction.atomic():
        stored = _each(list(zip(files, read_files, strict=True)), store)
    return [metric for metrics in stored for metric in metrics]


def _each(files: Sequence[Any], act: Callable[[Any], T]) -> list[T]:
    """Call a function for each file, and then raise all refusals as one."""
    problems = Problems()
    results = []
    for file in files:
        try:
            results.append(act(file))
        except ScoresRefused as refusal:
            for problem in refusal.problems:
                problems.add(problem.file, problem.line, problem.reason)
            problems.total += refusal.n_problems - len(refusal.problems)
    if not files:
        problems.add("", None, "no file was chosen")
    refuse_if_any(problems)
    return results


# Gold -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GoldReading:
    """How to read gold files. The direction is never guessed."""

    kind: GoldKind
    higher_is_better: bool
    format: str | None = None
    name: str | None = None
    column: str | None = None
    system: str = ""
    only: Mapping[str, str] | None = None


def store_uploaded_gold(
    *,
    files: Sequence[RawFile],
    home: Home,
    reading: GoldReading,
    documents: RawFile | None = None,
    texts: RawFile | None = None,
    replace: bool = False,
    uploaded_by: User | None = None,
) -> list[GoldUpload]:
    """Store the gold in all files, or none.

    Parameters
    ----------
    files : sequence of RawFile
    home : Campaign or ScoreCollection
        Gold for a campaign may cover only its own outputs, but need not cover all of them.
    reading : GoldReading
    documents, texts : RawFile, optional
        The document and the text of each segment, one per line, in the order of the gold.
    replace : bool
    uploaded_by : User, optional

    Returns
    -------
    list of GoldUpload

    Raises
    ------
    ScoresRefused
    """

    def read(raw: RawFile) -> tuple[RawFile, GoldTable, Texts | None]:
        gold = read_gold(
            raw,
            kind=reading.kind,
            higher_is_better=reading.higher_is_better,
            format=reading.format,
            name=reading.name,
            column=reading.column,
            system=reading.system,
            only=reading.only or {},
        )
        if isinstance(home, Campaign):
            _check_known(gold, home)
        if documents is not None:
            gold = with_documents(gold, documents)
        return raw, gold, None if texts is None else texts_in(texts, [gold])

    def store(parts: tuple[RawFile, GoldTable, Texts | None]) -> GoldUpload:
        upload = _upload(*parts, home, uploaded_by)
        return _store_gold(upload, replace=replace)

    read_files = _each(files, read)
    with transaction.atomic():
        return _each(read_files, store)


@transaction.atomic
def store_gold_table(
    *,
    gold: GoldTable,
    home: Home,
    file_name: str,
    texts: Sequence[str] | None = None,
    run: GoldRun | None = None,
    replace: bool = False,
    uploaded_by: User | None = None,
) -> GoldUpload:
    """Store gold that was computed, from a file or from another campaign.

    Parameters
    ----------
    gold : GoldTable
    home : Campaign or ScoreCollection
    file_name : str
    texts : sequence of str, optional
        A text to show next to each score: the post-edition it was computed from, or the own reference it was rated against.
    run : GoldRun, optional
        The gold of another campaign that it repeats, whose ratings can be shown.
    replace : bool
    uploaded_by : User, optional

    Returns
    -------
    GoldUpload
        The existing one if it is the same.

    Raises
    ------
    ScoresRefused
        If there is other gold of this name and `replace` is not set.
    """
    upload = _upload(RawFile(file_name, b""), gold, None, home, uploaded_by)
    if texts is not None:
        upload.table["text"] = list(texts)
    if run is not None:
        upload.table["run"] = str(run.code)
    return _store_gold(upload, replace=replace)


def _check_known(gold: GoldTable, campaign: Campaign) -> None:
    problems = Problems()
    keys = set(campaign_keys(campaign, gold.level))
    for key in gold.keys:
        if key not in keys:
            problems.add(gold.name, None, f"the campaign has no {shown(key)}")
    refuse_if_any(problems)


def _upload(
    raw: RawFile, gold: GoldTable, texts: Texts | None, home: Home, uploaded_by: User | None
) -> GoldUpload:
    return GoldUpload(
        **home_fields(home),
        name=gold.name,
        kind=gold.kind,
        level=gold.level,
        higher_is_better=gold.higher_is_better,
        file_name=raw.name,
        sha256=gold.sha256,
        signature=gold.signature,
        n_scores=int((~np.isnan(gold.scores)).sum()),
        table={
            "system": [system for system, _ in gold.keys],
            "segment": [segment for _, segment in gold.keys],
            "score": known_list(gold.scores),
            "document": None if gold.documents is None else list(gold.documents),
            "lengths": None if texts is None else dict(texts.lengths),
            "unit": "" if texts is None else texts.unit,
        },
        uploaded_by=uploaded_by,
    )


def _store_gold(upload: GoldUpload, *, replace: bool) -> GoldUpload:
    existing = GoldUpload.objects.filter(
        campaign=upload.campaign,
        collection=upload.collection,
        name=upload.name,
        level=upload.level,
    ).first()
    if existing is not None:
        if _are_same(existing, upload):
            return existing
        if not replace:
            raise _name_is_taken(upload)
        existing.delete()
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
    except IntegrityError:
        # Another request stored gold of this name at the same time.
        raise _name_is_taken(upload) from None
    record(
        "gold_uploaded",
        actor=upload.uploaded_by,
        campaign=upload.campaign,
        gold=upload.name,
        level=upload.level,
        higher_is_better=upload.higher_is_better,
        sha256=upload.sha256,
        replaced=existing is not None,
    )
    return upload


def _are_same(first: GoldUpload, second: GoldUpload) -> bool:
    fields = ("kind", "higher_is_better", "sha256", "signature", "table")
    return all(getattr(first, name) == getattr(second, name) for name in fields)


def _name_is_taken(upload: GoldUpload) -> ScoresRefused:
    problems = Problems()
    problems.add(
        upload.file_name,
        None,
        f"different {upload.level} gold named {upload.name} already exists; replace it, or give this "
        "another name",
    )
    return ScoresRefused(problems.listed, problems.total)


def uploaded_gold(upload: GoldUpload) -> GoldTable:
    """Load stored gold."""
    table = upload.table
    level: Level = "segment" if upload.level == Metric.Level.SEGMENT else "system"
    scores = [math.nan if score is None else score for score in table["score"]]
    return GoldTable(
        name=upload.name,
        kind=cast(GoldKind, upload.kind),
        level=level,
        keys=tuple(zip(table["system"], table["segment"], strict=True)),
        scores=np.array(scores, dtype=np.float64),
        higher_is_better=upload.higher_is_better,
        signature=upload.signature,
        documents=None if table["document"] is None else tuple(table["document"]),
        sha256=upload.sha256,
    )


def uploaded_texts(upload: GoldUpload) -> Texts | None:
    """Return the segment lengths of stored gold, if its texts were uploaded."""
    lengths = upload.table["lengths"]
    return None if lengths is None else Texts(lengths, upload.table["unit"])


# Judgements -----------------------------------------------------------------------------------


def store_uploaded_judgements(
    *, file: RawFile, home: Home, uploaded_by: User | None = None
) -> JudgementUpload:
    """Store judgements, or return those already stored from the same file.

    Raises
    ------
    ScoresRefused
        If the file is malformed, or judges a translation that the campaign does not have.
    """
    judgements = read_judgements(file)
    if isinstance(home, Campaign):
        _check_judged(judgements, home)
    columns = ("segment", *COLUMNS)
    upload, is_new = JudgementUpload.objects.get_or_create(
        **home_fields(home),
        sha256=judgements.sha256,
        defaults={
            "file_name": judgements.name,
            "n_judgements": len(judgements.rows),
            "table": {name: [getattr(row, name) for row in judgements.rows] for name in columns},
            "uploaded_by": uploaded_by,
        },
    )
    if is_new:
        record(
            "judgements_uploaded",
            actor=uploaded_by,
            campaign=upload.campaign,
            file=upload.file_name,
            n_judgements=upload.n_judgements,
            sha256=upload.sha256,
        )
    return upload


def _check_judged(judgements: JudgementTable, campaign: Campaign) -> None:
    problems = Problems()
    judged = ((name, row.segment) for row in judgements.rows for name in (row.better, row.worse))
    keys = set(campaign_keys(campaign, "segment"))
    for key in dict.fromkeys(judged):
        if key not in keys:
            problems.add(judgements.name, None, f"the campaign has no {shown(key)}")
    refuse_if_any(problems)


def uploaded_judgements(upload: JudgementUpload) -> JudgementTable:
    """Load stored judgements."""
    columns = [upload.table[name] for name in ("segment", *COLUMNS)]
    rows = tuple(Judgement(*row) for row in zip(*columns, strict=True))
    return JudgementTable(upload.file_name, rows, upload.sha256)
