"""Load the scores and gold of a stored evaluation: of a campaign, a collection, or pooled campaigns."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any

from django.core.exceptions import ValidationError

from da_platform.exceptions import PlatformError
from hits.models import Campaign, SystemOutput

from ..gold.runs import ratings_of
from ..models import Evaluation, GoldRun, GoldUpload, Metric
from ..scores.gold_tables import (
    POOLING_SEPARATOR,
    campaign_gold,
    pool_gold,
    pool_scores,
    prefixed,
)
from ..scores.human_rows import has_ceiling, human_ceiling
from ..scores.score_tables import GoldTable, Key, ScoreTable
from ..scores.storing import stored_tables
from ..scores.whole_documents import WHOLE, whole_document_gold, with_documents_of
from .aligned_rows import Texts, lengths_of
from .human_level import Ceiling
from .results import JudgementTable
from .uploading import uploaded_gold, uploaded_judgements, uploaded_texts

USES = ("z", "raw")
# Of pooled gold that does not come from ratings.
UPLOAD = "upload"


class EvaluationRefused(PlatformError):
    """An evaluation that cannot be run."""


@dataclass(frozen=True, slots=True)
class GoldChoice:
    """A gold run, and whether to use its standardised (z) or raw scores, or those of whole documents (whole).

    `human`: hold a few workers per translation out of the gold, and evaluate them like metrics. `ceiling`: use the full
    gold, and put the metrics next to held-out workers in a table of their own.
    """

    run: int
    use: str = "z"
    human: bool = False
    ceiling: bool = False


@dataclass(frozen=True, slots=True)
class UploadChoice:
    """Uploaded gold, by its code."""

    upload: str


@dataclass(frozen=True, slots=True)
class PooledChoice:
    """Pooled gold: the code of each campaign with the number of its gold run.

    With the use `upload`, uploaded or computed gold of the campaigns, such as HTER, by its code.
    """

    pooled: tuple[tuple[str, int | str], ...]
    use: str = "z"
    ceiling: bool = False


Choice = GoldChoice | UploadChoice | PooledChoice


@dataclass(frozen=True, slots=True)
class Sources:
    """The inputs of `engine.evaluate`."""

    tables: list[ScoreTable]
    golds: list[GoldTable]
    texts: Texts | None
    judgements: JudgementTable | None = None
    ceilings: Mapping[str, Ceiling] = field(default_factory=dict)


def golds_from(facts: Sequence[Mapping[str, Any]]) -> list[GoldChoice | UploadChoice]:
    """Return the choices of gold in JSON arguments."""
    try:
        return [
            UploadChoice(**choice) if "upload" in choice else GoldChoice(**choice)
            for choice in facts
        ]
    except TypeError:
        raise EvaluationRefused(
            "Choose gold by `run` (a number) and `use` (z, raw or whole)."
        ) from None


def choices_of(evaluation: Evaluation) -> list[Choice]:
    """Return the gold that an evaluation was stored with."""
    if evaluation.campaign or evaluation.collection:
        return list(golds_from(evaluation.golds))
    return [
        PooledChoice(
            tuple((code, run) for code, run in choice["pooled"]),
            choice["use"],
            choice.get("ceiling", False),
        )
        for choice in evaluation.golds
    ]


def choice_as_json(choice: Choice) -> dict[str, Any]:
    facts = asdict(choice)
    return {name: value for name, value in facts.items() if value is not False}


def with_ceilings(choices: Sequence[Choice], campaign: Campaign | None) -> list[Choice]:
    """Choose a human ceiling for all gold of runs that can have one: with enough ratings, unchanged since."""
    return [
        replace(choice, ceiling=True)
        if not isinstance(choice, UploadChoice) and _can_have_ceiling(choice, campaign)
        else choice
        for choice in choices
    ]


def _can_have_ceiling(choice: GoldChoice | PooledChoice, campaign: Campaign | None) -> bool:
    if choice.use not in ("z", "raw"):
        return False
    if isinstance(choice, PooledChoice):
        campaigns = campaigns_coded([code for code, _ in choice.pooled])
        numbers = [int(number) for _, number in choice.pooled]
        runs = [run_numbered(each, n) for each, n in zip(campaigns, numbers, strict=True)]
    elif campaign is None or choice.human:
        return False
    else:
        runs = [run_numbered(campaign, choice.run)]
    return all(has_ceiling(run) and ratings_of(run) is not None for run in runs)


def load_sources(
    evaluation: Evaluation,
    metrics: Sequence[Metric],
    *,
    counts_words: bool = False,
    wants_people: bool = True,
) -> Sources:
    """Load the scores and gold of an evaluation, which need not be stored yet.

    Parameters
    ----------
    evaluation : Evaluation
    metrics : sequence of Metric
        Of its campaign, its collection, or all pooled campaigns.
    counts_words : bool
        Also count the words of every output, where outputs are known.
    wants_people : bool
        Also hold workers out of the gold, where it was so chosen.

    Returns
    -------
    Sources

    Raises
    ------
    EvaluationRefused
        If some gold does not exist.
    """
    sources = _sources(evaluation, metrics, wants_people)
    if counts_words:
        sources = _with_output_words(evaluation, sources)
    if upload := evaluation.judgements:
        return replace(sources, judgements=uploaded_judgements(upload))
    return sources


def _sources(evaluation: Evaluation, metrics: Sequence[Metric], wants_people: bool) -> Sources:
    choices = choices_of(evaluation)
    if campaign := evaluation.campaign:
        tables, golds, ceilings = stored_tables(metrics), [], {}
        if any(isinstance(choice, GoldChoice) and choice.use == WHOLE for choice in choices):
            tables = with_documents_of(campaign, tables)
        for choice in choices:
            if isinstance(choice, GoldChoice) and choice.human:
                gold, human_tables = _ceiling(campaign, choice)
                tables += human_tables
            else:
                gold = _gold(campaign, choice)
            golds.append(gold)
            if isinstance(choice, GoldChoice) and choice.ceiling and wants_people:
                ceilings[gold.name] = _ceiling_of([campaign], [choice.run], gold.name, choice.use)
        texts = _measured(_texts_by_segment(campaign))
        return Sources(tables, golds, texts, ceilings=ceilings)
    if evaluation.collection:
        chosen = [choice for choice in choices if isinstance(choice, UploadChoice)]
        uploads = [_upload(evaluation, choice) for choice in chosen]
        texts = next((texts for upload in uploads if (texts := uploaded_texts(upload))), None)
        return Sources(stored_tables(metrics), [uploaded_gold(upload) for upload in uploads], texts)
    return _pooled(choices, metrics, wants_people)


def _gold(campaign: Campaign, choice: Choice) -> GoldTable:
    if isinstance(choice, UploadChoice):
        return _with_documents(
            uploaded_gold(_upload(Evaluation(campaign=campaign), choice)), campaign
        )
    assert isinstance(choice, GoldChoice)
    # Without the campaign's name: figures and tables have little room.
    name = f"gold {choice.run}" if choice.use == "z" else f"gold {choice.run}, raw"
    run = run_numbered(campaign, choice.run)
    if choice.use == WHOLE:
        return _whole_gold(run)
    # The digest of the ratings takes the place of a file's.
    return replace(_run_gold(run, choice.use), name=name, sha256=run.input_digest)


def _whole_gold(run: GoldRun) -> GoldTable:
    gold = whole_document_gold(run)
    if not gold.n_ratings.any():  # type: ignore[union-attr]
        raise EvaluationRefused(f"{run.campaign} has no trusted scores of whole documents yet.")
    return gold


def _with_documents(gold: GoldTable, campaign: Campaign) -> GoldTable:
    """Add the campaign's documents to gold from a file without any."""
    if gold.documents is not None or gold.level != "segment":
        return gold
    documents = dict(campaign.segments.values_list("name", "document"))
    names = tuple(documents.get(segment, "") for _, segment in gold.keys)
    return replace(gold, documents=names) if any(names) else gold


