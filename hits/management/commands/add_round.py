import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from da_platform.exceptions import PlatformError
from hits.management.base import campaign_named, progress_bar
from hits.ranking.rounds import add_round


class Command(BaseCommand):
    help = (
        "Add HITs to a ranking campaign for pairs of systems that lack judgements, or that cannot be told "
        "apart yet. Adds nothing if there are none, so it can be repeated."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument("--hits", type=int, metavar="N", help="at most N HITs")
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["hits"] is not None and options["hits"] < 1:
            raise CommandError("--hits must be at least 1.")
        try:
            with progress_bar(unit="items") as progress:
                summary = add_round(
                    campaign=campaign_named(options["campaign"]),
                    n_hits=options["hits"],
                    progress=progress,
                )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(asdict(summary)))
            return
        self.stdout.write(
            f"Added {summary.n_hits:,} HITs for {summary.n_pairs:,} pairs of systems that lacked judgements; "
            f"{summary.n_undecided:,} pairs cannot be told apart yet, and {summary.n_given_up:,} were given up."
        )
