"""Import a campaign: read and check the files, then store them."""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from da_platform.exceptions import TooMuch
from da_platform.files.mending import ENCODINGS, Mend, Mender
from da_platform.files.problems import Problem, Problems
from da_platform.files.reading import printable
from da_platform.files.texts import fault_in_name, fault_in_text
from hits.exceptions import ImportRefused, QuestionsRefused

from ...models import Campaign, ImportReport
from ...people.audit import record
from ...questionnaires.questions import read_questionnaire
from ...task_facts import kinds, usual_settings
from .detection import find_reader
from .records import Draft, ReadingOptions
from .storing import store


class CampaignSettings(TypedDict, total=False):
    """Fields of a campaign that have a default."""

    hit_size: int
    min_ratings: int
    sample_size: int | None
    sample_choice: str
    seed: int
    shows: str
    presentation: str
    run_length: int
    scores_documents: bool
    outputs_per_screen: int
    instructions: str
    pay_per_hit: Decimal
    currency: str
    merges_near_identical: bool
    lease_minutes: int
    run_by: str
    contact: str
    interface_language: str
    spending_cap: Decimal
    degradation: str
    shows_gray_references: bool
    trust_rule: str
    drift: str
    max_hits_per_worker: int | None
    records_signals: bool
    has_canary: bool
    is_example: bool


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What was stored; `n_outputs` counts every system's outputs, `n_translations` distinct ones.

    `n_mends` counts what was mended in the files, `mends` lists it up to a limit.
    """

    campaign: Campaign
    n_systems: int
    n_segments: int
    n_translations: int
    n_outputs: int
    notes: list[str] = field(default_factory=list)
    n_mends: int = 0
    mends: list[Mend] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """What the checked files contain."""

    systems: list[str]
    n_segments: int
    n_outputs: int
    has_second_references: bool
    notes: list[str]
    n_mends: int
    mends: list[Mend]


def import_campaign(
    *,
    path: Path,
    name: str,
    source_language: str,
    target_language: str,
    task: str = Campaign.Task.REFERENCE_ADEQUACY,
    format: str | None = None,
    reference: str | None = None,
    second_reference: str | None = None,
    allow_empty_translations: bool = False,
    allow_missing_translations: bool = False,
    ignore_columns: Iterable[str] = (),
    clean: bool = False,
    encoding: str = "",
    progress: Callable[[int], object] | None = None,
    **settings: Unpack[CampaignSettings],
) -> ImportSummary:
    """Store a new campaign with all of its texts, or raise `ImportRefused` and store nothing.

    `clean` mends byte order marks, line ends and control characters and normalises texts to NFC;
    `encoding` is how to read what is not UTF-8. What was mended is kept in the campaign's import
    report. `progress` is called with the number of outputs stored since the last call.
    """
    problems = Problems()
    campaign, options = _begin(
        problems,
        name=name,
        source_language=source_language,
        target_language=target_language,
        task=task,
        reference=reference,
        second_reference=second_reference,
        allow_empty_translations=allow_empty_translations,
        allow_missing_translations=allow_missing_translations,
        ignore_columns=ignore_columns,
        clean=clean,
        encoding=encoding,
        **settings,
    )
    with closing(_read(path, format, options, problems)) as draft:
        _take_over(campaign, draft, problems)
        _check_media(campaign, draft, problems)
        problems.refuse_if_any(ImportRefused)
        return _store(campaign, draft, options, progress)


def check_campaign(*, path: Path, format: str | None = None, **settings: Any) -> CheckSummary:
    """Read and check files like `import_campaign`, but store nothing."""
    problems = Problems()
    campaign, options = _begin(problems, **settings)
    with closing(_read(path, format, options, problems)) as draft:
        _take_over(campaign, draft, problems)
        _check_media(campaign, draft, problems)
        problems.refuse_if_any(ImportRefused)
        return CheckSummary(
            systems=list(draft.systems),
            n_segments=draft.n_segments,
            n_outputs=draft.n_outputs,
            has_second_references=draft.has_second_references,
            notes=list(draft.notes),
            n_mends=options.mender.n_mends,
            mends=options.mender.mends,
        )


def _begin(
    problems: Problems,
    *,
    reference: str | None = None,
    second_reference: str | None = None,
    allow_empty_translations: bool = False,
    allow_missing_translations: bool = False,
    ignore_columns: Iterable[str] = (),
    clean: bool = False,
    encoding: str = "",
    **settings: Any,
) -> tuple[Campaign, ReadingOptions]:
    """Return the unsaved campaign, with its settings checked, and how to read its files."""
    task = settings.get("task") or Campaign.Task.REFERENCE_ADEQUACY
    campaign = Campaign(**usual_settings(task) | settings)
    _check_settings(campaign, problems)
    if encoding and encoding not in ENCODINGS:
        reason = f"encoding: {encoding!r} is not supported; choose from {', '.join(ENCODINGS)}"
        problems.add("", None, reason)
        encoding = ""
    options = ReadingOptions(
        campaign.source_language,
        campaign.target_language,
        campaign.task,
        reference,
        allow_empty_translations,
        second_reference,
        allow_missing_translations,
        frozenset(ignore_columns),
        Mender(clean, encoding),
        campaign.shows,
    )
    return campaign, options


def _read(path: Path, format: str | None, options: ReadingOptions, problems: Problems) -> Draft:
    try:
        reader = find_reader(path, format, problems)
        draft = Draft() if reader is None else reader(path, options, problems)
    except TooMuch as error:
        problems.add(printable(path.name), None, str(error))
        return Draft()
    except OSError as error:
        # Such as a folder without read permission.
        problems.add(printable(str(error.filename or path)), None, f"{error.strerror}")
        return Draft()
    if any(draft.media) and draft.media_root is None:
        reason = "names media; upload the table and the files together, as a folder or a .zip"
        problems.add(printable(path.name), None, reason)
    if problems.total == 0:
        draft.note_equal_references()
    return draft


def _take_over(campaign: Campaign, draft: Draft, problems: Problems) -> None:
    """Use what the file says besides texts, unless the campaign's settings say otherwise."""
    if draft.instructions and not campaign.instructions:
        campaign.instructions = draft.instructions
    try:
        questions = read_questionnaire(
            draft.questionnaire, target_language=campaign.target_language
        )
    except QuestionsRefused as refusal:
        for problem in refusal.problems:
            problems.add("", None, f"questions about workers: {problem.reason}")
    else:
        campaign.questionnaire = questions.as_json()


