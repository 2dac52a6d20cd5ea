"""Human-targeted metrics and editing times of a campaign's outputs, stored as metrics or as gold."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction

from da_platform.files.problems import Problems
from hits.models import Campaign, SystemOutput

from ..evaluation.uploading import store_gold_table
from ..metrics import DEFAULT_METRICS
from ..metrics.catalogue import targeted_metrics_for, tokeniser_for, word_counter
from ..metrics.computing import (
    CannotComputeMetrics,
    Outputs,
    Progress,
    chosen_metrics,
    outputs_of,
    score_outputs,
    store_computed,
)
from ..models import GoldUpload, Metric
from ..scores.errors import refuse_if_any
from ..scores.gold_tables import gold_from_scores
from ..scores.raw_files import RawFile
from ..scores.score_tables import LEVELS, Level, ScoreTable, shown
from ..stats.signature import signature
from .agreement import HTER
from .reading import (
    PostEditions,
    collected_post_editions,
    post_editions_elsewhere,
    read_post_editions,
)

# A thousand take about a second.
MOST_TEXTS_AT_ONCE = 20_000

Use = Literal["metric", "gold"]
USES: tuple[Use, ...] = get_args(Use)

# Post-editing time in seconds, and divided by the words of the output.
TIME, TIME_PER_WORD = "PET", "PET-per-word"


def compute_targeted(
    *,
    campaign: Campaign,
    post_editions: Path | RawFile | None = None,
    post_editions_of: Campaign | None = None,
    names: Sequence[str] = DEFAULT_METRICS,
    use: Use = "metric",
    tokenise: str | None = None,
    ignore_case: bool = True,
    cap: bool = True,
    as_edited: bool = False,
    partial: bool = False,
    actor: User | None = None,
    progress: Progress | None = None,
) -> list[Metric] | list[GoldUpload]:
    """Compute and store what post-editions say about outputs: HTER, HBLEU and so on, and times.

    Parameters
    ----------
    campaign : Campaign
    post_editions : Path or RawFile, optional
        A file as described in `read_post_editions`; by default, those that trusted editors made in the campaign. With
        seconds, the time of editing and the time per word are stored too.
    post_editions_of : Campaign, optional
        Use those that trusted editors made in this campaign, of outputs with the same system, segment and text.
    names : sequence of str
        Names of the built-in metrics whose human-targeted versions are computed.
    use : {"metric", "gold"}
        Gold is stored for the outputs that have a post-edition, and times for those whose time is known. Metrics need
        both for every output, unless `partial`.
    tokenise, ignore_case, cap
        As in `targeted_metrics_for`.
    as_edited : bool
        Use collected post-editions as their editors left them, also those that somebody else has checked since.
    partial : bool
        Store metrics of the outputs that have a post-edition, only at segment level: systems of which other segments
        were edited cannot be compared.
    actor : User, optional
    progress : callable, optional
        Called with the number of texts done and the total.

    Returns
    -------
    list of Metric or list of GoldUpload
        At segment and at system level; gold and `partial` metrics only at segment level.

    Raises
    ------
    CannotComputeMetrics, ScoresRefused, PostEditionsDoNotFit
        Where outputs are missing, naming them.
    """
    metrics = chosen_metrics(
        targeted_metrics_for(
            campaign.target_language, tokenise=tokenise, ignore_case=ignore_case, cap=cap
        ),
        names,
    )
    outputs = outputs_of(campaign)
    edited = _read(campaign, post_editions, post_editions_of, outputs, as_edited=as_edited)
    targets = _with_post_editions(outputs, edited)
    if use == "metric" and not partial:
        _check_complete(outputs, edited)
    if edited.most > 1:
        metrics = [metric.with_several_references() for metric in metrics]
    levels: Sequence[Level] = LEVELS if use == "metric" and not partial else ["segment"]
    tokeniser = tokenise or tokeniser_for(campaign.target_language)
    scored = score_outputs(targets, metrics, levels=levels, progress=progress)
    tables = [
        *(_signed(table, edited) for table in scored),
        *_times(targets, edited, tokeniser),
    ]
    with transaction.atomic():
        if use == "metric":
            return [store_computed(campaign, table, actor, partial=partial) for table in tables]
        return [_store_gold(campaign, table, edited, actor) for table in tables]


def refuse_too_many(campaign: Campaign, names: Sequence[str]) -> None:
    """Refuse what would take too long while somebody waits for a page."""
    n_texts = len(names) * SystemOutput.objects.filter(system__campaign=campaign).count()
    if n_texts > MOST_TEXTS_AT_ONCE:
        raise CannotComputeMetrics(
            f"{len(names)} metrics of all outputs are {n_texts:,} comparisons, and a page may make "
            f"{MOST_TEXTS_AT_ONCE:,}. Choose fewer metrics, or use the command compute_metrics."
        )


def _signed(table: ScoreTable, edited: PostEditions) -> ScoreTable:
    """Say in the signature that somebody checked the post-editions."""
    if not edited.n_checked:
        return table
    return replace(table, signature=f"{table.signature}|checked:{edited.n_checked}")


def _read(
    campaign: Campaign,
    post_editions: Path | RawFile | None,
    edited_in: Campaign | None,
    outputs: Outputs,
    *,
    as_edited: bool,
) -> PostEditions:
    if post_editions is not None and edited_in is not None:
        raise CannotComputeMetrics("Give either a file or a campaign with post-editions, not both.")
    if post_editions is not None:
        return read_post_editions(post_editions, outputs.keys)
    if edited_in is not None and edited_in != campaign:
        return post_editions_elsewhere(edited_in, campaign, as_edited=as_edited)
    edited = collected_post_editions(campaign, as_edited=as_edited)
    if not edited.texts:
        raise CannotComputeMetrics(
            f"{campaign} has no post-editions by trusted editors. Collect some, give a file, or name the campaign that "
            "has them."
        )
    return edited


def _with_post_editions(outputs: Outputs, edited: PostEditions) -> Outputs:
    """Return the outputs that were edited, with their post-editions as references."""
    texts = dict(zip(outputs.keys, outputs.translations, strict=True))
    keys = tuple(key for key in outputs.keys if key in edited.texts)
    return Outputs(
        keys,
        tuple(texts[key] for key in keys),
        tuple(tuple(edited.texts[key]) for key in keys),
    )


def _check_complete(outputs: Outputs, edited: PostEditions) -> None:
    """Name the outputs without a post-edition, and those without a time if others have one."""
    problems = Problems()
    way_out = "a metric needs all, unless it may be partial; gold does not"
    for key in outputs.keys:
        if key not in edited.texts:
            problems.add(edited.name, None, f"has no post-edition of {shown(key)}; {way_out}")
        elif edited.seconds and key not in edited.seconds:
            problems.add(edited.name, None, f"has no time of {shown(key)}; {way_out}")
    refuse_if_any(problems)


def _times(outputs: Outputs, edited: PostEditions, tokeniser: str) -> Iterator[ScoreTable]:
    """Yield the mean time of each output's post-editions, and the time per word, where times are known."""
    texts = dict(zip(outputs.keys, outputs.translations, strict=True))
    keys = tuple(key for key in outputs.keys if key in edited.seconds)
    if not keys:
        return
    n_words = word_counter(tokeniser)
    seconds = np.array([np.mean(edited.seconds[key]) for key in keys])
    lengths = np.array([n_words(texts[key]) for key in keys])
    digest = sha256(outputs.digest.encode() + seconds.tobytes()).hexdigest()
    for name, times, words in (
        (TIME, seconds, {}),
        (TIME_PER_WORD, seconds / lengths, {"per": "output-word", "tok": tokeniser}),
    ):
        yield ScoreTable(
            name=name,
            level="segment",
            keys=keys,
            scores=times,
            higher_is_better=False,
            sha256=digest,
            signature=signature(time=name, of="post-edition", mean="arithmetic", unit="s", **words),
        )


def _store_gold(
    campaign: Campaign, table: ScoreTable, edited: PostEditions, actor: User | None
) -> GoldUpload:
    kind: Literal["hter", "other"] = "hter" if table.name.startswith(HTER) else "other"
    gold = gold_from_scores(table, kind=kind)
    return store_gold_table(
        gold=gold,
        home=campaign,
        file_name=edited.name,
        texts=[edited.texts[key][0] for key in gold.keys],
        replace=True,
        uploaded_by=actor,
    )
