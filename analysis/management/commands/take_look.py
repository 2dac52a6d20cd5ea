import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.gold.looks import look_summary, take_look
from da_platform.exceptions import PlatformError
from hits.management.base import campaign_named
from hits.models import Look


class Command(BaseCommand):
    help = (
        "Take a look at a campaign that stops when it is decided: test all pairs of systems, and "
        "add HITs for those that need more ratings, or stop. Refused until all work on the "
        "current part is done."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            look = take_look(campaign=campaign_named(options["campaign"]))
        except PlatformError as error:
            raise CommandError(str(error)) from error
        summary = look_summary(look)
        if options["json"]:
            self.stdout.write(json.dumps(summary))
            return
        if summary["n_translations"]:
            self.stdout.write(
                f"Look {look.number}, on {summary['n_assignments']:,} assignments: the scores of "
                f"{summary['n_wide']:,} of {summary['n_translations']:,} translations are still "
                "too uncertain."
            )
        else:
            self._show_pairs(look, summary)
        if look.is_last:
            self.stdout.write("This was the last look: no more places are offered.")
        else:
            what = ", ".join(summary["open_systems"]) or f"{summary['n_wide']:,} translations"
            self.stdout.write(f"Added {summary['n_hits']:,} HITs for {what}.")
        self.stdout.write(summary["signature"])

    def _show_pairs(self, look: Look, summary: dict[str, Any]) -> None:
        n_decided = summary["n_pairs"] - summary["n_undecided"]
        self.stdout.write(
            f"Look {look.number}, on {summary['n_assignments']:,} assignments: {n_decided:,} of "
            f"{summary['n_pairs']:,} pairs of systems are decided."
        )
        for pair in look.result["pairs"]:
            self.stdout.write(
                f"  {pair['system']} - {pair['other']}: {_shown(pair['difference'])} "
                f"[{_shown(pair['low'])}, {_shown(pair['high'])}], p = {pair['p']:.3g}, {pair['state']}"
            )


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:+.3f}"
