"""Have post-editions checked by other workers."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from da_platform.exceptions import PlatformError
from hits.management.base import campaign_named
from hits.models import Campaign
from hits.post_editing.checking import check_post_editions


class Command(BaseCommand):
    help = (
        "Create a campaign in which other workers, native speakers, check the post-editions of a campaign and may correct "
        "them. Nobody gets a HIT with a text of their own. Post-editions that are in a check already are left out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the name of the campaign with post-editions")
        parser.add_argument("--name", required=True, help="the name of the new campaign")
        parser.add_argument(
            "--shows",
            choices=Campaign.Shows.values,
            default=Campaign.Shows.NOTHING,
            help="what checkers see next to a text (default: nothing)",
        )
        parser.add_argument(
            "--ask-nobody",
            action="store_true",
            help="do not ask checkers for their native language; by default, only native speakers get a HIT",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            check = check_post_editions(
                campaign=campaign_named(options["campaign"]),
                name=options["name"],
                shows=options["shows"],
                asks_native=not options["ask_nobody"],
            )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Created {check.campaign}: {check.in_words}")
