import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from hits.management.sharing import campaign_named
from hits.models import Campaign
from hits.reporting import CampaignStatus, campaign_statuses


class Command(BaseCommand):
    help = "Say where a campaign stands, or all of them when none is named."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", nargs="?", help="the campaign's name")
        parser.add_argument("--json", action="store_true", help="print JSON: an object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["campaign"]:
            campaigns = [campaign_named(options["campaign"])]
        else:
            campaigns = list(Campaign.objects.order_by("name"))
        for status in campaign_statuses(campaigns):
            self.stdout.write(
                json.dumps(asdict(status), default=str) if options["json"] else _page(status)
            )
        if not campaigns and not options["json"]:
            self.stdout.write("There are no campaigns yet. import_campaign makes one.")


def _page(status: CampaignStatus) -> str:
    lines = [
        ("Languages", f"{status.source_language} to {status.target_language}"),
        ("Task", f"{status.task_label}, seed {status.seed}"),
        (
            "Texts",
            f"{status.n_systems} systems, {status.n_segments} segments, "
            f"{status.n_translations} different translations",
        ),
        ("HITs", _hits(status)),
        (
            "Assignments",
            f"{status.n_submitted} submitted, {status.n_in_progress} in progress, "
            f"{status.n_expired} expired, {status.n_returned} returned",
        ),
        (
            "Progress",
            f"{status.n_submitted} of {status.n_places} places done ({status.share_submitted:.0%}), "
            f"{status.n_places_left} free",
        ),
        ("Ratings", f"{status.n_ratings} by {status.n_workers} workers"),
    ]
    body = "\n".join(f"  {title:<12} {text}" for title, text in lines)
    return f"{status.name} ({status.status})\n{body}"


def _hits(status: CampaignStatus) -> str:
    if not status.n_hits:
        return "none yet: build_hits makes them"
    return f"{status.n_hits} of {status.hit_size} items"
