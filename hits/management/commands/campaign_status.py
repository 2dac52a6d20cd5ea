import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from hits.campaigns.costs import USUAL_FEE, fee_of
from hits.campaigns.statuses import CampaignStatus, campaign_status, campaign_statuses
from hits.management.base import campaign_named
from hits.models import Campaign
from hits.rating.places import Forecast, forecast


class Command(BaseCommand):
    help = "Show the state of a campaign, or of all campaigns."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", nargs="?", help="the campaign's name")
        parser.add_argument("--json", action="store_true", help="print JSON, one object per line")

    def handle(self, *args: Any, **options: Any) -> None:
        show = _as_json if options["json"] else _as_text
        if options["campaign"]:
            campaign = campaign_named(options["campaign"])
            self.stdout.write(show(campaign_status(campaign), forecast(campaign)))
            return
        statuses = campaign_statuses(Campaign.objects.order_by("name"))
        for status in statuses:
            self.stdout.write(show(status, None))
        if not statuses and not options["json"]:
            self.stdout.write("There are no campaigns yet. Create one with import_campaign.")


def _as_json(status: CampaignStatus, future: Forecast | None) -> str:
    facts = asdict(status)
    if future:
        facts["forecast"] = asdict(future) | {
            "n_expected": future.n_expected,
            "expected_cost": future.expected_cost,
            "total_cost": future.total_cost,
            "done_at": future.done_at,
            "is_stopped_by_cap": future.is_stopped_by_cap,
        }
    return json.dumps(facts, default=str)


def _as_text(status: CampaignStatus, future: Forecast | None) -> str:
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
            f"{status.n_counting} of {status.n_wanted} assignments trusted ({status.share_done:.0%}), "
            f"{status.n_places_left} places free",
        ),
        ("Ratings", f"{status.n_ratings} by {status.n_workers} workers"),
    ]
    if future:
        lines += _outlook(future)
    body = "\n".join(f"  {title:<12} {text}" for title, text in lines)
    return f"{status.name} ({status.status})\n{body}"


def _hits(status: CampaignStatus) -> str:
    if not status.n_hits:
        return "none yet; build them with build_hits"
    return f"{status.n_hits} of {status.hit_size} items"


def _outlook(future: Forecast) -> list[tuple[str, str]]:
    measured = (
        "so far" if future.is_pass_rate_measured else "assumed: no worker has been judged yet"
    )
    lines = [
        (
            "Trust",
            f"{future.n_counting} of {future.n_wanted} assignments trusted, "
            f"{future.n_unproven} unproven, {future.n_discarded} discarded",
        ),
        (
            "Missing",
            f"{future.n_missing} assignments; about {future.n_expected} more to collect "
            f"at a pass rate of {future.pass_percent}% ({measured})",
        ),
        (
            "Cost",
            f"{future.spent} {future.currency} so far, "
            f"about {future.expected_cost} {future.currency} more for workers, "
            f"{future.expected_cost + fee_of(future.expected_cost)} with a fee of {USUAL_FEE} %; "
            f"in all {future.total_cost + fee_of(future.total_cost)} {future.currency} with that fee",
        ),
        ("Done", _when(future)),
    ]
    if future.is_stopped_by_cap:
        lines.append(("Stopped", f"the spending cap of {future.spending_cap} is reached"))
    return lines


def _when(future: Forecast) -> str:
    if future.is_complete:
        return "complete"
    if future.done_at is None:
        return "unknown: nothing was submitted in the last day"
    return f"about {future.done_at:%d %B %Y %H:%M} UTC at {future.per_day:.0f} assignments a day"
