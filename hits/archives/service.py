"""Import a collection: read and check the files, then store them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
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

from ..models import Assignment, Campaign, Participation, Translation
from .appraise import read_appraise
from .decisions import Decisions, Judgement, decide
from .mturk import read_mturk
from .pearmut import read_pearmut_annotations
from .rankings import RankedCollection, read_appraise_rankings, read_wmt_rankings
from .reading import file_name
from .records import MAX_ITEMS, Collection, LanguagePair
from .storing import Origin, Progress, store
from .storing_rankings import store_rankings
from .wmt_da import read_wmt_da

Reader = Callable[[Sequence[Path], LanguagePair, Problems], Collection]

READERS: dict[str, Reader] = {
    "mturk": read_mturk,
    "wmt-da": read_wmt_da,
    "appraise": read_appraise,
    "pearmut": read_pearmut_annotations,
}
# Collections of rankings, which have another task.
RANKING_READERS: dict[str, Callable[..., RankedCollection]] = {
    "appraise-rankings": read_appraise_rankings,
    "wmt-rankings": read_wmt_rankings,
}
FORMATS = (*READERS, *RANKING_READERS)


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """What was stored; `n_trusted` counts the workers whose ratings count towards gold."""

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

    Worker ids are unique within `worker_namespace`, by default the campaign's name: collections in
    the same namespace share their workers. `progress` is called with the number of ratings stored
    since the last call.
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
        degradation=Campaign.Degradation.PUBLISHED,
        trust_rule=Campaign.TrustRule.PUBLISHED,
        max_hits_per_worker=None,
        records_signals=False,
        is_archive=True,
    )
    _check_settings(campaign, worker_namespace, problems)
    pair = LanguagePair(source_language, target_language)
    if format in RANKING_READERS:
        namespace = name if worker_namespace is None else worker_namespace
        origin = Origin({"format": format, "files": _digests(paths)}, namespace, actor)
        return _import_rankings(
            campaign, paths, format, pair, judgement, origin, problems, progress
        )
    collection = _read(paths, format, pair, problems)
    namespace = name if worker_namespace is None else worker_namespace
    origin = Origin({"format": format, "files": _digests(paths)}, namespace, actor)
    _check(collection, origin, problems)
    decisions = decide(collection, judgement, problems)
    problems.refuse_if_any(ImportRefused)
    campaign.hit_size = max(len(hit.items) for hit in collection.hits)
    _store(campaign, collection, decisions, origin, progress)
    return _summary(campaign, collection)


def _import_rankings(
    campaign: Campaign,
    paths: Sequence[Path],
    format: str,
    pair: LanguagePair,
    judgement: Judgement,
    origin: Origin,
    problems: Problems,
    progress: Progress | None,
) -> CollectionSummary:
    try:
        collection = RANKING_READERS[format](paths, pair, problems)
    except OSError as error:
        problems.add(printable(str(error.filename or paths[0])), None, f"{error.strerror}")
        collection = RankedCollection()
    if not collection.hits and not problems.total:
        problems.add("", None, "these files contain no rankings of these languages")
    if not judgement.trusted:
        # There are no hidden outputs, so no evidence: WMT counted everyone.
        judgement = replace(judgement, trusts_all=True)
    decisions = decide(collection, judgement, problems)
    problems.refuse_if_any(ImportRefused)
    campaign.task = Campaign.Task.RANK
    campaign.hit_size = max(
        len(screens) for judged in collection.hits.values() for screens in judged.values()
    )
    n_ranks = store_rankings(campaign, collection, decisions, origin, progress)
    participations = Participation.objects.filter(campaign=campaign)
    return CollectionSummary(
        campaign=campaign,
        n_systems=campaign.systems.count(),
        n_segments=campaign.segments.count(),
        n_translations=Translation.objects.filter(segment__campaign=campaign).count(),
        n_hits=len(collection.hits),
        n_workers=participations.count(),
        n_trusted=participations.trusted().count(),
        n_assignments=Assignment.objects.filter(hit__campaign=campaign).count(),
        n_ratings=n_ranks,
        notes=_notes_on_rankings(collection),
    )


def _notes_on_rankings(collection: RankedCollection) -> list[str]:
    notes = [
        f"{collection.n_hits or len(collection.hits):,} HITs with {collection.n_tasks:,} ranking tasks, "
        f"{collection.n_empty:,} of them without outputs, left out",
        "the files contain no texts: segments and outputs have only names",
        "the files do not say when HITs were done: dates start on 1 January 1970",
    ]
    if collection.n_other_languages:
        notes.append(f"{collection.n_other_languages:,} HITs or rows of other languages, left out")
    return [*notes, *collection.notes]


def _read(paths: Sequence[Path], format: str, pair: LanguagePair, problems: Problems) -> Collection:
    if format not in READERS:
        problems.add(
            "", None, f"{format!r} is not a supported format; choose from {', '.join(FORMATS)}"
        )
        return Collection()
    if not paths:
        problems.add("", None, "no files were given")
        return Collection()
    try:
        return READERS[format](paths, pair, problems)
    except OSError as error:
        problems.add(printable(str(error.filename or paths[0])), None, f"{error.strerror}")
        return Collection()


def _check_settings(campaign: Campaign, worker_namespace: str | None, problems: Problems) -> None:
    n_before = problems.total
    for setting, value in (("name", campaign.name), ("worker namespace", worker_namespace)):
        if value is not None and (fault := fault_in_name(value)):
            problems.add("", None, f"{setting}: {fault}")
    try:
        # `full_clean` queries the database, which may not accept a faulty text.
        check = campaign.full_clean if problems.total == n_before else campaign.clean_fields
        check()
    except ValidationError as error:
        for setting, messages in error.message_dict.items():
            for message in messages:
                problems.add("", None, f"{setting}: {message}")


def _check(collection: Collection, origin: Origin, problems: Problems) -> None:
    if not collection.n_ratings and not problems.total:
        problems.add("", None, "these files contain no ratings")
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
                f"the name of worker {worker!r}, with the prefix {origin.worker_namespace!r}, "
                f"is longer than {MAX_NAME_LENGTH} characters",
            )


def _digests(paths: Sequence[Path]) -> dict[str, str]:
    """Return the SHA-256 of each readable file; the others are reported elsewhere."""
    digests = {}
    for path in paths:
        if path.is_file():
            try:
                with path.open("rb") as file:
                    digests[file_name(path)] = hashlib.file_digest(file, "sha256").hexdigest()
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
        # Another import may have taken the name since it was checked. Anything else is a bug.
        if not Campaign.objects.filter(name=campaign.name).exists():
            raise
        name_taken = Problem("", None, "name: Campaign with this Name already exists.")
        raise ImportRefused([name_taken], 1) from error


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
    notes = []
    if not collection.texts.outputs:
        notes.append("the files contain no texts: segments and translations have only names")
    if not collection.knows_dates:
        notes.append(
            "the files say how long HITs took but not when they were done: dates start on "
            "1 January 1970, and drift is not checked"
        )
    if not collection.knows_order:
        notes.append(
            "the files do not say in which order items were shown: positions follow the file, "
            "and runs of equal scores are not checked"
        )
    n_unpaired = sum(
        partner is None and item.role != Role.GENUINE
        for hit in collection.hits
        for item, partner in zip(hit.items, hit.partners(), strict=True)
    )
    if n_unpaired:
        notes.append(
            f"quality-control items without their genuine partner, which are not used: {n_unpaired:,}"
        )
    return [*notes, *collection.notes]
