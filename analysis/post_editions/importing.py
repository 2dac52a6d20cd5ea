"""Import post-editions from a file as those of a campaign, to see, compare and export them."""

from pathlib import Path

from django.contrib.auth.models import User

from hits.archives.storing_post_editions import ImportedEdit, ImportedEdits, store_post_editions
from hits.models import Campaign

from ..scores.raw_files import RawFile
from ..scores.storing import campaign_keys
from .reading import read_post_editions


def import_post_editions(
    *,
    campaign: Campaign,
    source: Path | RawFile,
    system: str = "",
    actor: User | None = None,
) -> ImportedEdits:
    """Store the post-editions in a file as those of the campaign, which then is a closed archive.

    Parameters
    ----------
    campaign : Campaign
        A draft for post-editing without HITs, with the outputs that were edited.
    source : Path or RawFile
        A table, or with `system` a plain file, as described in `read_post_editions`.
    system : str
    actor : User, optional

    Returns
    -------
    ImportedEdits

    Raises
    ------
    ScoresRefused, PostEditionsRefused
    """
    edited = read_post_editions(source, list(campaign_keys(campaign, "segment")), system=system)
    return store_post_editions(
        campaign=campaign,
        edits=(
            ImportedEdit(*row.key, text=row.text, editor=row.editor, seconds=row.seconds)
            for row in edited.rows
        ),
        details={"format": "post-editions", "files": {edited.name: edited.sha256}},
        actor=actor,
    )
