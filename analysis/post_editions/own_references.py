"""Rate each output against a reference of its own, such as its post-edition made from the source.

With a generic reference, a good translation that differs from it may be rated too low. The gold of a campaign that rates the
same outputs against post-editions shows where: evaluate both golds, and look at the lower right quadrant.

A campaign has one reference for each segment, so every output becomes a segment of the new campaign.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from da_platform.exceptions import PlatformError
from hits.campaigns.derived import import_rows, settings_in_common
from hits.hit_sizes import RATING_SIZES
from hits.models import Campaign, SystemOutput
from hits.task_facts import sizes_of

from ..evaluation.uploading import store_gold_table
from ..models import GoldRun, GoldUpload
from ..scores.gold_tables import campaign_gold
from ..scores.raw_files import RawFile
from ..scores.score_tables import GoldTable, Key, segment_of_output
from ..scores.storing import campaign_keys
from .reading import COLUMN, REFERENCE, post_editions_elsewhere, read_post_editions


class CannotUseOwnReferences(PlatformError):
    """Two campaigns that do not fit together."""


@dataclass(frozen=True, slots=True)
class RatedAgainst:
    """The new campaign, and how many outputs it rates."""

    campaign: Campaign
    n_outputs: int


def rate_against(
    *,
    campaign: Campaign,
    name: str,
    references: Path | RawFile | None = None,
    post_editions_of: Campaign | None = None,
    even_from_reference: bool = False,
    actor: User | None = None,
) -> RatedAgainst:
    """Create a campaign that rates outputs of another one, each against its own reference.

    Parameters
    ----------
    campaign : Campaign
    name : str
        Of the new campaign.
    references : Path or RawFile, optional
        A table with the columns system, segment and either reference or post_edition, with one text for each output
        that is to be rated. Texts of outputs and sources in it are not read.
    post_editions_of : Campaign, optional
        Use the post-editions that trusted editors made there of outputs with the same systems, segments and texts; the
        first of each, where there are several.
    even_from_reference : bool
        Use them even if editors, or those who checked them, saw the reference. Such a post-edition says what the
        reference says, so ratings against it cannot show reference bias.
    actor : User, optional

    Returns
    -------
    RatedAgainst

    Raises
    ------
    ScoresRefused, ImportRefused, PostEditionsDoNotFit, CannotUseOwnReferences
    """
    texts = _own_references(campaign, references, post_editions_of)
    if post_editions_of is not None and not even_from_reference:
        _check_was_blind_to_reference(post_editions_of)
    rows = (
        SystemOutput.objects.filter(system__campaign=campaign)
        .select_related("system", "segment", "translation")
        .order_by("segment__position", "system")
    )
    keys = ((output, (output.system.name, output.segment.name)) for output in rows)
    rated = import_rows(
        (_row(output, key, texts[key]) for output, key in keys if key in texts),
        like=campaign,
        name=name,
        actor=actor,
        recorded={"outputs_of": campaign.name},
        **_settings(campaign),
    )
    return RatedAgainst(rated, rated.segments.count())


def _settings(campaign: Campaign) -> dict[str, Any]:
    """Return the settings of the campaign that also fit ratings of its outputs one at a time."""
    settings = settings_in_common(campaign)
    is_alone = campaign.presentation == Campaign.Presentation.ALONE
    if is_alone and sizes_of(campaign.task) is RATING_SIZES:
        same = ("hit_size", "min_ratings", "max_hits_per_worker")
        return settings | {field: getattr(campaign, field) for field in same}
    # Its HITs hold something else.
    del settings["pay_per_hit"]
    return settings


def _own_references(
    campaign: Campaign, references: Path | RawFile | None, edited_in: Campaign | None
) -> dict[Key, str]:
    """Return one text for each output that has a reference of its own."""
    if (references is None) == (edited_in is None):
        raise CannotUseOwnReferences(
            "Give either a file of references or a campaign with post-editions."
        )
    keys = list(campaign_keys(campaign, "segment"))
    if references is not None:
        edited = read_post_editions(references, keys, columns=(COLUMN, REFERENCE))
        if edited.most > 1:
            raise CannotUseOwnReferences(
                f"{edited.name} has several references for one output. Keep one for each."
            )
        return {key: texts[0] for key, texts in edited.texts.items()}
    assert edited_in is not None
    collected = post_editions_elsewhere(edited_in, campaign)
    # An emptied text is no reference.
    texts = {key: versions[0] for key, versions in collected.texts.items() if versions[0]}
    if not texts:
        raise CannotUseOwnReferences(f"All post-editions of {edited_in} are empty.")
    return texts


def _check_was_blind_to_reference(edited_in: Campaign) -> None:
    """Refuse post-editions that may be made from the reference."""
    with_reference = (Campaign.Shows.REFERENCE, Campaign.Shows.BOTH)
    who = {edited_in: "editors", **dict.fromkeys(edited_in.checked_in.all(), "checkers")}
    for seen_in, people in who.items():
        if seen_in.effective_shows in with_reference:
            raise CannotUseOwnReferences(
                f"The {people} of {seen_in} saw the reference, so their post-editions are made from it, and ratings against "
                "them cannot show reference bias. Use post-editions made from the source, or say that those made from "
                "the reference will do."
            )


def _row(output: SystemOutput, key: Key, reference: str) -> dict[str, str]:
    return {
        "segment": segment_of_output(key),
        "system": key[0],
        "translation": str(output),
        "source": output.segment.source,
        "reference": reference,
        "document": output.segment.document,
    }


@transaction.atomic
def bring_back_gold(
    *, run: GoldRun, campaign: Campaign, use: str = "z", actor: User | None = None
) -> GoldUpload:
    """Store the gold of a campaign made by `rate_against` as gold of the campaign whose outputs it rated.

    Parameters
    ----------
    run : GoldRun
    campaign : Campaign
        The one whose outputs were rated.
    use : {"z", "raw"}
    actor : User, optional

    Returns
    -------
    GoldUpload

    Raises
    ------
    CannotUseOwnReferences
        If the run's outputs are not those of the campaign.
    """
    gold = campaign_gold(run, use=use)
    keys = {(key[0], segment_of_output(key)): key for key in campaign_keys(campaign, "segment")}
    unknown = [key for key in gold.keys if key not in keys]
    if unknown:
        system, segment = unknown[0]
        raise CannotUseOwnReferences(
            f"{campaign} has no output like {segment!r} of {system}: {run.campaign} was not made from it."
        )
    references = dict(run.campaign.segments.values_list("name", "reference"))
    table = GoldTable(
        name=f"{run} ({use})",
        kind="da",
        level="segment",
        keys=tuple(keys[key] for key in gold.keys),
        scores=gold.scores,
        higher_is_better=True,
        signature=gold.signature,
        sha256=run.input_digest,
    )
    return store_gold_table(
        gold=table,
        home=campaign,
        file_name=str(run),
        texts=[references[segment] for _, segment in gold.keys],
        run=run,
        replace=True,
        uploaded_by=actor,
    )


def bring_back_newest_gold(
    *, rated: Campaign, campaign: Campaign, actor: User | None = None
) -> GoldUpload:
    """Store the newest gold of a campaign made by `rate_against`, as `bring_back_gold` does.

    Raises
    ------
    CannotUseOwnReferences
        If there is none, or the campaigns do not belong together.
    """
    run = rated.gold_runs.newest()
    if run is None:
        raise CannotUseOwnReferences(f"{rated} has no gold yet. Build it first.")
    return bring_back_gold(run=run, campaign=campaign, actor=actor)