def _ceiling(campaign: Campaign, choice: GoldChoice) -> tuple[GoldTable, list[ScoreTable]]:
    """Return gold from which workers are held out, and their scores."""
    run = run_numbered(campaign, choice.run)
    if choice.use not in USES:
        raise EvaluationRefused("Workers can be held out of z and raw scores only.")
    name = f"gold {choice.run} of others" + ("" if choice.use == "z" else ", raw")
    gold, tables = human_ceiling(run, use=choice.use, name=name)
    return replace(gold, sha256=run.input_digest), tables


def _ceiling_of(
    campaigns: Sequence[Campaign], numbers: Sequence[int], name: str, use: str
) -> Ceiling:
    """Return gold from which workers are held out, pooled if it is of several campaigns, and their scores."""
    runs = [run_numbered(each, number) for each, number in zip(campaigns, numbers, strict=True)]
    parts = [human_ceiling(run, use=use, name=name) for run in runs]
    if len(parts) == 1:
        gold, tables = parts[0]
        return Ceiling(gold, tuple(tables))
    names = pooling_names(campaigns)
    # As many workers as every campaign has.
    n_rows = min(len(tables) for _, tables in parts)
    pooled = [pool_scores([tables[i] for _, tables in parts], names=names) for i in range(n_rows)]
    return Ceiling(pool_gold([gold for gold, _ in parts], names=names), tuple(pooled))


