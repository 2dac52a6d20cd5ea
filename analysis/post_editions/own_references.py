"""Rate each output against a reference of its own, such as its post-edition made from the source.

With a generic reference, a good translation that differs from it may be rated too low. The gold of a campaign that rates the
same outputs against post-editions shows where: evaluate both golds, and look at the lower right quadrant.

A campaign has one reference for each segment, so every output becomes a segment of the new campaign.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from django.contrib.auth.models import User
from django.db import transaction

from da_platform.exceptions import PlatformError
from hits.campaigns.importing.service import ImportSummary, import_campaign
from hits.models import Campaign, SystemOutput

from ..evaluation.uploading import store_gold_table
from ..models import GoldRun, GoldUpload
from ..scores.gold_tables import campaign_gold
from ..scores.raw_files import RawFile
from ..scores.score_tables import GoldTable, Key
from ..scores.storing import campaign_keys
from .reading import read_post_editions


class CannotUseOwnReferences(PlatformError):
    """Two campaigns that do not fit together."""


def segment_of(key: Key) -> str:
    """Return the name of the segment that an output becomes."""
    system, segment = key
    return f"{segment} by {system}"


def rate_against(*, campaign: Campaign, references: Path | RawFile, name: str) -> ImportSummary:
    """Create a campaign that rates outputs of another one, each against its own reference.

    Parameters
    ----------
    campaign : Campaign
    references : Path or RawFile
        A table with the columns system, segment and post_edition, as in `read_post_editions`, with one text for
        each output that is to be rated.
    name : str
        Of the new campaign.

    Returns
    -------
    ImportSummary

    Raises
    ------
    ScoresRefused, ImportRefused, CannotUseOwnReferences
    """
    edited = read_post_editions(references, list(campaign_keys(campaign, "segment")))
    if edited.most > 1:
        raise CannotUseOwnReferences(
            f"{edited.name} has several references for one output. Keep one for each."
        )
    rows = SystemOutput.objects.filter(system__campaign=campaign).select_related(
        "system", "segment", "translation"
    )
    with TemporaryDirectory() as folder:
        table = Path(folder) / "outputs.jsonl"
        with table.open("w", encoding="utf-8") as file:
            for output in rows.order_by("segment__position", "system"):
                key = output.system.name, output.segment.name
                if key in edited.texts:
                    row = _row(output, key, edited.texts[key][0])
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
        return import_campaign(
            path=table,
            name=name,
            source_language=campaign.source_language,
            target_language=campaign.target_language,
            allow_missing_translations=True,
        )


def _row(output: SystemOutput, key: Key, reference: str) -> dict[str, str]:
    facts = {
        "segment": segment_of(key),
        "system": key[0],
        "translation": str(output),
        "source": output.segment.source,
        "reference": reference,
        "document": output.segment.document,
    }
    return {name: text for name, text in facts.items() if text or name == "translation"}


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
    keys = {(key[0], segment_of(key)): key for key in campaign_keys(campaign, "segment")}
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
        replace=True,
        uploaded_by=actor,
    )
