import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.gold.agreement import N_STAGES, ReplicateRefused, measure_agreement
from analysis.gold.report import enough_ratings
from analysis.post_editions.agreement import in_words
from analysis.post_editions.collected import agreement_of_editors
from hits.management.base import campaign_named, progress_bar
from hits.models import Campaign


class Command(BaseCommand):
    help = (
        "Measure how well a campaign's trusted workers agree and how many ratings are enough, and report "
        "ratings per translation, time per HIT and pay per hour. For post-editing: the HTER of one editor against another."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--replicate",
            metavar="CAMPAIGN",
            help="a campaign with other ratings of the same translations, to compare with (default: "
            "compare halves of the ratings)",
        )
        parser.add_argument("--json", action="store_true", help="print the results as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        if campaign.task == Campaign.Task.EDIT:
            self._between_editors(campaign, options)
            return
        replicate = campaign_named(options["replicate"]) if options["replicate"] else None
        try:
            with progress_bar(unit="stages", total=N_STAGES) as advance:
                agreement = measure_agreement(
                    campaign, replicate=replicate, progress=lambda done, total: advance(1)
                )
        except ReplicateRefused as refusal:
            raise CommandError(str(refusal)) from None
        facts = agreement.as_json()
        if options["json"]:
            self.stdout.write(json.dumps({"campaign": campaign.name, **facts}))
            return
        lines = [*enough_ratings(facts), *_table(facts["curve"]), *_values(facts["value"])]
        self.stdout.write("\n".join(lines))

    def _between_editors(self, campaign: Campaign, options: dict[str, Any]) -> None:
        if options["replicate"]:
            raise CommandError("--replicate is for ratings, not for post-editions.")
        facts = agreement_of_editors(campaign).as_json()
        if options["json"]:
            self.stdout.write(json.dumps({"campaign": campaign.name, **facts}))
        else:
            self.stdout.write(f"{in_words(facts)}\nSignature: {facts['signature']}")


def _values(value: dict[str, Any] | None) -> list[str]:
    """Return what more ratings of each translation would buy."""
    if value is None:
        return []
    names = ("n_ratings", "reliability", "ceiling", "difference_error", "error_on_segments")
    titles = ("ratings", "reliability", "ceiling", "se of systems", "on segments")
    lines = ["More ratings would buy:", " ".join(f"{title:>13}" for title in titles)]
    for row in value["rows"]:
        cells = ("-" if row[name] is None else f"{row[name]:.3f}" for name in names)
        lines.append(" ".join(f"{cell:>13}" for cell in cells))
    return lines


def _table(curve: dict[str, Any]) -> list[str]:
    """Return r by number of ratings, in random order and in order of time."""
    titles = ("ratings", "translations", "z", "raw", "z by time", "raw by time", "predicted")
    columns = (
        curve["r"],
        *(curve[name]["r"] for name in ("raw", "in_order", "in_order_raw")),
        curve["predicted"],
    )
    lines = [" ".join(f"{title:>12}" for title in titles)]
    for n, n_translations, *numbers in zip(
        curve["sizes"], curve["n_translations"], *columns, strict=True
    ):
        cells = ["-" if number is None else f"{number:.3f}" for number in numbers]
        lines.append(" ".join(f"{cell:>12}" for cell in (n, n_translations, *cells)))
    return [*lines, f"Signature: {curve['signature']}"]