def _run_gold(run: GoldRun, use: str) -> GoldTable:
    if use not in USES:
        raise EvaluationRefused(f"{use!r} is not a kind of score. Choose z or raw.")
    return campaign_gold(run, use=use)


def run_numbered(campaign: Campaign, number: int) -> GoldRun:
    run = campaign.gold_runs.numbered(number)
    if run is None:
        raise EvaluationRefused(f"{campaign} has no gold {number}. Build it first.")
    return run


def _upload(evaluation: Evaluation, choice: UploadChoice) -> GoldUpload:
    """Return uploaded gold of the same campaign or collection."""
    uploads = GoldUpload.objects.filter(
        campaign=evaluation.campaign, collection=evaluation.collection
    )
    try:
        upload = uploads.filter(code=choice.upload).first()
    except ValidationError:
        upload = None
    if upload is None:
        raise EvaluationRefused("Some gold of this evaluation does not exist or has been replaced.")
    return upload


def _measured(texts: dict[str, str]) -> Texts | None:
    return lengths_of(texts) if all(texts.values()) else None


def _texts_by_segment(campaign: Campaign) -> dict[str, str]:
    """Return the source of each segment, or its reference if it has no source."""
    rows = campaign.segments.values_list("name", "source", "reference")
    return {name: source or reference for name, source, reference in rows}


def _with_output_words(evaluation: Evaluation, sources: Sources) -> Sources:
    """Count the words of the outputs of a campaign, or of all pooled ones; a collection has none."""
    if campaign := evaluation.campaign:
        counts = _output_words(campaign)
    elif choices := [each for each in choices_of(evaluation) if isinstance(each, PooledChoice)]:
        campaigns = campaigns_coded([code for code, _ in choices[0].pooled])
        counts = {
            prefixed(name, key): n_words
            for name, pooled in zip(pooling_names(campaigns), campaigns, strict=True)
            for key, n_words in _output_words(pooled).items()
        }
    else:
        return sources
    texts = sources.texts or Texts({}, "words")
    return replace(sources, texts=replace(texts, output_words=counts))


def _output_words(campaign: Campaign) -> dict[Key, int]:
    # sacreBLEU is slow to import, and only evaluations of times need it.
    from ..metrics.catalogue import tokeniser_for, word_counter

    n_words = word_counter(tokeniser_for(campaign.target_language))
    outputs = SystemOutput.objects.filter(system__campaign=campaign)
    return {
        (output.system.name, output.segment.name): n_words(str(output))
        for output in outputs.select_related("system", "segment", "translation")
    }


