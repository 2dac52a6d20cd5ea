"""The one way in: read, check, and only then store."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from analysis.stats.roles import Role
from analysis.stats.thresholds import MINIMUM_RATINGS
from da_platform.files.problems import Problem, Problems
from da_platform.files.reading import printable
from da_platform.files.texts import MAX_NAME_LENGTH, fault_in_name
from hits.exceptions import ImportRefused

from ..models import Campaign, Participation
from .appraise import read_appraise
from .decisions import Decisions, Judgement, decide
from .mturk import read_mturk
from .reading import shown
from .records import MAX_ITEMS, Collection, LanguagePair
from .storing import Origin, Progress, store
from .wmt_da import read_wmt_da

Reader = Callable[[Sequence[Path], LanguagePair, Problems], Collection]

READERS: dict[str, Reader] = {
    "mturk": read_mturk,
    "wmt-da": read_wmt_da,
    "appraise": read_appraise,
}
FORMATS = tuple(READERS)


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """What was stored; `n_trusted` counts workers whose ratings make gold."""

    campaign: Campaign
    n_systems: int
    n_segments: int
    n_translations: int
    n_hits: int
    n_workers: int
    n_trusted: int
    n_assignments: int
    n_ratings: int
    notes: list[str] = field(default_factory=list)


def import_collection(
    *,
    paths: Sequence[Path],
    format: str,
    name: str,
    source_language: str,
    target_language: str,
    task: str = Campaign.Task.REFERENCE_ADEQUACY,
    min_ratings: int = MINIMUM_RATINGS,
    worker_namespace: str | None = None,
    judgement: Judgement | None = None,
    actor: User | None = None,
    progress: Progress | None = None,
) -> CollectionSummary:
    """Store a finished collection as a closed campaign, or raise `ImportRefused` and store nothing.

    Workers are known by their id within `worker_namespace`, which is the campaign's name unless
    given: collections that share one share their workers. `progress` is called with the number of
    ratings stored since the last call.
    """
    problems = Problems()
    judgement = judgement or Judgement()
    campaign = Campaign(
        name=name,
        source_language=source_language,
        target_language=target_language,
        task=task,
        min_ratings=min_ratings,
        status=Campaign.Status.CLOSED,
        is_archive=True,
    )
    _check_settings(campaign, worker_namespace, problems)
    pair = LanguagePair(source_language, target_language)
    collection = _read(paths, format, pair, problems)
    namespace = name if worker_namespace is None else worker_namespace
    origin = Origin({"format": format, "files": _digests(paths)}, namespace, actor)
    _check(collection, origin, problems)
    decisions = decide(collection, judgement, problems)
    problems.refuse_if_any(ImportRefused)
    campaign.hit_size = max(len(hit.items) for hit in collection.hits)
    _store(campaign, collection, decisions, origin, progress)
    return _summary(campaign, collection)


def _read(paths: Sequence[Path], format: str, pair: LanguagePair, problems: Problems) -> Collection:
    if format not in READERS:
        problems.add("", None, f"{format!r} is not a format; there are {', '.join(FORMATS)}")
        return Collection()
    if not paths:
        problems.add("", None, "no files were given")
        return Collection()
    try:
        return READERS[format](paths, pair, problems)
    except OSError as error:
        # A disk that fails half-way.
        problems.add(printable(str(error.filename or paths[0])), None, f"{error.strerror}")
        return Collection()


def _check_settings(campaign: Campaign, worker_namespace: str | None, problems: Problems) -> None:
    n_before = problems.total
    for setting, value in (("name", campaign.name), ("worker namespace", worker_namespace)):
        if value is not None and (fault := fault_in_name(value)):
            problems.add("", None, f"{setting}: {fault}")
    try:
        # The database is not asked about texts that it may be unable to read.
        check = campaign.full_clean if problems.total == n_before else campaign.clean_fields
        check()
    except ValidationError as error:
        for setting, messages in error.message_dict.items():
            for message in messages:
                problems.add("", None, f"{setting}: {message}")


def _check(collection: Collection, origin: Origin, problems: Problems) -> None:
    if not collection.n_ratings and not problems.total:
        problems.add("", None, "there is not one rating in these files")
    for number, hit in enumerate(collection.hits, start=1):
        if len(hit.items) > MAX_ITEMS:
            problems.add(
                "", None, f"HIT {number} has {len(hit.items):,} items, more than {MAX_ITEMS:,}"
            )
    for worker in collection.workers:
        if len(origin.external_id(worker)) > MAX_NAME_LENGTH:
            problems.add(
                "",
                None,
                f"the name of worker {worker!r}, with {origin.worker_namespace!r} before it, "
                f"is longer than {MAX_NAME_LENGTH} characters",
            )


def _digests(paths: Sequence[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file that can be read; one that cannot is reported elsewhere."""
    digests = {}
    for path in paths:
        if path.is_file():
            try:
                with path.open("rb") as file:
                    digests[shown(path)] = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:
                continue
    return digests


def _store(
    campaign: Campaign,
    collection: Collection,
    decisions: Decisions,
    origin: Origin,
    progress: Progress | None,
) -> None:
    try:
        store(campaign, collection, decisions, origin, progress)
    except IntegrityError as error:
        # Another import may have taken the name since it was checked. Anything else is a fault here.
        if not Campaign.objects.filter(name=campaign.name).exists():
            raise
        taken = Problem("", None, "name: Campaign with this Name already exists.")
        raise ImportRefused([taken], 1) from error


def _summary(campaign: Campaign, collection: Collection) -> CollectionSummary:
    items = {(item.system, item.segment) for hit in collection.hits for item in hit.items}
    participations = Participation.objects.filter(campaign=campaign)
    return CollectionSummary(
        campaign=campaign,
        n_systems=len({system for system, _ in items}),
        n_segments=len({segment for _, segment in items}),
        n_translations=len(items),
        n_hits=len(collection.hits),
        n_workers=participations.count(),
        n_trusted=participations.trusted().count(),
        n_assignments=len(collection.assignments),
        n_ratings=collection.n_ratings,
        notes=_notes(collection),
    )


def _notes(collection: Collection) -> list[str]:
    notes = ["the files hold no texts: segments and translations are known by their names only"]
    if not collection.knows_dates:
        notes.append(
            "the files say how long HITs took but not when: they are dated from 1 January 1970 on, "
            "and nobody can be found drifting"
        )
    if not collection.knows_order:
        notes.append(
            "the files do not say in which order items were shown: positions follow the file, "
            "and runs of equal scores are not looked for"
        )
    n_alone = sum(
        partner is None and item.role != Role.GENUINE
        for hit in collection.hits
        for item, partner in zip(hit.items, hit.partners(), strict=True)
    )
    if n_alone:
        notes.append(
            f"quality-control items whose genuine partner is not there, and which prove nothing: {n_alone:,}"
        )
    return [*notes, *collection.notes]
