"""Write a campaign's HITs or results in the columns of Mechanical Turk's batches."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from da_platform.exceptions import PlatformError
from hits.batches import export_batch
from hits.management.base import campaign_named


class Command(BaseCommand):
    help = "Write a campaign's HITs or submitted results in the columns of published batches."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="its name")
        parser.add_argument("path", type=Path, metavar="file", help="the CSV file to write")
        parser.add_argument(
            "--results", action="store_true", help="one row per assignment, with its scores"
        )
        parser.add_argument("--real-ids", action="store_true", help="with the workers' real ids")
        parser.add_argument("--force", action="store_true", help="replace an existing file")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            n_rows = export_batch(
                campaign=campaign_named(options["campaign"]),
                path=options["path"],
                with_results=options["results"],
                real_ids=options["real_ids"],
                force=options["force"],
            )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{n_rows} rows written to {options['path']}.")
