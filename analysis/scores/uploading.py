"""Files that people send with a form: read in full, refused with every problem at once, or stored whole."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TypeVar, cast

import numpy as np
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction

from hits.audit import record
from hits.importing.files import printable
from hits.importing.problems import Problems
from hits.models import Campaign

from ..evaluating.files import texts_in, with_documents
from ..evaluating.rows import Texts
from ..models import GoldUpload, Metric
from ..plain import known_list
from .errors import ScoresRefused, refuse_if_any
from .files import MAX_FILE_BYTES, RawFile
from .gold import read_gold
from .reading import ScoreFile, read_scores, without_ranks
from .storing import Home, campaign_keys, home_fields, store_score_file
from .table import GoldKind, GoldTable, Level, shown

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading:
    """What files do not say of themselves, and whether to keep rankings that stand beside scores."""

    format: str | None = None
    name: str | None = None
    directions: Mapping[str, bool] | None = None
    system: str = ""
    only: Mapping[str, str] | None = None
    ranks: bool = False


def raw_files(uploads: Iterable[UploadedFile]) -> list[RawFile]:
    """Take files out of a form, no more of them together than may be in memory."""
    left = MAX_FILE_BYTES
    found = []
    for upload in uploads:
        name = printable(PurePath(upload.name or "scores").name)[:255]
        content = upload.read(left + 1)
        left -= len(content)
        if left < 0:
            problems = Problems()
            problems.add(
                name,
                None,
                f"goes beyond {MAX_FILE_BYTES:,} bytes for all files together; upload them in parts",
            )
            refuse_if_any(problems)
        found.append(RawFile(name, content))
    return found


def read_uploaded_scores(source: Path | RawFile, reading: Reading) -> ScoreFile:
    """Read a file as it is to be stored: every way in leaves out the same."""
    found = read_scores(
        source,
        format=reading.format,
        name=reading.name,
        directions=reading.directions,
        system=reading.system,
        only=reading.only,
    )
    return found if reading.ranks else without_ranks(found)


def store_uploaded_scores(
    *,
    files: Sequence[RawFile],
    home: Home,
    reading: Reading | None = None,
    replace: bool = False,
    uploaded_by: User | None = None,
) -> list[Metric]:
    """Store the metrics of all files, or none of them.

    Parameters
    ----------
    files : sequence of RawFile
    home : Campaign or ScoreCollection
    reading : Reading, optional
    replace : bool
        Whether other scores of a metric may be put in place of those there are.
    uploaded_by : User, optional

    Returns
    -------
    list of Metric
        Those whose direction no file declares have none until somebody confirms it.

    Raises
    ------
    ScoresRefused
        With what is wrong in any of the files.
    """
    how = reading or Reading()
    read_files = _each(files, lambda raw: read_uploaded_scores(raw, how))

    def store(pair: tuple[RawFile, ScoreFile]) -> list[Metric]:
        raw, found = pair
        return store_score_file(
            file=found,
            file_name=raw.name,
            home=home,
            uploaded_by=uploaded_by,
            replace=replace,
        )

    with transaction.atomic():
        stored = _each(list(zip(files, read_files, strict=True)), store)
    return [metric for metrics in stored for metric in metrics]


def _each(things: Sequence[Any], act: Callable[[Any], T]) -> list[T]:
    """Do it with each, and refuse afterwards with everything that was wrong."""
    problems = Problems()
    done = []
    for thing in things:
        try:
            done.append(act(thing))
        except ScoresRefused as refusal:
            for one in refusal.problems:
                problems.add(one.file, one.line, one.reason)
            problems.total += refusal.n_problems - len(refusal.problems)
    if not things:
        problems.add("", None, "no file was chosen")
    refuse_if_any(problems)
    return done


# Gold -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GoldReading:
    """What files of gold do not say of themselves. Which way it goes is never guessed."""

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
    """Store gold from elsewhere, all files or none.

    Parameters
    ----------
    files : sequence of RawFile
    home : Campaign or ScoreCollection
        Of a campaign: gold of nothing but its outputs, though not of all of them.
    reading : GoldReading
    documents, texts : RawFile, optional
        The document, and a text, of each segment: a line each, in the order of the gold's segments.
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

    read_files = _each(files, read)
    with transaction.atomic():
        return _each(
            read_files,
            lambda found: _store_gold(_upload(found, home, uploaded_by), replace=replace),
        )


def _check_known(gold: GoldTable, campaign: Campaign) -> None:
    problems = Problems()
    known = set(campaign_keys(campaign, gold.level))
    for key in gold.keys:
        if key not in known:
            problems.add(gold.name, None, f"the campaign has no {shown(key)}")
    refuse_if_any(problems)


def _upload(
    found: tuple[RawFile, GoldTable, Texts | None], home: Home, uploaded_by: User | None
) -> GoldUpload:
    raw, gold, texts = found
    is_known = ~np.isnan(gold.scores)
    return GoldUpload(
        **home_fields(home),
        name=gold.name,
        kind=gold.kind,
        level=gold.level,
        higher_is_better=gold.higher_is_better,
        file_name=raw.name,
        sha256=gold.sha256,
        signature=gold.signature,
        n_scores=int(is_known.sum()),
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
    namesakes = GoldUpload.objects.filter(
        campaign=upload.campaign,
        collection=upload.collection,
        name=upload.name,
        level=upload.level,
    )
    there = namesakes.first()
    if there is not None:
        if _are_same(there, upload):
            return there
        if not replace:
            raise _gold_is_there(upload)
        there.delete()
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
    except IntegrityError:
        # Somebody stored it at the same moment.
        raise _gold_is_there(upload) from None
    record(
        "gold_uploaded",
        actor=upload.uploaded_by,
        campaign=upload.campaign,
        gold=upload.name,
        level=upload.level,
        higher_is_better=upload.higher_is_better,
        sha256=upload.sha256,
        replaced=there is not None,
    )
    return upload


def _are_same(one: GoldUpload, other: GoldUpload) -> bool:
    fields = ("kind", "higher_is_better", "sha256", "signature", "table")
    return all(getattr(one, name) == getattr(other, name) for name in fields)


def _gold_is_there(upload: GoldUpload) -> ScoresRefused:
    problems = Problems()
    problems.add(
        upload.file_name,
        None,
        f"there is other gold of {upload.level}s named {upload.name} already; replace it, or give "
        "this another name",
    )
    return ScoresRefused(problems.listed, problems.total)


def uploaded_gold(upload: GoldUpload) -> GoldTable:
    """Return stored gold as it was read."""
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
    """Return how long the segments of stored gold are, if that was uploaded too."""
    lengths = upload.table["lengths"]
    return None if lengths is None else Texts(lengths, upload.table["unit"])
