"""What stored evaluations are made of: scores and gold of a campaign, of a collection, or of campaigns pooled."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from django.core.exceptions import ValidationError

from hits.exceptions import HitsError
from hits.models import Campaign

from ..models import Evaluation, GoldRun, GoldUpload, Metric
from ..scores.gold import POOLING_SEPARATOR, campaign_gold, pool_gold, pool_scores
from ..scores.storing import stored_tables
from ..scores.table import GoldTable, ScoreTable
from ..scores.uploading import uploaded_gold, uploaded_texts
from .rows import Texts, lengths_of

USES = ("z", "raw")


class EvaluationRefused(HitsError):
    """An evaluation that cannot be made."""


@dataclass(frozen=True, slots=True)
class GoldChoice:
    """A gold run by its number, and which of its scores: standardised or from 0 to 100."""

    run: int
    use: str = "z"


@dataclass(frozen=True, slots=True)
class UploadChoice:
    """Gold from elsewhere, by its code."""

    upload: str


@dataclass(frozen=True, slots=True)
class PooledChoice:
    """Gold runs of several campaigns put together: the code of each campaign with the number of its run."""

    pooled: tuple[tuple[str, int], ...]
    use: str = "z"


Choice = GoldChoice | UploadChoice | PooledChoice


@dataclass(frozen=True, slots=True)
class Sources:
    """What the engine wants."""

    tables: list[ScoreTable]
    golds: list[GoldTable]
    texts: Texts | None


def golds_from(facts: Sequence[Mapping[str, Any]]) -> list[GoldChoice | UploadChoice]:
    """Return choices of gold as they come from JSON."""
    try:
        return [UploadChoice(**one) if "upload" in one else GoldChoice(**one) for one in facts]
    except TypeError:
        raise EvaluationRefused("Gold is chosen by `run`, a number, and `use`, z or raw.") from None


def choices_of(evaluation: Evaluation) -> list[Choice]:
    """Return the choices of gold that an evaluation was stored with."""
    if evaluation.campaign or evaluation.collection:
        return list(golds_from(evaluation.golds))
    return [
        PooledChoice(tuple((code, run) for code, run in one["pooled"]), one["use"])
        for one in evaluation.golds
    ]


def choice_as_json(choice: Choice) -> dict[str, Any]:
    return asdict(choice)


def load_sources(evaluation: Evaluation, metrics: Sequence[Metric]) -> Sources:
    """Return scores and gold of an evaluation, which need not be stored yet.

    Parameters
    ----------
    evaluation : Evaluation
    metrics : sequence of Metric
        Of its campaign, its collection, or of all campaigns that are pooled.

    Returns
    -------
    Sources

    Raises
    ------
    EvaluationRefused
        If gold is not there, or no longer.
    """
    choices = choices_of(evaluation)
    if campaign := evaluation.campaign:
        golds = [_gold(campaign, one) for one in choices]
        return Sources(stored_tables(metrics), golds, _texts(campaign))
    if evaluation.collection:
        uploads = [_upload(evaluation, one) for one in choices if isinstance(one, UploadChoice)]
        measured = [texts for one in uploads if (texts := uploaded_texts(one))]
        golds = [uploaded_gold(one) for one in uploads]
        return Sources(stored_tables(metrics), golds, measured[0] if measured else None)
    return _pooled(choices, metrics)


def _gold(campaign: Campaign, choice: Choice) -> GoldTable:
    if isinstance(choice, UploadChoice):
        return uploaded_gold(_upload(Evaluation(campaign=campaign), choice))
    assert isinstance(choice, GoldChoice)
    # The run's name in a campaign of its own: pictures and tables have little room.
    name = f"gold {choice.run}" if choice.use == "z" else f"gold {choice.run}, raw"
    run = run_numbered(campaign, choice.run)
    # The digest of the ratings stands for a file.
    return replace(_checked(run, choice.use), name=name, sha256=run.input_digest)


def _checked(run: GoldRun, use: str) -> GoldTable:
    if use not in USES:
        raise EvaluationRefused(f"{use!r} is not a kind of score; there are z and raw.")
    return campaign_gold(run, use=use)


def run_numbered(campaign: Campaign, number: int) -> GoldRun:
    run = campaign.gold_runs.numbered(number)
    if run is None:
        raise EvaluationRefused(f"{campaign} has no gold {number}. Build it first.")
    return run


def _upload(evaluation: Evaluation, choice: UploadChoice) -> GoldUpload:
    """Fetch gold from elsewhere, if it belongs to the same campaign or collection."""
    own = GoldUpload.objects.filter(campaign=evaluation.campaign, collection=evaluation.collection)
    try:
        found = own.filter(code=choice.upload).first()
    except ValidationError:
        found = None
    if found is None:
        raise EvaluationRefused("Gold of this evaluation is not there, or was replaced since.")
    return found


def _texts(campaign: Campaign) -> Texts | None:
    """Measure the sources, or where there are none the references."""
    texts = _texts_by_name(campaign)
    return lengths_of(texts) if all(texts.values()) else None


def _texts_by_name(campaign: Campaign) -> dict[str, str]:
    rows = campaign.segments.values_list("name", "source", "reference")
    return {name: source or reference for name, source, reference in rows}


# Pooled ---------------------------------------------------------------------------------------


def _pooled(choices: Sequence[Choice], metrics: Sequence[Metric]) -> Sources:
    golds, campaigns, names = [], [], []
    for choice in choices:
        assert isinstance(choice, PooledChoice)
        campaigns = campaigns_coded([code for code, _ in choice.pooled])
        names = pooling_names(campaigns)
        runs = [
            run_numbered(campaign, number)
            for campaign, (_, number) in zip(campaigns, choice.pooled, strict=True)
        ]
        pooled = pool_gold([_checked(run, choice.use) for run in runs], names=names)
        name = "pooled gold" if choice.use == "z" else "pooled gold, raw"
        digest = joined_digest([run.input_digest for run in runs])
        golds.append(replace(pooled, name=name, sha256=digest))
    tables = _pooled_tables(campaigns, names, metrics)
    texts = {
        f"{name}{POOLING_SEPARATOR}{segment}": text
        for name, campaign in zip(names, campaigns, strict=True)
        for segment, text in _texts_by_name(campaign).items()
    }
    return Sources(tables, golds, lengths_of(texts) if texts and all(texts.values()) else None)


def _pooled_tables(
    campaigns: Sequence[Campaign], names: Sequence[str], metrics: Sequence[Metric]
) -> list[ScoreTable]:
    """Put the scores of each metric together, in the order of the campaigns."""
    tables = dict(zip(metrics, stored_tables(metrics), strict=True))
    found = []
    for name in dict.fromkeys(metric.name for metric in metrics):
        own = {metric.campaign_id: table for metric, table in tables.items() if metric.name == name}
        missing = [str(campaign) for campaign in campaigns if campaign.pk not in own]
        if missing:
            raise EvaluationRefused(f"{name} has no scores for {', '.join(missing)}.")
        parts = [own[campaign.pk] for campaign in campaigns]
        digest = joined_digest([part.sha256 for part in parts])
        found.append(replace(pool_scores(parts, names=names), sha256=digest))
    return found


def campaigns_coded(codes: Sequence[str]) -> list[Campaign]:
    """Return campaigns in the order of their codes."""
    try:
        found = {str(one.code): one for one in Campaign.objects.filter(code__in=codes)}
    except ValidationError:
        found = {}
    if len(found) != len(codes):
        raise EvaluationRefused("Not all of these campaigns are there, or one is there twice.")
    return [found[code] for code in codes]


def pooling_names(campaigns: Sequence[Campaign]) -> list[str]:
    """Name campaigns so that no two have the same name."""
    names = [campaign.name for campaign in campaigns]
    return [
        name if names.count(name) == 1 else f"{name} {str(campaign.code)[:8]}"
        for name, campaign in zip(names, campaigns, strict=True)
    ]


def joined_digest(digests: Sequence[str]) -> str:
    return sha256("\n".join(digests).encode()).hexdigest()