# Pooled ---------------------------------------------------------------------------------------


def _pooled(choices: Sequence[Choice], metrics: Sequence[Metric], wants_people: bool) -> Sources:
    golds, campaigns, names = [], [], []
    ceilings: dict[str, Ceiling] = {}
    for choice in choices:
        assert isinstance(choice, PooledChoice)
        campaigns = campaigns_coded([code for code, _ in choice.pooled])
        names = pooling_names(campaigns)
        parts = [
            _part(campaign, source, choice.use)
            for campaign, (_, source) in zip(campaigns, choice.pooled, strict=True)
        ]
        digest = joined_digest([part.sha256 for part in parts])
        name = _pooled_name(choice.use, parts)
        golds.append(replace(pool_gold(parts, names=names), name=name, sha256=digest))
        if choice.ceiling and wants_people:
            numbers = [int(number) for _, number in choice.pooled]
            ceilings[name] = _ceiling_of(campaigns, numbers, name, choice.use)
    tables = _pooled_tables(campaigns, names, metrics)
    texts = {
        f"{name}{POOLING_SEPARATOR}{segment}": text
        for name, campaign in zip(names, campaigns, strict=True)
        for segment, text in _texts_by_segment(campaign).items()
    }
    return Sources(tables, golds, _measured(texts) if texts else None, ceilings=ceilings)


def _part(campaign: Campaign, source: int | str, use: str) -> GoldTable:
    """Return the gold of one of several campaigns."""
    if use == UPLOAD:
        return _gold(campaign, UploadChoice(str(source)))
    run = run_numbered(campaign, int(source))
    return replace(_run_gold(run, use), sha256=run.input_digest)


def _pooled_name(use: str, parts: Sequence[GoldTable]) -> str:
    if use == UPLOAD:
        return " + ".join(dict.fromkeys(part.name for part in parts))
    return "pooled gold" if use == "z" else "pooled gold, raw"


def _pooled_tables(
    campaigns: Sequence[Campaign], names: Sequence[str], metrics: Sequence[Metric]
) -> list[ScoreTable]:
    """Pool the scores of each metric, in the order of the campaigns."""
    tables = dict(zip(metrics, stored_tables(metrics), strict=True))
    pooled = []
    for name in dict.fromkeys(metric.name for metric in metrics):
        parts_by_campaign = {
            metric.campaign_id: table for metric, table in tables.items() if metric.name == name
        }
        missing = [str(campaign) for campaign in campaigns if campaign.pk not in parts_by_campaign]
        if missing:
            raise EvaluationRefused(f"{name} has no scores for {', '.join(missing)}.")
        parts = [parts_by_campaign[campaign.pk] for campaign in campaigns]
        digest = joined_digest([part.sha256 for part in parts])
        pooled.append(replace(pool_scores(parts, names=names), sha256=digest))
    return pooled


def campaigns_coded(codes: Sequence[str]) -> list[Campaign]:
    """Return the campaigns with these codes, in their order."""
    queryset = Campaign.objects.filter(code__in=codes)
    try:
        campaigns = {str(campaign.code): campaign for campaign in queryset}
    except ValidationError:
        campaigns = {}
    if len(campaigns) != len(codes):
        raise EvaluationRefused("A campaign does not exist or was listed twice.")
    return [campaigns[code] for code in codes]


def pooling_names(campaigns: Sequence[Campaign]) -> list[str]:
    """Return a unique name for each campaign."""
    names = [campaign.name for campaign in campaigns]
    return [
        name if names.count(name) == 1 else f"{name} {str(campaign.code)[:8]}"
        for name, campaign in zip(names, campaigns, strict=True)
    ]


def joined_digest(digests: Sequence[str]) -> str:
    return sha256("\n".join(digests).encode()).hexdigest()
