"""Import post-editions that were made elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.post_editions.importing import import_post_editions
from da_platform.exceptions import PlatformError
from hits.management.base import campaign_named


class Command(BaseCommand):
    help = (
        "Import post-editions from a file into a draft campaign for post-editing without HITs, "
        "and close it. They are then shown, compared, exported and turned into HTER like those "
        "collected here."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "file",
            type=Path,
            help="a table with the columns system, segment and post_edition, and optionally editor and seconds",
        )
        parser.add_argument(
            "--system",
            default="",
            metavar="NAME",
            help="the file has no columns but one post-edition per line, for each segment of this system",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            stored = import_post_editions(
                campaign=campaign, source=options["file"], system=options["system"]
            )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Imported {stored.n_post_editions:,} post-editions of {stored.n_outputs:,} texts by {stored.n_editors:,} "
            f"editors into {campaign}."
        )
