"""Rate outputs against references of their own, and bring the gold back."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.post_editions.own_references import bring_back_newest_gold, rate_against
from da_platform.exceptions import PlatformError
from hits.management.base import campaign_named
from hits.models import Campaign


class Command(BaseCommand):
    help = (
        "Create a campaign that rates each output of a campaign against its own reference, such as a post-edition made "
        "from the source. Once it has gold, --gold stores that as gold of the first campaign."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the name of the campaign whose outputs are rated")
        parser.add_argument("--name", required=True, help="the name of the new campaign")
        step = parser.add_mutually_exclusive_group(required=True)
        step.add_argument(
            "--references",
            type=Path,
            metavar="FILE",
            help="create it: a table with the columns system, segment and reference (or post_edition)",
        )
        step.add_argument(
            "--post-editions-of",
            metavar="CAMPAIGN",
            help="create it, with the post-editions that trusted editors made in this campaign",
        )
        parser.add_argument(
            "--even-from-reference",
            action="store_true",
            help="with --post-editions-of: also post-editions whose editors saw the reference, which cannot show reference bias",
        )
        step.add_argument(
            "--gold", action="store_true", help="store its newest gold as gold of the campaign"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            if options["gold"]:
                self._bring_back(campaign, campaign_named(options["name"]))
                return
            edited_in = options["post_editions_of"]
            rated = rate_against(
                campaign=campaign,
                references=options["references"],
                post_editions_of=campaign_named(edited_in) if edited_in else None,
                even_from_reference=options["even_from_reference"],
                name=options["name"],
            )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Created {rated.campaign}: {rated.n_outputs:,} outputs, each with its own reference."
        )

    def _bring_back(self, campaign: Campaign, rated: Campaign) -> None:
        gold = bring_back_newest_gold(rated=rated, campaign=campaign)
        self.stdout.write(f"Stored gold {gold.name} of {campaign}: {gold.n_scores:,} scores.")
