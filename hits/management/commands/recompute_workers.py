import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from hits.exceptions import RecomputingRefused
from hits.management.base import campaign_named, progress_bar
from hits.workers.recomputing import RecomputingSummary, recompute_workers


class Command(BaseCommand):
    help = (
        "Judge every worker of a campaign again, from the stored ratings alone: after thresholds have "
        "changed, or to check that nothing has. Decisions by people stay. It is safe to run twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        with progress_bar(unit="workers", total=campaign.participations.count()) as advance:
            try:
                summary = recompute_workers(
                    campaign=campaign, progress=lambda done, total: advance(1 if done else 0)
                )
            except RecomputingRefused as refusal:
                raise CommandError(str(refusal)) from refusal
        if options["json"]:
            self.stdout.write(json.dumps({"campaign": campaign.name, **asdict(summary)}))
        else:
            self._report(summary)
        if summary.n_failed:
            raise CommandError(
                f"{summary.n_failed} worker{'' if summary.n_failed == 1 else 's'} could not be judged; "
                "the log says who and why."
            )

    def _report(self, summary: RecomputingSummary) -> None:
        self.stdout.write(
            f"{summary.n_workers - summary.n_failed} workers judged again: evidence changed for "
            f"{summary.n_evidence_changed}, trust for {summary.n_trust_changed}. "
            f"{summary.n_hits_settled} HITs offered the wrong number of places."
        )
