"""Export rankings in the layouts of WMT."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.base import campaign_named
from hits.ranking.exporting import WRITERS


class Command(BaseCommand):
    help = "Write a campaign's rankings as WMT's CSV of pairs or as Appraise's XML, by the file's ending."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--trusted",
            action="store_true",
            help="only trusted workers; otherwise all submitted HITs",
        )
        parser.add_argument("out", type=Path, help="a file that ends in .csv or .xml")

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["out"]
        if path.suffix not in WRITERS:
            raise CommandError(f"{path.name} must end in one of {', '.join(WRITERS)}.")
        if path.exists():
            raise CommandError(f"{path.name} exists already.")
        campaign, trusted_only = campaign_named(options["campaign"]), options["trusted"]
        n_rows = WRITERS[path.suffix](campaign, path, trusted_only=trusted_only)
        what = "pairs" if path.suffix == ".csv" else "tasks"
        whom = "trusted workers" if trusted_only else "everyone who submitted them, trusted or not"
        self.stdout.write(f"Wrote {n_rows:,} {what} by {whom} to {path}.")