def _check_media(campaign: Campaign, draft: Draft, problems: Problems) -> None:
    """Refuse media where the pages of the task have no place for them."""
    if not draft.media_types:
        return
    kind = kinds().get((campaign.presentation, campaign.task))
    if kind and not kind.shows_media:
        reason = "this task cannot show pictures, sounds and videos"
        problems.add("", None, reason)


def _check_settings(campaign: Campaign, problems: Problems) -> None:
    n_before = problems.total
    for setting, value in [("name", campaign.name), ("currency", campaign.currency)]:
        if value and (fault := fault_in_name(value)):
            problems.add("", None, f"{setting}: {fault}")
    for number, line in enumerate(campaign.instructions.split("\n"), start=1):
        if line.strip() and (fault := fault_in_text(line)):
            problems.add("", None, f"instructions: line {number} {fault}")
    try:
        if problems.total == n_before:
            campaign.full_clean()
        else:
            # `full_clean` queries the database, which may not accept a faulty text.
            campaign.clean_fields()
    except ValidationError as error:
        for setting, messages in error.message_dict.items():
            for message in messages:
                problems.add("", None, f"{setting}: {message}")


def _store(
    campaign: Campaign,
    draft: Draft,
    options: ReadingOptions,
    progress: Callable[[int], object] | None,
) -> ImportSummary:
    try:
        with transaction.atomic():
            n_translations = store(campaign, draft, progress)
            summary = _summary(campaign, draft, options, n_translations)
            _store_report(summary, options)
        return summary
    except IntegrityError as error:
        # Another import may have taken the name since it was checked. Anything else is a bug.
        if not Campaign.objects.filter(name=campaign.name).exists():
            raise
        name_taken = Problem("", None, "name: Campaign with this Name already exists.")
        raise ImportRefused([name_taken], 1) from error


def _store_report(summary: ImportSummary, options: ReadingOptions) -> None:
    ImportReport.objects.create(
        campaign=summary.campaign,
        options=_chosen_options(options),
        notes=summary.notes,
        n_mends=summary.n_mends,
        mends=[[mend.file, mend.line, mend.what] for mend in summary.mends],
    )
    if summary.n_mends:
        record("texts mended", campaign=summary.campaign, n_mends=summary.n_mends)


def _chosen_options(options: ReadingOptions) -> dict[str, Any]:
    """Return the options that are not at their default."""
    chosen = {
        "reference": options.reference,
        "second_reference": options.second_reference,
        "allow_empty_translations": options.allow_empty_translations,
        "allow_missing_translations": options.allow_missing_translations,
        "ignore_columns": ", ".join(sorted(options.ignore_columns)),
        "clean": options.mender.cleans,
        "encoding": options.mender.encoding,
    }
    return {name: value for name, value in chosen.items() if value}


def _summary(
    campaign: Campaign, draft: Draft, options: ReadingOptions, n_translations: int
) -> ImportSummary:
    n_outputs = draft.n_outputs
    notes = list(draft.notes)
    if n_shared := n_outputs - n_translations:
        alike = "near-identical" if campaign.merges_near_identical else "identical"
        outputs = "1 output" if n_shared == 1 else f"{n_shared:,} outputs"
        verb = "is" if n_shared == 1 else "are"
        notes.append(f"{outputs} {alike} to another system's {verb} rated once")
    if draft.n_with_c1_controls:
        notes.append(
            f"{draft.n_with_c1_controls:,} texts contain invisible control characters (U+0080 to "
            "U+009F), often wrongly decoded punctuation; they are stored unchanged"
        )
    return ImportSummary(
        campaign=campaign,
        n_systems=len(draft.systems),
        n_segments=draft.n_segments,
        n_translations=n_translations,
        n_outputs=n_outputs,
        notes=notes,
        n_mends=options.mender.n_mends,
        mends=options.mender.mends,
    )
