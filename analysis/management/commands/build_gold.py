import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.gold.all_segments import HelperRefused
from analysis.gold.counted_ratings import WeightsRefused
from analysis.gold.named_workers import WorkersRefused, keys_of, read_worker_file
from analysis.gold.report import helped
from analysis.gold.runs import N_STAGES, build_gold
from analysis.models import GoldRun
from hits.management.base import campaign_named, progress_bar
from hits.workers.trust import weigh_pending

FACTS = (
    "number",
    "method",
    "minimum",
    "test",
    "n_named_workers",
    "helper",
    "n_workers",
    "n_workers_trusted",
    "n_ratings",
    "n_scored",
    "n_incomplete",
    "input_digest",
    "signature",
)


class Command(BaseCommand):
    help = (
        "Compute a campaign's gold, the mean score of each translation over trusted workers, and store "
        "it as a numbered run. The same ratings give the same scores."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--method",
            choices=GoldRun.Method.values,
            default=GoldRun.Method.PER_WORKER.value,
            help="per_worker: average each worker's repeats first (default); pooled: count every rating; "
            "weighted: weigh workers by what their hidden items show",
        )
        parser.add_argument(
            "--minimum",
            type=int,
            metavar="N",
            help="ratings needed for a complete score (default: the campaign's setting)",
        )
        parser.add_argument(
            "--test",
            choices=GoldRun.Test.values,
            default=GoldRun.Test.TWO_WAY.value,
            help="how systems are compared: two_way, over segments and workers (default); paired, signed "
            "ranks by segment; published, Mann-Whitney U as at WMT",
        )
        parser.add_argument(
            "--workers",
            type=Path,
            metavar="FILE",
            help="count only these workers, if they are trusted: an id or a pseudonym from an export "
            "on each line",
        )
        parser.add_argument(
            "--helper",
            metavar="METRIC",
            help="a metric with scores for all outputs, to score systems on all segments if only some "
            "were rated",
        )
        parser.add_argument("--json", action="store_true", help="print the run as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        if options["minimum"] is not None and options["minimum"] < 1:
            raise CommandError("--minimum must be at least 1.")
        workers = None
        if options["workers"] is not None:
            try:
                names = read_worker_file(campaign, options["workers"])
            except WorkersRefused as refusal:
                raise CommandError(str(refusal)) from None
            workers = keys_of(campaign, names)
        while weigh_pending():
            # Include assignments submitted just now.
            pass
        with progress_bar(unit="stages", total=N_STAGES) as advance:
            try:
                run = build_gold(
                    campaign=campaign,
                    method=options["method"],
                    minimum=options["minimum"],
                    test=options["test"],
                    workers=workers,
                    helper=options["helper"],
                    progress=lambda done, total: advance(1),
                )
            except (HelperRefused, WeightsRefused) as refusal:
                raise CommandError(str(refusal)) from None
        if options["json"]:
            facts = {name: getattr(run, name) for name in FACTS}
            self.stdout.write(json.dumps({"campaign": campaign.name, **facts}))
            return
        self.stdout.write(_page(run))


def _named(run: GoldRun) -> str:
    return "" if run.n_named_workers is None else f", {run.n_named_workers} of whom were named"


def _who(run: GoldRun) -> str:
    return "weighed" if run.method == GoldRun.Method.WEIGHTED else "trusted"


def _page(run: GoldRun) -> str:
    n_translations = run.n_scored + run.n_incomplete
    lines = [
        f"Gold {run.number} of {run.campaign}: {run.n_scored} of {n_translations} translations "
        f"have the {run.minimum} ratings they need.",
        f"It is based on {run.n_ratings} ratings by {run.n_workers_trusted} {_who(run)} workers "
        f"out of {run.n_workers}{_named(run)}.",
        *helped(run.helper),
        f"Signature: {run.signature}",
    ]
    return "\n".join(lines)
