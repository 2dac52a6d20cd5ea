import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from analysis.metrics import METRIC_NAMES
from analysis.metrics.computing import compute_metrics
from analysis.models import Metric
from analysis.scores.score_tables import LEVELS
from analysis.scores.storing import stored_tables
from da_platform.exceptions import PlatformError
from hits.management.base import campaign_named


class Command(BaseCommand):
    help = (
        "Compute and store metrics of a campaign's outputs at segment and system level. "
        "Scores already computed are not computed again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument(
            "--metrics",
            nargs="+",
            choices=METRIC_NAMES,
            default=list(METRIC_NAMES),
            help="metrics to compute (default: all)",
        )
        parser.add_argument(
            "--post-editions",
            type=Path,
            metavar="FILE",
            help="post-editions to use instead of the references: a table with the columns system, segment and post_edition",
        )
        parser.add_argument(
            "--tokenise",
            metavar="NAME",
            choices=["none", "13a", "intl", "zh", "char"],
            help="tokeniser: none, 13a, intl, zh or char (default: by language)",
        )
        parser.add_argument("--json", action="store_true", help="print the system scores as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            with tqdm(desc="texts", disable=None, leave=False) as bar:

                def move(n_done: int, n_total: int) -> None:
                    bar.total = n_total
                    bar.update(n_done - bar.n)

                metrics = compute_metrics(
                    campaign=campaign,
                    names=options["metrics"],
                    levels=LEVELS,
                    post_editions=options["post_editions"],
                    tokenise=options["tokenise"],
                    progress=move,
                )
        except PlatformError as error:
            raise CommandError(str(error)) from error
        facts = _facts([metric for metric in metrics if metric.level == Metric.Level.SYSTEM])
        self.stdout.write(
            json.dumps(facts, ensure_ascii=False) if options["json"] else _page(facts)
        )


def _facts(metrics: list[Metric]) -> list[dict[str, Any]]:
    return [
        {
            "metric": table.name,
            "higher_is_better": table.higher_is_better,
            "signature": table.signature,
            "systems": {
                system: score
                for (system, _), score in zip(table.keys, table.scores.tolist(), strict=True)
            },
        }
        for table in stored_tables(metrics)
    ]


def _page(facts: list[dict[str, Any]]) -> str:
    lines = []
    for fact in facts:
        way = "higher" if fact["higher_is_better"] else "lower"
        lines.append(f"{fact['metric']} ({way} is better)  {fact['signature']}")
        lines += [f"  {score:10.4f}  {system}" for system, score in fact["systems"].items()]
    return "\n".join(lines)
