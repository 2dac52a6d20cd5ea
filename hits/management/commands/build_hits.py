import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from da_platform.exceptions import PlatformError
from hits.campaigns.building import build_hits
from hits.campaigns.lifecycle import change_status
from hits.management.base import campaign_named, progress_bar
from hits.models import Campaign


class Command(BaseCommand):
    help = (
        "Build the HITs of an imported campaign: genuine translations with hidden degraded, repeat "
        "and reference items. The same campaign and seed give the same HITs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--rebuild",
            action="store_true",
            help="replace existing HITs; refused once a worker has taken one",
        )
        parser.add_argument(
            "--open", action="store_true", help="open the campaign to workers afterwards"
        )
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            with progress_bar(unit="items") as progress:
                summary = build_hits(
                    campaign=campaign, rebuild=options["rebuild"], progress=progress
                )
            if options["open"]:
                change_status(campaign=campaign, to=Campaign.Status.OPEN)
        except PlatformError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(asdict(summary) | {"status": campaign.status}))
            return
        self.stdout.write(
            f"{summary.n_hits} HITs of {summary.hit_size} items from "
            f"{summary.n_translations} translations. The campaign is {campaign.status}."
        )
        for note in summary.notes:
            self.stdout.write(f"Note: {note}")
