"""Import what workers did at Mechanical Turk."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from da_platform.exceptions import PlatformError
from hits.batches import import_results
from hits.management.base import campaign_named


class Command(BaseCommand):
    help = "Import the results of Mechanical Turk batches for a campaign's own HITs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="its name")
        parser.add_argument("paths", type=Path, nargs="+", metavar="file", help="result files")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            summary = import_results(campaign=campaign, paths=options["paths"])
        except PlatformError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{summary.n_assignments} assignments with {summary.n_ratings} ratings by "
            f"{summary.n_workers} workers stored; {summary.n_known} were already stored."
        )
